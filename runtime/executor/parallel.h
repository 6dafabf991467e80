// How a session spreads the tiles of a kernel over threads: alone, with the process's pool, or with one of the caller.
#ifndef FERRULE_RUNTIME_EXECUTOR_PARALLEL_H_
#define FERRULE_RUNTIME_EXECUTOR_PARALLEL_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/device/cpu/thread_pool.h"

namespace ferrule::runtime {

// A pool that the caller lends: parallel_for calls body(body_context, i) once for every i in [0, count), count <=
// thread_count, and returns when all have returned.
struct ThreadPoolInterface {
  void* context;
  uint32_t thread_count;
  void (*parallel_for)(void* context, uint32_t count, ParallelBody body, void* body_context);
};

class Parallel {
 public:
  Parallel() = default;
  ~Parallel() { ThreadPool::release(pool_); }
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;

  // thread_count 0: as many as there are CPUs for this process. `borrowed` may be null. kInvalidArgument for more
  // threads than ThreadPool::kMaxThreads, kOutOfMemory if the system starts no more threads.
  Status initialize(uint32_t thread_count, const ThreadPoolInterface* borrowed);

  uint32_t thread_count() const { return thread_count_; }

  // Around every run. Between the two, width() threads work: one if the pool is busy with another session's run.
  void begin_run();
  void end_run();
  uint32_t width() const { return width_; }
  void run(uint32_t count, ParallelBody body, void* context);

 private:
  uint32_t thread_count_ = 1;
  uint32_t width_ = 1;
  ThreadPool* pool_ = nullptr;
  ThreadPoolInterface borrowed_{};
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_PARALLEL_H_
