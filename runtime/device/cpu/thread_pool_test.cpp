#include "runtime/device/cpu/thread_pool.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/device/cpu/floating_point.h"

namespace ferrule::runtime {
namespace {

int process_thread_count() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  return -1;
}

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
  CHECK(process_thread_count() == 1);
  ThreadPool* first = ThreadPool::acquire(2);
  ThreadPool* second = ThreadPool::acquire(4);
  CHECK(first == second);
  CHECK(process_thread_count() == 4);
  ThreadPool::release(second);
  CHECK(process_thread_count() == 4);
  ThreadPool::release(first);
  CHECK(process_thread_count() == 1);
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

#if defined(__x86_64__)
TEST_CASE("a floating-point scope keeps denormals and restores the caller's state") {
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040 | 0x2000);  // FTZ, DAZ, round down
  const unsigned callers = __builtin_ia32_stmxcsr();
  volatile float tiny = 1e-39f, half = 0.5f;
  CHECK(tiny * half == 0.0f);
  {
    FloatingPointScope scope;
    CHECK(tiny * half > 0.0f);
  }
  CHECK((__builtin_ia32_stmxcsr() & ~0x3fu) == (callers & ~0x3fu));
  __builtin_ia32_ldmxcsr(before);
}
#endif

}  // namespace
}  // namespace ferrule::runtime
