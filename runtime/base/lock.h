// Locks between threads; nothing at all where there is one (FERRULE_BARE_METAL).
#ifndef FERRULE_RUNTIME_BASE_LOCK_H_
#define FERRULE_RUNTIME_BASE_LOCK_H_

#ifndef FERRULE_BARE_METAL
#include <pthread.h>
#endif

namespace ferrule::runtime {

#ifdef FERRULE_BARE_METAL

class Mutex {
 public:
  void lock() {}
  void unlock() {}
};

class SharedLock {
 public:
  void lock(bool) {}
  bool try_lock(bool) { return true; }
  void unlock() {}
};

#else

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  ~Mutex() { pthread_mutex_destroy(&mutex_); }
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

// Many readers or one writer.
class SharedLock {
 public:
  SharedLock() = default;
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;
  ~SharedLock() { pthread_rwlock_destroy(&lock_); }
  void lock(bool exclusive) {
    if (exclusive)
      pthread_rwlock_wrlock(&lock_);
    else
      pthread_rwlock_rdlock(&lock_);
  }
  // False instead of waiting.
  bool try_lock(bool exclusive) {
    return (exclusive ? pthread_rwlock_trywrlock(&lock_) : pthread_rwlock_tryrdlock(&lock_)) == 0;
  }
  void unlock() { pthread_rwlock_unlock(&lock_); }

 private:
  pthread_rwlock_t lock_ = PTHREAD_RWLOCK_INITIALIZER;
};

#endif

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_BASE_LOCK_H_
