#include "runtime/device/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

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

// Some 0.6 milliseconds: longer than most kernels that one thread computes alone. A worker that sleeps through one
// comes late to the next kernel, and waking it costs the caller several microseconds.
constexpr uint32_t kSpinsBeforeSleep = 20000;
// About 50 microseconds: after these others may need the CPU more.
constexpr uint32_t kPoliteSpins = 2000;
constexpr uint32_t kSpinsBeforeYield = 64;

// Gives the CPU away now and then: at once if there are more threads than CPUs, where the thread that is waited for may
// need it.
void relax_or_yield(uint32_t spins, bool oversubscribed) {
  relax();
  if ((oversubscribed || spins > kPoliteSpins) && spins % kSpinsBeforeYield == 0) sched_yield();
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
  std::atomic<pid_t> thread_id{0};  // 0 until it has begun
  int kept_off_cpu = -1;            // -1: none
  uint32_t index = 0;
  ThreadPool* pool = nullptr;
  pthread_t thread;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

  void keep_off(int cpu);
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
  const int cpu = sched_getcpu();
  for (uint32_t i = 1; i < count; ++i) {
    if (workers_[i - 1]->kept_off_cpu != cpu) workers_[i - 1]->keep_off(cpu);
    post(*workers_[i - 1], &job);
  }
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

// On the caller's CPU a worker takes the caller's place instead of helping. Schedulers wake it there although other
// CPUs are idle (in a virtual machine an idle CPU looks like one that is taken away), and on a busy machine they may
// move the caller to the worker. All else about where threads run is left to them; so is all, if only this CPU is
// allowed.
void ThreadPool::Worker::keep_off(int cpu) {
  const pid_t thread = thread_id.load(std::memory_order_acquire);
  cpu_set_t allowed, callers;
  if (cpu < 0 || cpu >= CPU_SETSIZE || thread == 0 || sched_getaffinity(thread, sizeof(allowed), &allowed) != 0 ||
      sched_getaffinity(0, sizeof(callers), &callers) != 0)
    return;
  // What it was kept off before is allowed again, unless the process has been moved elsewhere meanwhile.
  const int before = kept_off_cpu;
  if (before >= 0 && CPU_ISSET(before, &callers)) CPU_SET(before, &allowed);
  kept_off_cpu = cpu;
  CPU_CLR(cpu, &allowed);
  if (CPU_COUNT(&allowed) != 0) sched_setaffinity(thread, sizeof(allowed), &allowed);
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
    for (uint32_t spins = 1; spins < kSpinsBeforeSleep && pool.in_run_.load(std::memory_order_relaxed); ++spins) {
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
  worker.thread_id.store(static_cast<pid_t>(syscall(SYS_gettid)), std::memory_order_release);
  while (Job* job = wait_for_job(worker)) {
    if (!take(worker, job)) continue;
    job->body(job->context, worker.index);
    job->pending.fetch_sub(1, std::memory_order_release);
  }
  return nullptr;
}

}  // namespace ferrule::runtime
