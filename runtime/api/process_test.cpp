// What a session is to its process: forks, threads that sleep, pages that are never writable and executable.
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/api/fork_test_support.h"

namespace ferrule {
namespace {

using namespace runtime::testing;

TEST_CASE("in a forked child a session of the parent is refused, a new one of the same program runs") {
  for (const uint32_t threads : {1u, 3u}) check_fork(threads, 1);
}

// A pool of two threads that says when a run has come to its first kernel; `at_kernel` runs there.
struct WatchedPool {
  std::function<void()> at_kernel;
  FerruleThreadPool pool{};

  explicit WatchedPool(std::function<void()> action) : at_kernel(std::move(action)) {
    pool.struct_size = sizeof(pool);
    pool.context = this;
    pool.thread_count = 2;
    pool.parallel_for = [](void* context, uint32_t count, void (*body)(void*, uint32_t), void* body_context) {
      static_cast<WatchedPool*>(context)->at_kernel();
      for (uint32_t i = 0; i < count; ++i) body(body_context, i);
    };
  }
  Session create(const Program& program, const Session* share = nullptr) const {
    Session::Options options;
    options.thread_pool = &pool;
    options.share = share;
    Result<Session> session = Session::create(program, options);
    REQUIRE(session.ok());
    return std::move(*session);
  }
};

TEST_CASE("variables that another thread was using at the fork are refused in the child, which does not hang") {
  const Program program = open_test_program();
  Session session = create_session(program);
  std::atomic<bool> has_begun{false};
  const WatchedPool pool([&] { has_begun = true; });
  Session running = pool.create(program, &session);
  std::atomic<int> code{kFerruleOk};
  std::thread runner([&] {
    const int32_t steps = INT32_MAX;  // runs until it is cancelled
    Tensor y, count;
    code = running.run("repeat", {rows(8), Tensor::copy_of<int32_t>({}, &steps)}, {&y, &count}).code();
  });
  while (!has_begun) std::this_thread::yield();
  const int failed = exit_code_of_child([&] {
    const float w[4] = {0, 0, 0, 0};
    const Status refused = session.set_variable("w", w, sizeof(w));
    const std::string sentence = refused.message();
    return (refused.code() != kFerruleFailedPrecondition) + (sentence.find("forked") == std::string::npos);
  });
  running.cancel();
  runner.join();
  CHECK(failed == 0);
  CHECK(code == kFerruleCancelled);
}

double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_CASE("threads cost no CPU time between runs") {
  const Program program = open_test_program();
  Session session = create_session(program, 4), second = create_session(program, 3);
  Tensor y;
  for (int i = 0; i < 100; ++i) {
    check_ok(session.run("predict", {rows(8)}, {&y}));
    check_ok(second.run("predict", {rows(8)}, {&y}));
  }
  usleep(20000);  // They look for the next kernel for less than a millisecond.
  const double before = cpu_seconds();
  usleep(500000);
  // Three workers that spun would take all of the machine's CPUs for half a second.
  CHECK(cpu_seconds() - before < 0.005);
}

// Mappings of this process, of /proc/self/maps, that may be written and executed.
std::vector<std::string> writable_code() {
  std::vector<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::string permissions = line.substr(line.find(' ') + 1, 4);
    if (permissions[1] == 'w' && permissions[2] == 'x') found.push_back(line);
  }
  return found;
}

bool lies_in_executable_pages(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    char* end;
    const uintptr_t first = std::strtoull(line.c_str(), &end, 16), last = std::strtoull(end + 1, &end, 16);
    if (first <= address && address < last) return end[3] == 'x';
  }
  return false;
}

TEST_CASE("no page is writable and executable: when opened, while running, after it") {
  const Program program = open_test_program();
  CHECK(writable_code().empty());
  int looks = 0;
  const WatchedPool pool([&] {
    ++looks;
    CHECK(writable_code().empty());
  });
  Session session = pool.create(program);
  CHECK(writable_code().empty());
  Tensor y, loss;
  check_ok(session.run("predict", {rows(8)}, {&y}));
  CHECK(looks == 1);
  check_ok(session.run("train", {rows(8)}, {&loss}));
  CHECK(writable_code().empty());
  // The look finds what it looks for: this function is code, its variables are not.
  CHECK(lies_in_executable_pages(reinterpret_cast<uintptr_t>(&lies_in_executable_pages)));
  CHECK_FALSE(lies_in_executable_pages(reinterpret_cast<uintptr_t>(&looks)));
}

}  // namespace
}  // namespace ferrule
