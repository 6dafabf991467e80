#include "runtime/executor/parallel.h"

namespace ferrule::runtime {

Status Parallel::initialize(uint32_t thread_count, const ThreadPoolInterface* borrowed) {
  if (borrowed != nullptr) {
    if (borrowed->thread_count == 0 || borrowed->thread_count > ThreadPool::kMaxThreads)
      return Status::error(StatusCode::kInvalidArgument, "the caller's thread pool has %u threads; allowed are 1 to %u",
                           borrowed->thread_count, ThreadPool::kMaxThreads);
    if (borrowed->parallel_for == nullptr)
      return Status::error(StatusCode::kInvalidArgument, "the caller's thread pool has no parallel_for function");
    borrowed_ = *borrowed;
    thread_count_ = borrowed->thread_count;
    return Status();
  }
  if (thread_count == 0) {
    thread_count = available_cpu_count();
    if (thread_count > ThreadPool::kMaxThreads) thread_count = ThreadPool::kMaxThreads;
  }
  if (thread_count > ThreadPool::kMaxThreads)
    return Status::error(StatusCode::kInvalidArgument, "%u threads were asked for; allowed are 1 to %u", thread_count,
                         ThreadPool::kMaxThreads);
  if (thread_count > 1) {
    pool_ = ThreadPool::acquire(thread_count);
    if (pool_ == nullptr)
      return Status::error(StatusCode::kOutOfMemory, "the system starts no %u threads for the session", thread_count);
  }
  thread_count_ = thread_count;
  return Status();
}

void Parallel::begin_run() {
  const bool claimed = borrowed_.parallel_for != nullptr || (pool_ != nullptr && pool_->begin_run());
  width_ = claimed ? thread_count_ : 1;
}

void Parallel::end_run() {
  if (pool_ != nullptr && width_ > 1) pool_->end_run();
  width_ = 1;
}

void Parallel::run(uint32_t count, ParallelBody body, void* context) {
  if (count == 1)
    body(context, 0);
  else if (borrowed_.parallel_for != nullptr)
    borrowed_.parallel_for(borrowed_.context, count, body, context);
  else
    pool_->parallel_for(count, body, context);
}

}  // namespace ferrule::runtime
