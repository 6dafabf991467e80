#include "runtime/device/cpu/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/base/clock.h"
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

// Runs a job of two, of which the worker must take one: `on_worker` is called there.
template <typename Function>
void run_with_worker(ThreadPool* pool, Function on_worker) {
  struct Both {
    Function function;
    std::atomic<bool> done{false};
  } both{on_worker};
  pool->parallel_for(
      2,
      [](void* context, uint32_t i) {
        auto& both = *static_cast<Both*>(context);
        if (i == 0) {
          while (!both.done.load()) sched_yield();
        } else {
          both.function();
          both.done.store(true);
        }
      },
      &both);
}

TEST_CASE("a worker is kept off its caller's CPU, wherever the caller goes") {
  cpu_set_t all;
  REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  const int cpu_count = CPU_COUNT(&all);
  if (cpu_count < 2) return;
  ThreadPool* pool = ThreadPool::acquire(2);
  REQUIRE(pool != nullptr);
  int checks = 0;
  for (int turn = 0; turn < 200 && checks < 8; ++turn) {
    cpu_set_t here, workers;
    CPU_ZERO(&here);
    for (int cpu = 0, number = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &all) && number++ == turn % cpu_count) CPU_SET(cpu, &here);
    }
    // The caller goes to one CPU after the other, where it is not held: it may run on all.
    REQUIRE(sched_setaffinity(0, sizeof(here), &here) == 0);
    REQUIRE(sched_setaffinity(0, sizeof(all), &all) == 0);
    usleep(1000);  // Between runs the worker falls asleep.
    REQUIRE(pool->begin_run());
    const int callers = sched_getcpu();
    run_with_worker(pool, [&] { sched_getaffinity(0, sizeof(workers), &workers); });
    pool->end_run();
    if (sched_getcpu() != callers) continue;  // The system has moved it meanwhile.
    CHECK_FALSE(CPU_ISSET(callers, &workers));
    CHECK(CPU_COUNT(&workers) == cpu_count - 1);
    ++checks;
  }
  CHECK(checks > 0);
  ThreadPool::release(pool);
}

TEST_CASE("a worker stays awake while the caller computes alone for some tenths of a millisecond") {
  ThreadPool* pool = ThreadPool::acquire(2);
  REQUIRE(pool != nullptr);
  const auto sleeps = [] {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  };
  int stayed_awake = 0;
  for (int turn = 0; turn < 50; ++turn) {
    long before = 0, after = 0;
    REQUIRE(pool->begin_run());
    run_with_worker(pool, [&] { before = sleeps(); });
    const uint64_t begin = monotonic_ns(nullptr);
    while (monotonic_ns(nullptr) - begin < 200000) {
    }
    run_with_worker(pool, [&] { after = sleeps(); });
    pool->end_run();
    stayed_awake += before == after;
  }
  CHECK(stayed_awake > 0);  // Not each time: the machine may take the CPU away.
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
  const uint64_t before = testing::floating_point_state(),
                 callers = before | testing::kFlushDenormals | testing::kRoundDown;
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
