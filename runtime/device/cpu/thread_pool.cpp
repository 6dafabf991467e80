#include "runtime/device/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <new>

#include "runtime/base/allocator.h"
#include "runtime/base/fork.h"

namespace ferrule::runtime {
namespace {

// The one pool of the process. The mutex guards the pointer, the shares and growth, never a run.
pthread_mutex_t g_registry_mutex = PTHREAD_MUTEX_INITIALIZER;
ThreadPool* g_pool = nullptr;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// About 50-200 microseconds: longer than the serial gap between two kernels, shorter than a scheduler's time slice.
constexpr uint32_t kSpins = 2000;
constexpr uint32_t kSpinsBeforeYield = 64;

// Gives the CPU away now and then if there are more threads than CPUs, where the thread that is waited for may need it.
void relax_or_yield(uint32_t spins, bool oversubscribed) {
  relax();
  if ((oversubscribed || spins > kSpins) && spins % kSpinsBeforeYield == 0) sched_yield();
}

}  // namespace

uint32_t available_cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : static_cast<uint32_t>(count);
}

// A mailbox on a cache line of its own: the caller stores a job, the worker takes it out, runs it, and reports; or the
// caller takes it back.
struct alignas(64) ThreadPool::Worker {
  std::atomic<Job*> job{nullptr};
  std::atomic<bool> asleep{false};
  std::atomic<bool> stop{false};
  uint32_t index = 0;
  ThreadPool* pool = nullptr;
  pthread_t thread;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
};

ThreadPool* ThreadPool::acquire(uint32_t thread_count) {
  if (thread_count < 2 || thread_count > kMaxThreads || !watch_forks().ok()) return nullptr;
  pthread_mutex_lock(&g_registry_mutex);
  // After a fork the child has the pool's memory but none of its threads: it starts its own.
  if (g_pool == nullptr || !g_pool->has_its_workers()) {
    void* memory = system_allocator().allocate(nullptr, sizeof(ThreadPool), alignof(ThreadPool));
    g_pool = memory == nullptr ? nullptr : new (memory) ThreadPool();
    if (g_pool != nullptr) {
      g_pool->fork_count_ = fork_count();
      g_pool->cpu_count_ = available_cpu_count();
    }
  }
  ThreadPool* pool = g_pool;
  if (pool != nullptr) {
    ++pool->shares_;
    if (!pool->grow(thread_count - 1)) {
      pthread_mutex_unlock(&g_registry_mutex);
      release(pool);
      return nullptr;
    }
  }
  pthread_mutex_unlock(&g_registry_mutex);
  return pool;
}

void ThreadPool::release(ThreadPool* pool) {
  if (pool == nullptr) return;
  pthread_mutex_lock(&g_registry_mutex);
  if (--pool->shares_ == 0) {
    if (pool->has_its_workers()) pool->stop_workers();
    if (g_pool == pool) g_pool = nullptr;
    pool->~ThreadPool();
    system_allocator().deallocate(nullptr, pool, sizeof(ThreadPool));
  }
  pthread_mutex_unlock(&g_registry_mutex);
}

bool ThreadPool::grow(uint32_t worker_count) {
  // Signals belong to the threads of the application.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  bool ok = true;
  while (ok && this->worker_count() < worker_count) {
    const uint32_t index = this->worker_count();
    void* memory = system_allocator().allocate(nullptr, sizeof(Worker), alignof(Worker));
    if (memory == nullptr) {
      ok = false;
      break;
    }
    auto* worker = new (memory) Worker();
    worker->index = index + 1;
    worker->pool = this;
    if (pthread_create(&worker->thread, nullptr, worker_main, worker) != 0) {
      worker->~Worker();
      system_allocator().deallocate(nullptr, worker, sizeof(Worker));
      ok = false;
      break;
    }
    workers_[index] = worker;
    worker_count_.store(index + 1, std::memory_order_release);
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  return ok;
}

void ThreadPool::stop_workers() {
  const uint32_t count = worker_count();
  for (uint32_t i = 0; i < count; ++i) {
    workers_[i]->stop.store(true);
    wake_up(*workers_[i]);
  }
  for (uint32_t i = 0; i < count; ++i) {
    Worker* worker = workers_[i];
    pthread_join(worker->thread, nullptr);
    pthread_cond_destroy(&worker->wake);
    pthread_mutex_destroy(&worker->mutex);
    worker->~Worker();
    system_allocator().deallocate(nullptr, worker, sizeof(Worker));
  }
}

bool ThreadPool::has_its_workers() const { return fork_count_ == fork_count(); }

bool ThreadPool::begin_run() { return has_its_workers() && !in_run_.exchange(true); }

void ThreadPool::end_run() { in_run_.store(false); }

void ThreadPool::parallel_for(uint32_t count, ParallelBody body, void* context) {
  if (count == 0) return;
  Job job{body, context, {count - 1}};
  for (uint32_t i = 1; i < count; ++i) post(*workers_[i - 1], &job);
  body(context, 0);
  for (uint32_t i = 1; i < count; ++i) {
    if (!take(*workers_[i - 1], &job)) continue;
    body(context, i);
    job.pending.fetch_sub(1, std::memory_order_relaxed);
  }
  const bool oversubscribed = count > cpu_count_;
  for (uint32_t spins = 1; job.pending.load(std::memory_order_acquire) != 0; ++spins)
    relax_or_yield(spins, oversubscribed);
}

// Sequentially consistent on both sides: either the worker sees the job before it sleeps, or the caller sees it asleep.
void ThreadPool::post(Worker& worker, Job* job) {
  worker.job.store(job);
  if (worker.asleep.load()) wake_up(worker);
}

bool ThreadPool::take(Worker& worker, Job* job) { return worker.job.compare_exchange_strong(job, nullptr); }

void ThreadPool::wake_up(Worker& worker) {
  pthread_mutex_lock(&worker.mutex);
  pthread_cond_signal(&worker.wake);
  pthread_mutex_unlock(&worker.mutex);
}

ThreadPool::Job* ThreadPool::wait_for_job(Worker& worker) {
  const ThreadPool& pool = *worker.pool;
  const bool oversubscribed = pool.cpu_count_ <= worker.index;
  while (true) {
    for (uint32_t spins = 1; spins < kSpins && pool.in_run_.load(std::memory_order_relaxed); ++spins) {
      if (Job* job = worker.job.load(std::memory_order_acquire)) return job;
      relax_or_yield(spins, oversubscribed);
    }
    pthread_mutex_lock(&worker.mutex);
    worker.asleep.store(true);
    if (worker.job.load() == nullptr && !worker.stop.load()) pthread_cond_wait(&worker.wake, &worker.mutex);
    worker.asleep.store(false);
    Job* job = worker.job.load();
    const bool stops = worker.stop.load();
    pthread_mutex_unlock(&worker.mutex);
    // Woken without a job: the caller has taken it back, and the run's next one will come soon.
    if (job != nullptr || stops) return job;
  }
}

void* ThreadPool::worker_main(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  while (Job* job = wait_for_job(worker)) {
    if (!take(worker, job)) continue;
    job->body(job->context, worker.index);
    job->pending.fetch_sub(1, std::memory_order_release);
  }
  return nullptr;
}

}  // namespace ferrule::runtime
