// Everything that several threads may do at once, for ThreadSanitizer: sessions of one program, over one pool, with
// variables of their own and shared ones, created and released, cancelled, saved, set and read meanwhile.
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/sanitize/check.h"
#include "runtime/testing/test_program.h"

namespace {

using namespace ferrule::runtime::sanitize;

constexpr int kRounds = 150;
const int64_t kShape[] = {8, 4};

FerruleSession* create(FerruleProgram* program, uint32_t threads, FerruleSession* share = nullptr) {
  auto options = sized<FerruleSessionOptions>();
  options.thread_count = threads;
  options.share = share;
  FerruleSession* session = nullptr;
  check_ok(ferrule_session_create(program, &options, &session), "create a session");
  return session;
}

// predict, or train, on rows of ones: y = 2 + w.
float run(FerruleSession* session, const char* entry, uint64_t output_bytes) {
  float x[32], y[32] = {};
  for (float& value : x) value = 1;
  const FerruleTensor input = tensor_of(x, sizeof(x), kFloat, 2, kShape);
  FerruleTensor output = tensor_of(y, output_bytes, kFloat, 0, nullptr);
  check_ok(ferrule_session_run(session, entry, &input, 1, &output, 1), entry);
  return y[0];
}

void together(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::thread> threads;
  for (const auto& body : bodies) threads.emplace_back(body);
  for (std::thread& thread : threads) thread.join();
}

void separate_sessions(FerruleProgram* program) {
  std::vector<std::function<void()>> bodies;
  for (const uint32_t threads : {1u, 2u, 3u})
    bodies.push_back([program, threads] {
      FerruleSession* session = create(program, threads);
      for (int round = 0; round < kRounds; ++round) {
        check(run(session, "predict", 128) == static_cast<float>(3 + 8 * round), "a session has its own variables");
        run(session, "train", 4);
      }
      ferrule_session_release(session);
    });
  together(bodies);
}

void shared_variables(FerruleProgram* program) {
  FerruleSession* first = create(program, 2);
  FerruleSession* second = create(program, 2, first);
  FerruleSession* reader = create(program, 1, first);
  const std::string path = ferrule::runtime::testing::temporary_path("shared_variables");
  const auto train = [](FerruleSession* session) {
    for (int round = 0; round < kRounds; ++round) run(session, "train", 4);
  };
  together({[&] { train(first); }, [&] { train(second); },
            [&] {
              for (int round = 0; round < 10; ++round) {
                float w[4], table[6];
                run(reader, "predict", 128);
                check_ok(ferrule_session_get_variable(reader, "w", w, sizeof(w)), "get");
                check_ok(ferrule_session_get_variable(reader, "table", table, sizeof(table)), "get");
                check_ok(ferrule_session_set_variable(reader, "table", table, sizeof(table)), "set");
                check_ok(ferrule_session_save_checkpoint(reader, path.c_str(), nullptr), "save");
                auto info = sized<FerruleSessionInfo>();
                check_ok(ferrule_session_info(reader, &info), "info");
              }
            }});
  check(run(reader, "predict", 128) == 3 + 8 * 2 * kRounds, "no step is lost");
  ferrule_session_release(first);
  ferrule_session_release(reader);
  ferrule_session_release(second);
}

void come_and_go(FerruleProgram* program) {
  const auto body = [program] {
    for (int round = 0; round < 20; ++round) {
      FerruleSession* session = create(program, 2 + static_cast<uint32_t>(round) % 3);
      check(run(session, "predict", 128) == 3, "a new session starts from the initial values");
      ferrule_session_release(session);
    }
  };
  together({body, body, body});
}

void cancelled(FerruleProgram* program) {
  FerruleSession* session = create(program, 2);
  std::atomic<bool> is_done{false};
  std::thread canceller([&] {
    while (!is_done) ferrule_session_cancel(session);
  });
  float x[32] = {}, y[32];
  int32_t n = INT32_MAX, steps;  // ends only by being cancelled
  const FerruleTensor inputs[] = {tensor_of(x, sizeof(x), kFloat, 2, kShape),
                                  tensor_of(&n, sizeof(n), kInteger, 0, nullptr)};
  for (int round = 0; round < 20; ++round) {
    FerruleTensor outputs[] = {tensor_of(y, sizeof(y), kFloat, 0, nullptr),
                               tensor_of(&steps, sizeof(steps), kInteger, 0, nullptr)};
    check(take(ferrule_session_run(session, "repeat", inputs, 2, outputs, 2)) == kFerruleCancelled, "cancelled");
  }
  is_done = true;
  canceller.join();
  ferrule_session_release(session);
}

// Runs in the background: started, cancelled, waited for and released from another thread.
void in_the_background(FerruleProgram* program) {
  float x[32] = {}, y[32];
  int32_t n = INT32_MAX, steps;
  const FerruleTensor inputs[] = {tensor_of(x, sizeof(x), kFloat, 2, kShape),
                                  tensor_of(&n, sizeof(n), kInteger, 0, nullptr)};
  for (int round = 0; round < 20; ++round) {
    FerruleSession* session = create(program, 2);
    FerruleTensor outputs[] = {tensor_of(y, sizeof(y), kFloat, 0, nullptr),
                               tensor_of(&steps, sizeof(steps), kInteger, 0, nullptr)};
    std::atomic<int> cancelled{0};
    const auto done = [](void* context, FerruleStatus* status) {
      *static_cast<std::atomic<int>*>(context) += take(status) == kFerruleCancelled;
    };
    const bool is_waited_for = round % 2 == 0;
    check_ok(ferrule_session_run_async(session, "repeat", inputs, 2, outputs, 2, done, &cancelled), "run_async");
    ferrule_session_cancel(session);
    if (is_waited_for) ferrule_session_wait(session);
    if (is_waited_for) check(run(session, "predict", 128) == 3, "a session runs after a cancelled run");
    ferrule_session_release(session);
    check(cancelled == 1, "each run is told of once");
  }
}

// Two threads that add to one number: what the sanitizer is for.
int make_race() {
  int sum = 0;
  together({[&] { ++sum; }, [&] { ++sum; }});
  return sum == 0;
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) return make_race();
  const std::vector<uint8_t> bytes = ferrule::runtime::testing::test_artifact();
  FerruleProgram* program = nullptr;
  check_ok(ferrule_program_open_bytes(bytes.data(), bytes.size(), nullptr, &program), "open");
  separate_sessions(program);
  shared_variables(program);
  come_and_go(program);
  cancelled(program);
  in_the_background(program);
  ferrule_program_release(program);
  std::puts("clean");
  return 0;
}
