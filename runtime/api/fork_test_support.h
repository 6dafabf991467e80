// What sessions are in a forked child.
#ifndef FERRULE_RUNTIME_API_FORK_TEST_SUPPORT_H_
#define FERRULE_RUNTIME_API_FORK_TEST_SUPPORT_H_

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/api/session_test_support.h"

namespace ferrule::runtime::testing {

// The exit code of a child that runs `body`: how many of its expectations failed. A child that hangs is killed by its
// alarm, which is no exit code.
inline int exit_code_of_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A session of the parent, with so many threads, is refused in the child; a new one of the same program runs there.
inline void check_fork(uint32_t parent_threads, uint32_t child_threads) {
  const Program program = open_test_program();
  Session session = create_session(program, parent_threads);
  Tensor y;
  check_ok(session.run("predict", {rows(8)}, {&y}));
  const std::vector<float> wanted = floats(y);
  const std::string path = temporary_path("fork_" + std::to_string(parent_threads) + std::to_string(child_threads));
  const int failed = exit_code_of_child([&] {
    int failures = 0;
    const auto expect = [&failures](bool holds) { failures += !holds; };
    Tensor result;
    const Status refused = session.run("predict", {rows(8)}, {&result});
    expect(refused.code() == kFerruleFailedPrecondition);
    expect(std::string(refused.message()).find("'predict'") != std::string::npos);
    expect(std::string(refused.message()).find("forked") != std::string::npos);

    Session::Options options;
    options.thread_count = child_threads;
    Result<Session> mine = Session::create(program, options);
    expect(mine.ok() && mine->run("predict", {rows(8)}, {&result}).ok());
    expect(std::vector<float>(result.data<float>(), result.data<float>() + 32) == wanted);

    options.share = &session;
    expect(std::string(Session::create(program, options).status().message()).find("forked") != std::string::npos);
    // A copy of the state may be saved while the parent trains on.
    float w[4];
    expect(session.get_variable("w", w, sizeof(w)).ok() && w[3] == 4);
    expect(session.save_checkpoint(path).ok() && mine->load_checkpoint(path).ok());
    return failures;
  });
  CHECK(failed == 0);
  check_ok(session.run("predict", {rows(8)}, {&y}));
  CHECK(floats(y) == wanted);
}

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_API_FORK_TEST_SUPPORT_H_
