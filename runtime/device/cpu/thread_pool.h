// The runtime's own fork-join pool: one for all sessions of the process, made of pthreads.
//
// A session with N threads holds a share of the pool, which then has at least N - 1 workers (the caller of a run is the
// N-th thread). Sessions with one thread hold no share: a process that only ever asks for one thread has exactly one.
// Workers spin for their next job only inside a run, and sleep between runs.
#ifndef FERRULE_RUNTIME_DEVICE_CPU_THREAD_POOL_H_
#define FERRULE_RUNTIME_DEVICE_CPU_THREAD_POOL_H_

#include <stdint.h>

#include <atomic>

namespace ferrule::runtime {

// Called once for every index of a parallel_for.
using ParallelBody = void (*)(void* context, uint32_t index);

class ThreadPool {
 public:
  static constexpr uint32_t kMaxThreads = 256;

  // A share of the process's pool with room for `thread_count` threads (2 .. kMaxThreads), or null if the system has no
  // memory or no more threads. Every share is given back with `release`; the last one ends the workers.
  static ThreadPool* acquire(uint32_t thread_count);
  static void release(ThreadPool* pool);

  // Claims the pool for one run. False: another run has it (or this process is a fork of the pool's owner), and the
  // caller does its work alone: waiting would gain nothing, the machine is busy.
  bool begin_run();
  void end_run();

  // Between begin_run and end_run: body(context, i) for i in [0, count), index 0 on the calling thread, the others on
  // one worker each, or on the calling thread too if that comes back first: a worker that sleeps takes longer to wake
  // than many a kernel takes. Returns when all have returned. `count` is at most the thread count that was acquired.
  void parallel_for(uint32_t count, ParallelBody body, void* context);

  uint32_t worker_count() const { return worker_count_.load(std::memory_order_acquire); }

 private:
  // Lives on the stack of parallel_for; workers must not touch it after they have decremented `pending`.
  struct Job {
    ParallelBody body;
    void* context;
    std::atomic<uint32_t> pending;
  };

  struct Worker;

  bool grow(uint32_t worker_count);
  bool has_its_workers() const;
  void stop_workers();
  void post(Worker& worker, Job* job);
  // Whether `job` was still in the mailbox; the one who took it out runs it.
  static bool take(Worker& worker, Job* job);
  static void wake_up(Worker& worker);
  static void* worker_main(void* worker);
  static Job* wait_for_job(Worker& worker);

  std::atomic<bool> in_run_{false};
  std::atomic<uint32_t> worker_count_{0};
  Worker* workers_[kMaxThreads] = {};
  uint32_t shares_ = 0;  // guarded by the registry's mutex
  uint32_t fork_count_ = 0;  // of the process that has the workers
  uint32_t cpu_count_ = 1;
};

// How many CPUs this process may use: at least 1.
uint32_t available_cpu_count();

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_DEVICE_CPU_THREAD_POOL_H_
