// Every allocation made to fail: each call of the C API is repeated with its first allocation failing, then its second,
// and so on until none is left; once with one failure, once with all allocations failing from there on. The status is
// kFerruleOutOfMemory each time, what was there before still works, and AddressSanitizer finds nothing leaked.
//
// The linker turns the runtime's calls of the C library (--wrap) into the functions below.
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/sanitize/check.h"
#include "runtime/testing/test_program.h"

namespace {

enum class Failures { kNone, kOne, kAllAfter };
Failures g_failures = Failures::kNone;
int g_until_failure = 0;
int g_failed = 0;

// Whether the allocation that is asked for now fails.
bool fails() {
  if (g_failures == Failures::kNone) return false;
  const bool result = g_failures == Failures::kOne ? g_until_failure == 0 : g_until_failure <= 0;
  --g_until_failure;
  g_failed += result;
  if (result) errno = ENOMEM;
  return result;
}

}  // namespace

extern "C" {
void* __real_malloc(size_t);
void* __wrap_malloc(size_t byte_size) { return fails() ? nullptr : __real_malloc(byte_size); }
void* __real_aligned_alloc(size_t, size_t);
void* __wrap_aligned_alloc(size_t alignment, size_t byte_size) {
  return fails() ? nullptr : __real_aligned_alloc(alignment, byte_size);
}
int __real_posix_memalign(void**, size_t, size_t);
int __wrap_posix_memalign(void** out, size_t alignment, size_t byte_size) {
  return fails() ? ENOMEM : __real_posix_memalign(out, alignment, byte_size);
}
void* __real_mmap(void*, size_t, int, int, int, off_t);
void* __wrap_mmap(void* address, size_t byte_size, int protection, int flags, int file, off_t offset) {
  return fails() ? MAP_FAILED : __real_mmap(address, byte_size, protection, flags, file, offset);
}
int __real_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*main)(void*), void* argument) {
  return fails() ? EAGAIN : __real_pthread_create(thread, attributes, main, argument);
}
}

namespace {

using namespace ferrule::runtime::sanitize;
using ferrule::runtime::testing::temporary_path;

// `call` fails as often as it allocates, at least `least` times; each time `still_works` is called. `recovers`: it may also
// find another way.
void sweep(const char* what, int least, const std::function<FerruleStatus*()>& call,
           const std::function<void()>& still_works, bool recovers = false) {
  for (const Failures failures : {Failures::kOne, Failures::kAllAfter}) {
    int allocations = 0;
    for (bool is_done = false; !is_done; ++allocations) {
      g_failures = failures;
      g_until_failure = allocations;
      g_failed = 0;
      FerruleStatus* status = call();
      g_failures = Failures::kNone;
      is_done = g_failed == 0;
      const FerruleStatusCode code = ferrule_status_code(status);
      if (code != (is_done ? kFerruleOk : kFerruleOutOfMemory) && !(recovers && code == kFerruleOk)) {
        std::fprintf(stderr, "%s, allocation %d: code %d, %s\n", what, allocations, code,
                     ferrule_status_message(status));
        std::_Exit(1);
      }
      check(code == kFerruleOk || std::string(ferrule_status_message(status)).size() >= 10, "a sentence");
      ferrule_status_release(status);
      still_works();
    }
    std::printf("%s: %d allocations\n", what, allocations - 1);
    check(allocations - 1 >= least, what);
  }
}

struct Call {
  FerruleSession* session;
  float x[32] = {}, y[32] = {};
  const int64_t shape[2] = {8, 4};

  // A view of the session's memory, or the caller's buffer.
  FerruleStatus* run(const char* entry, bool is_view) {
    const FerruleTensor input = tensor_of(x, sizeof(x), kFloat, 2, shape);
    FerruleTensor output = tensor_of(is_view ? nullptr : y, is_view ? 0 : sizeof(y), kFloat, 0, nullptr);
    return ferrule_session_run(session, entry, &input, 1, &output, 1);
  }
  void check_predict(float w) {
    check_ok(run("predict", false), "predict");
    check(y[0] == w, "the state is unchanged");
  }
};

// What the start of a background run says; waits for its end.
FerruleStatus* run_in_background(FerruleSession* session) {
  float x[32] = {}, y[32];
  const int64_t shape[] = {8, 4};
  const FerruleTensor input = tensor_of(x, sizeof(x), kFloat, 2, shape);
  FerruleTensor output = tensor_of(y, sizeof(y), kFloat, 0, nullptr);
  FerruleStatus* status = ferrule_session_run_async(
      session, "predict", &input, 1, &output, 1, [](void*, FerruleStatus* done) { ferrule_status_release(done); },
      nullptr);
  ferrule_session_wait(session);
  return status;
}

FerruleSession* create(FerruleProgram* program, uint32_t threads, FerruleStatus** out_status) {
  auto options = sized<FerruleSessionOptions>();
  options.thread_count = threads;
  FerruleSession* session = nullptr;
  *out_status = ferrule_session_create(program, &options, &session);
  return session;
}

void sweep_program(const std::string& path, const std::vector<uint8_t>& bytes) {
  FerruleProgram* program = nullptr;
  const auto release = [&program] {
    ferrule_program_release(program);
    program = nullptr;
  };
  sweep("open", 10, [&] { return ferrule_program_open(path.c_str(), nullptr, &program); }, release);
  sweep("open_bytes", 10,
        [&] { return ferrule_program_open_bytes(bytes.data(), bytes.size(), nullptr, &program); }, release);
  // Each time a program that was not asked before.
  sweep("input", 5,
        [&] {
          const Failures failures = g_failures;
          g_failures = Failures::kNone;
          release();
          check_ok(ferrule_program_open_bytes(bytes.data(), bytes.size(), nullptr, &program), "open");
          g_failures = failures;
          auto info = sized<FerruleTensorInfo>();
          return ferrule_program_input(program, 0, 0, &info);
        },
        [&] {
          auto info = sized<FerruleVariableInfo>();
          check_ok(ferrule_program_variable(program, 1, &info), "variable");
          check(info.alias_count == 1 && std::string(info.aliases[0]) == "weights", "the aliases are there");
        });
  release();
}

void sweep_sessions(FerruleProgram* program) {
  for (const uint32_t threads : {1u, 3u}) {
    FerruleSession* session = nullptr;
    sweep("session_create", 15,
          [&] {
            FerruleStatus* status;
            session = create(program, threads, &status);
            return status;
          },
          [&] {
            ferrule_session_release(session);
            session = nullptr;
          });
  }
}

void sweep_run(FerruleProgram* program) {
  FerruleStatus* status;
  Call call{create(program, 2, &status)};
  check_ok(status, "create");
  check_ok(call.run("predict", false), "predict");
  sweep("run into the caller's buffers", 0, [&] { return call.run("predict", false); }, [&] { call.check_predict(1); });
  // Afterwards there is room, so the second sweep, with all failing, needs a session that has none.
  FerruleSession* fresh = nullptr;
  sweep("run into views", 1,
        [&] {
          const Failures failures = g_failures;
          g_failures = Failures::kNone;
          ferrule_session_release(fresh);
          fresh = create(program, 1, &status);
          check_ok(status, "create");
          g_failures = failures;
          return Call{fresh}.run("predict", true);
        },
        [&] { Call{fresh}.check_predict(1); });
  sweep("run_async", 2,
        [&] {
          const Failures failures = g_failures;
          g_failures = Failures::kNone;
          ferrule_session_release(fresh);
          fresh = create(program, 1, &status);
          check_ok(status, "create");
          g_failures = failures;
          return run_in_background(fresh);
        },
        [&] { Call{fresh}.check_predict(1); });
  ferrule_session_release(fresh);
  sweep("start_profile", 1, [&] { return ferrule_session_start_profile(call.session, 100); },
        [&] {
          call.check_predict(1);
          auto info = sized<FerruleProfileInfo>();
          check_ok(ferrule_session_profile_info(call.session, &info), "profile_info");
          auto event = sized<FerruleProfileEvent>();
          for (uint64_t i = 0; i < info.event_count; ++i)
            check_ok(ferrule_session_profile_event(call.session, i, &event), "profile_event");
        });
  ferrule_session_release(call.session);
}

void sweep_state(FerruleProgram* program) {
  FerruleStatus* status;
  Call call{create(program, 1, &status)};
  check_ok(status, "create");
  const std::string path = temporary_path("sweep.checkpoint");
  check_ok(ferrule_session_save_checkpoint(call.session, path.c_str(), nullptr), "save");
  const std::vector<uint8_t> saved = ferrule::runtime::testing::read_file(path);
  const float w[4] = {7, 7, 7, 7};
  check_ok(ferrule_session_set_variable(call.session, "w", w, sizeof(w)), "set");
  sweep("load_checkpoint", 3, [&] { return ferrule_session_load_checkpoint(call.session, path.c_str(), nullptr); },
        [&] {
          // The old state or, when it has worked, the file's; then back to the old one for the next time.
          float now[4];
          check_ok(ferrule_session_get_variable(call.session, "w", now, sizeof(now)), "get");
          check(now[0] == 7 || (now[0] == 1 && now[3] == 4), "all of the old state or all of the new");
          call.check_predict(now[0]);
          check_ok(ferrule_session_set_variable(call.session, "w", w, sizeof(w)), "set");
        });
  check_ok(ferrule_session_reset(call.session), "reset");
  sweep("save_checkpoint", 3, [&] { return ferrule_session_save_checkpoint(call.session, path.c_str(), nullptr); },
        [&] { check(ferrule::runtime::testing::read_file(path) == saved, "a whole checkpoint stays"); });
  check_ok(ferrule_session_set_variable(call.session, "w", w, sizeof(w)), "set");
  sweep("save_delta", 3, [&] { return ferrule_session_save_delta(call.session, path.c_str(), nullptr); }, [] {});
  const std::string file = temporary_path("sweep.safetensors");
  const char* const names[] = {"w", "table"};
  sweep("save_variables", 3,
        [&] { return ferrule_session_save_variables(call.session, file.c_str(), names, 2); }, [] {});
  sweep("load_variables", 3, [&] { return ferrule_session_load_variables(call.session, file.c_str(), nullptr); },
        [&] { call.check_predict(7); });
  // A variable that nobody assigns is copied when it is first set; a session has its first time once.
  const float table[6] = {6, 5, 4, 3, 2, 1};
  FerruleSession* fresh = nullptr;
  sweep("set_variable", 1,
        [&] {
          const Failures failures = g_failures;
          g_failures = Failures::kNone;
          ferrule_session_release(fresh);
          fresh = create(program, 1, &status);
          check_ok(status, "create");
          g_failures = failures;
          return ferrule_session_set_variable(fresh, "table", table, sizeof(table));
        },
        [&] { Call{fresh}.check_predict(1); });
  ferrule_session_release(fresh);
  ferrule_session_release(call.session);
}

// A growing session: 100 rows, where memory is planned for 8. With less than a quarter more it still works.
void sweep_growth() {
  const std::vector<uint8_t> bytes =
      ferrule::runtime::testing::to_artifact(ferrule::runtime::testing::describe_growing_program());
  FerruleProgram* program = nullptr;
  check_ok(ferrule_program_open_bytes(bytes.data(), bytes.size(), nullptr, &program), "open");
  std::vector<float> x(400);
  const int64_t shape[] = {100, 4};
  FerruleSession* fresh = nullptr;
  sweep("allow_growth, run", 10,
        [&] {
          const Failures failures = g_failures;
          g_failures = Failures::kNone;
          ferrule_session_release(fresh);
          FerruleStatus* status;
          fresh = create(program, 1, &status);
          check_ok(status, "create");
          g_failures = failures;
          status = ferrule_session_allow_growth(fresh, 0);
          if (status != nullptr) return status;
          float loss;
          const FerruleTensor input = tensor_of(x.data(), x.size() * sizeof(float), kFloat, 2, shape);
          FerruleTensor output = tensor_of(&loss, sizeof(loss), kFloat, 0, nullptr);
          return ferrule_session_run(fresh, "train", &input, 1, &output, 1);
        },
        [&] { Call{fresh}.check_predict(1); }, /*recovers=*/true);
  ferrule_session_release(fresh);
  ferrule_program_release(program);
}

// A session that nobody releases: what the sanitizer is for.
int make_leak(const std::vector<uint8_t>& bytes) {
  FerruleProgram* program = nullptr;
  check_ok(ferrule_program_open_bytes(bytes.data(), bytes.size(), nullptr, &program), "open");
  FerruleStatus* status;
  create(program, 1, &status);
  check_ok(status, "create");
  ferrule_program_release(program);
  return 0;
}

}  // namespace

int main(int argc, char**) {
  const std::vector<uint8_t> bytes = ferrule::runtime::testing::test_artifact();
  if (argc > 1) return make_leak(bytes);
  const std::string path = temporary_path("sweep.fer");
  ferrule::runtime::testing::write_file(path, bytes);
  sweep_program(path, bytes);
  FerruleProgram* program = nullptr;
  check_ok(ferrule_program_open(path.c_str(), nullptr, &program), "open");
  sweep_sessions(program);
  sweep_run(program);
  sweep_state(program);
  sweep_growth();
  ferrule_program_release(program);
  std::puts("clean");
  return 0;
}
