#include "runtime/device/cpu/thread_pool.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/device/cpu/floating_point.h"
#include "runtime/testing/floating_point_state.h"
#include "runtime/testing/process_threads.h"

namespace ferrule::runtime {
namespace {

TEST_CASE("every index runs exactly once, over many jobs and thread counts") {
  for (uint32_t threads : {2u, 3u, 8u}) {
    ThreadPool* pool = ThreadPool::acquire(threads);
    REQUIRE(pool != nullptr);
    CHECK(pool->worker_count() == threads - 1);
    REQUIRE(pool->begin_run());
    std::vector<std::atomic<uint32_t>> hits(threads);
    constexpr uint32_t kJobs = 2000;
    for (uint32_t job = 0; job < kJobs; ++job)
      pool->parallel_for(
          threads, [](void* context, uint32_t i) { (*static_cast<decltype(hits)*>(context))[i].fetch_add(1); }, &hits);
    pool->end_run();
    for (auto& hit : hits) CHECK(hit.load() == kJobs);
    ThreadPool::release(pool);
  }
}

TEST_CASE("the caller does itself what a sleeping worker has not begun") {
  ThreadPool* pool = ThreadPool::acquire(3);
  REQUIRE(pool != nullptr);
  struct Counts {
    pthread_t caller;
    std::atomic<uint32_t> hits[3] = {}, taken_back{0};
  } counts;
  counts.caller = pthread_self();
  constexpr uint32_t kRuns = 300;
  for (uint32_t run = 0; run < kRuns; ++run) {
    usleep(100);  // Between runs nobody spins.
    REQUIRE(pool->begin_run());
    for (int job = 0; job < 2; ++job)
      pool->parallel_for(
          3,
          [](void* context, uint32_t i) {
            auto& c = *static_cast<Counts*>(context);
            c.hits[i].fetch_add(1);
            if (i != 0 && pthread_equal(pthread_self(), c.caller)) c.taken_back.fetch_add(1);
          },
          &counts);
    pool->end_run();
  }
  for (auto& hit : counts.hits) CHECK(hit.load() == 2 * kRuns);
  CHECK(counts.taken_back.load() > 0);
  ThreadPool::release(pool);
}

TEST_CASE("sessions share one pool, and the last share ends its threads") {
  const int without = testing::process_thread_count();  // 1, where no emulator has threads of its own
  ThreadPool* first = ThreadPool::acquire(2);
  ThreadPool* second = ThreadPool::acquire(4);
  CHECK(first == second);
  CHECK(testing::has_threads(without + 3));
  ThreadPool::release(second);
  CHECK(testing::has_threads(without + 3));
  ThreadPool::release(first);
  CHECK(testing::has_threads(without));
}

TEST_CASE("a pool in use refuses a second run instead of waiting") {
  ThreadPool* pool = ThreadPool::acquire(2);
  REQUIRE(pool->begin_run());
  CHECK_FALSE(pool->begin_run());
  pool->end_run();
  CHECK(pool->begin_run());
  pool->end_run();
  ThreadPool::release(pool);
}

TEST_CASE("thread counts outside 2 .. 256 are refused") {
  CHECK(ThreadPool::acquire(0) == nullptr);
  CHECK(ThreadPool::acquire(1) == nullptr);
  CHECK(ThreadPool::acquire(ThreadPool::kMaxThreads + 1) == nullptr);
}

TEST_CASE("a forked child does not wait for the threads of its parent") {
  ThreadPool* pool = ThreadPool::acquire(2);
  const pid_t child = fork();
  if (child == 0) {
    const bool claimed = pool->begin_run();
    ThreadPool::release(pool);
    _exit(claimed ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  ThreadPool::release(pool);
}

TEST_CASE("a floating-point scope keeps denormals and restores the caller's state") {
  const uint64_t before = testing::floating_point_state(), callers = before | testing::kFlushDenormals | testing::kRoundDown;
  testing::set_floating_point_state(callers);
  volatile float tiny = 1e-39f, half = 0.5f;
  const float flushed = tiny * half;
  float kept;
  {
    FloatingPointScope scope;
    kept = tiny * half;
  }
  const uint64_t after = testing::floating_point_state();
  testing::set_floating_point_state(before);
  CHECK(flushed == 0.0f);
  CHECK(kept > 0.0f);
  CHECK(after == callers);
}

}  // namespace
}  // namespace ferrule::runtime
