// What a product puts in place of its own: kernels, a logger, a clock, a check of who made the artifact; and runs in
// the background.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/base/kernel_args.h"
#include "runtime/api/session_test_support.h"

namespace ferrule {
namespace {

using namespace runtime::testing;

// The product's affine: out = 2 x + w, and what it saw.
struct AffineOfProduct {
  std::mutex mutex;
  std::set<const void*> outputs, inputs;
  std::set<uint64_t> threads;
  int32_t result = 0;

  static int32_t run(void* context, const FerruleKernelArgs* args) {
    auto& self = *static_cast<AffineOfProduct*>(context);
    auto* out = static_cast<float*>(args->buffers[0]);
    const auto* x = static_cast<const float*>(args->buffers[1]);
    const auto* w = static_cast<const float*>(args->buffers[2]);
    for (int64_t i = args->tile_begin * 4; i < args->tile_end * 4; ++i) out[i] = 2 * x[i] + w[i % 4];
    const std::lock_guard<std::mutex> lock(self.mutex);
    self.outputs.insert(out);
    self.inputs.insert(x);
    self.threads.insert(args->thread);
    if (self.result != 0) *args->error = {kFerruleKernelIndexOutOfRange, args->tile_begin, 5, 3};
    return self.result;
  }
};

// The test program, two of whose kernels the product brings.
std::vector<uint8_t> artifact_with_external_kernels() {
  serialize::ProgramDescription description = describe_test_program();
  const auto make_external = [&description](TestKernel kernel, const char* symbol) {
    serialize::KernelDescription& external = description.kernels[static_cast<size_t>(kernel)];
    external.symbol = symbol;
    external.offsets.clear();
  };
  make_external(TestKernel::kAffine, "product.affine");
  make_external(TestKernel::kIncrement, "product.increment");
  return to_artifact(description);
}

int32_t increment(void*, const FerruleKernelArgs* args) {
  ++*static_cast<int32_t*>(args->buffers[0]);
  return 0;
}

Program::Options options_with(AffineOfProduct* affine) {
  Program::Options options;
  options.kernels = {{0, "product.unused", nullptr, increment},
                     {0, "product.increment", nullptr, increment},
                     {0, "product.affine", affine, AffineOfProduct::run}};
  return options;
}

TEST_CASE("kernels of the product run as compiled ones do, with the same results on any number of threads") {
  const std::vector<uint8_t> bytes = artifact_with_external_kernels();
  const Program plain = open_test_program();
  for (const uint32_t threads : {1u, 3u}) {
    AffineOfProduct affine;
    Result<Program> program = Program::open_bytes(bytes.data(), bytes.size(), options_with(&affine));
    INFO(program.status().message());
    REQUIRE(program.ok());
    Session mine = create_session(*program, threads), compiled = create_session(plain, threads);
    const int32_t n = 5;
    const Tensor steps = Tensor::copy_of<int32_t>({}, &n);
    Tensor y, count, wanted, wanted_count;
    for (const int64_t batch : {8, 1, 5}) {
      check_ok(mine.run("repeat", {rows(batch), steps}, {&y, &count}));
      check_ok(compiled.run("repeat", {rows(batch), steps}, {&wanted, &wanted_count}));
      CHECK(floats(y) == floats(wanted));
      CHECK(count.data<int32_t>()[0] == 5);
    }
    check_ok(mine.run("train", {rows(8)}, {&y}));
    check_ok(compiled.run("train", {rows(8)}, {&wanted}));
    CHECK(floats(y) == floats(wanted));
    CHECK(*affine.threads.rbegin() < threads);
  }
}

TEST_CASE("an artifact whose kernels are not registered is refused, and all of them are named") {
  const std::vector<uint8_t> bytes = artifact_with_external_kernels();
  const Result<Program> nothing = Program::open_bytes(bytes.data(), bytes.size());
  const Status& none = nothing.status();
  CHECK(none.code() == kFerruleNotFound);
  CHECK_THAT(none.message(), contains("product.affine, product.increment"));
  Program::Options options;
  AffineOfProduct affine;
  options.kernels = {{0, "product.affine", &affine, AffineOfProduct::run}};
  CHECK_THAT(Program::open_bytes(bytes.data(), bytes.size(), options).status().message(),
             contains("registered: product.increment"));
  options.kernels = {{0, "product.affine", nullptr, nullptr}};
  CHECK_THAT(Program::open_bytes(bytes.data(), bytes.size(), options).status().message(),
             contains("number 0") && contains("function"));
}

TEST_CASE("inputs and outputs are used where the caller has them, without a copy") {
  const std::vector<uint8_t> bytes = artifact_with_external_kernels();
  AffineOfProduct affine;
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size(), options_with(&affine));
  REQUIRE(program.ok());
  Session session = create_session(*program);
  alignas(4) float x[9], y[9];  // from the second element on: aligned to the element only
  for (float& value : x) value = 1;
  const int64_t shape[] = {2, 4};
  FerruleTensor input{sizeof(FerruleTensor), x + 1, 32, DataTypeOf<float>::value, 2, shape};
  FerruleTensor output{sizeof(FerruleTensor), y + 1, 32, {}, 0, nullptr};
  check_ok(Status(ferrule_session_run(session.c(), "predict", &input, 1, &output, 1)));
  CHECK(affine.inputs == std::set<const void*>{x + 1});
  CHECK(affine.outputs == std::set<const void*>{y + 1});
  CHECK(y[8] == 2 + 4);
}

TEST_CASE("the weights of an artifact in memory are copied, or used where they are") {
  const std::vector<uint8_t> bytes = test_artifact();
  const float w[] = {1, 2, 3, 4};
  for (const bool in_place : {false, true}) {
    std::vector<uint8_t> storage(bytes.size() + 64);
    uint8_t* artifact = storage.data() + (64 - reinterpret_cast<uintptr_t>(storage.data()) % 64) % 64;
    std::memcpy(artifact, bytes.data(), bytes.size());
    Program::Options options;
    options.in_place = in_place;
    Result<Program> program = Program::open_bytes(artifact, bytes.size(), options);
    REQUIRE(program.ok());
    // What nobody may do, shows who has the weights.
    uint8_t* found = std::search(artifact, artifact + bytes.size(), reinterpret_cast<const uint8_t*>(w),
                                 reinterpret_cast<const uint8_t*>(w + 4));
    REQUIRE(found != artifact + bytes.size());
    const float other = 7;
    std::memcpy(found, &other, sizeof(other));
    Session session = create_session(*program);
    Tensor y;
    check_ok(session.run("predict", {rows(1)}, {&y}));
    CHECK(floats(y)[0] == (in_place ? 7 : 1));  // 2 * 0 + w[0]
  }
}

TEST_CASE("a product's kernel that fails ends the run with its details") {
  const std::vector<uint8_t> bytes = artifact_with_external_kernels();
  AffineOfProduct affine;
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size(), options_with(&affine));
  REQUIRE(program.ok());
  Session session = create_session(*program, 2);
  Tensor y;
  affine.result = kFerruleKernelIndexOutOfRange;
  const Status out_of_range = session.run("predict", {rows(8)}, {&y});
  CHECK(out_of_range.code() == kFerruleKernelError);
  CHECK_THAT(out_of_range.message(), contains("index 5 at position 0") && contains("below 3"));
  affine.result = 77;
  CHECK_THAT(session.run("predict", {rows(8)}, {&y}).message(), contains("code 77"));
  affine.result = 0;
  check_ok(session.run("predict", {rows(8)}, {&y}));
}

TEST_CASE("an artifact that the caller does not accept is refused") {
  const std::vector<uint8_t> bytes = test_artifact();
  struct Check {
    int calls = 0;
    bool answer = false;
    uint8_t seen[32] = {};
  } check;
  Program::Options options;
  options.accept_context = &check;
  options.accept = [](void* context, const uint8_t root_sha256[32]) -> int32_t {
    auto& self = *static_cast<Check*>(context);
    ++self.calls;
    std::memcpy(self.seen, root_sha256, 32);
    return self.answer;
  };
  const Result<Program> refused = Program::open_bytes(bytes.data(), bytes.size(), options);
  CHECK(refused.status().code() == kFerruleInvalidArtifact);
  CHECK_THAT(refused.status().message(), contains("not accepted"));
  check.answer = true;
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size(), options);
  REQUIRE(program.ok());
  CHECK(check.calls == 2);
  CHECK(std::memcmp(check.seen, program->info().root_sha256, 32) == 0);
}

struct Log {
  std::vector<std::string> info, errors;
  FerruleLogger logger{sizeof(FerruleLogger), this, write};

  static void write(void* context, FerruleLogLevel level, const char* sentence) {
    auto& self = *static_cast<Log*>(context);
    (level == kFerruleLogError ? self.errors : self.info).push_back(sentence);
  }
};

TEST_CASE("the logger is told what happens and every error, and nothing of runs that succeed") {
  const std::vector<uint8_t> bytes = test_artifact();
  Log log;
  Program::Options options;
  options.logger = &log.logger;
  CHECK_FALSE(Program::open("/nowhere/net.fer", options).ok());
  REQUIRE(log.errors.size() == 1);
  CHECK_THAT(log.errors[0], contains("/nowhere/net.fer"));
  Result<Program> program = Program::open_bytes(bytes.data(), bytes.size(), options);
  REQUIRE(program.ok());
  REQUIRE(log.info.size() == 1);
  CHECK_THAT(log.info[0], contains(std::to_string(bytes.size()) + " bytes") && contains("15 entries"));

  Session::Options session_options;
  session_options.logger = &log.logger;
  session_options.thread_count = 2;
  Result<Session> session = Session::create(*program, session_options);
  REQUIRE(session.ok());
  REQUIRE(log.info.size() == 2);
  CHECK_THAT(log.info[1], contains(session->info().target) && contains("2 threads"));
  Tensor y;
  check_ok(session->run("predict", {rows(8)}, {&y}));
  CHECK(log.info.size() == 2);
  const Status wrong = session->run("predict", {rows(9)}, {&y});
  REQUIRE(log.errors.size() == 2);
  CHECK(log.errors[1] == wrong.message());
  const std::string path = temporary_path("logged");
  check_ok(session->save_checkpoint(path));
  check_ok(session->load_checkpoint(path));
  REQUIRE(log.info.size() == 4);
  CHECK_THAT(log.info[2], contains("saved '" + path));
  CHECK_THAT(log.info[3], contains("loaded '" + path));
}

TEST_CASE("a profile's times come from the caller's clock") {
  const Program program = open_test_program();
  uint64_t now = 1000000;
  FerruleClock clock{sizeof(FerruleClock), &now,
                     [](void* context) { return *static_cast<uint64_t*>(context) += 7; }};
  Session::Options options;
  options.thread_count = 1;
  options.clock = &clock;
  Result<Session> session = Session::create(program, options);
  REQUIRE(session.ok());
  check_ok(session->start_profile(10));
  Tensor loss;
  check_ok(session->run("train", {rows(2)}, {&loss}));
  REQUIRE(session->profile_info().event_count == 3);
  for (uint64_t i = 0; i < 3; ++i) {
    CHECK(session->profile_event(i).begin_ns == 7 + 14 * i);
    CHECK(session->profile_event(i).end_ns == 14 + 14 * i);
  }
  clock.now_ns = nullptr;
  CHECK_THAT(Session::create(program, options).status().message(), contains("now_ns"));
}

// Counts the calls of `done`, and lets a test wait for them.
class Finished {
 public:
  void add(FerruleStatusCode code) {
    const std::lock_guard<std::mutex> lock(mutex_);
    codes_.push_back(code);
    changed_.notify_all();
  }
  std::vector<FerruleStatusCode> wait_for(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return codes_.size() >= count; });
    return codes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FerruleStatusCode> codes_;
};

TEST_CASE("a run in the background gives the results of any other, on one thread of the session") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Finished finished;
  std::set<std::thread::id> threads;
  Tensor y, wanted;
  check_ok(session.run("predict", {rows(8)}, {&wanted}));
  for (size_t round = 1; round <= 20; ++round) {
    y = Tensor();
    const Tensor x = rows(8);
    check_ok(session.run_async("predict", {x}, {&y}, [&](const Status& status) {
      threads.insert(std::this_thread::get_id());
      finished.add(status.code());
    }));
    CHECK(finished.wait_for(round).back() == kFerruleOk);
    session.wait();
    CHECK(floats(y) == floats(wanted));
  }
  CHECK(threads.size() == 1);
  CHECK(threads.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("`done` may start the next run; errors come to it, and what can be refused at once is") {
  const Program program = open_test_program();
  Session session = create_session(program);
  Finished finished;
  const Tensor x = rows(1);
  Tensor loss;
  std::function<void(int)> train = [&](int left) {
    check_ok(session.run_async("train", {x}, {&loss}, [&, left](const Status& status) {
      if (left > 1) train(left - 1);
      finished.add(status.code());
    }));
  };
  train(10);
  CHECK(finished.wait_for(10) == std::vector<FerruleStatusCode>(10, kFerruleOk));
  session.wait();
  float w[4];
  check_ok(session.get_variable("w", w, sizeof(w)));
  CHECK(w[3] == 4 + 10 * 3);

  const auto nothing = [](void*, FerruleStatus*) {};
  CHECK(Status(ferrule_session_run_async(session.c(), "nothing", nullptr, 0, nullptr, 0, nothing, nullptr)).code() ==
        kFerruleNotFound);
  CHECK_THAT(Status(ferrule_session_run_async(session.c(), "train", nullptr, 0, nullptr, 0, nothing, nullptr)).message(),
             contains("takes 1 inputs, but 0"));
  CHECK_THAT(Status(ferrule_session_run_async(session.c(), "train", nullptr, 0, nullptr, 0, nullptr, nullptr)).message(),
             contains("done"));
  const Tensor index = indices({1, 99});
  Tensor checked;
  check_ok(session.run_async("check", {index}, {&checked}, [&](const Status& status) { finished.add(status.code()); }));
  CHECK(finished.wait_for(11).back() == kFerruleKernelError);
}

// A run that ends only by being cancelled.
struct EndlessRun {
  const int32_t n = INT32_MAX;
  const Tensor x = rows(8), steps = Tensor::copy_of<int32_t>({}, &n);
  Tensor y, count;
  Finished finished;

  void start(Session& session) {
    check_ok(session.run_async("repeat", {x, steps}, {&y, &count},
                               [this](const Status& status) { finished.add(status.code()); }));
  }
};

TEST_CASE("a run in the background is cancelled from outside, and refuses others meanwhile") {
  const Program program = open_test_program();
  Session session = create_session(program);
  EndlessRun run;
  for (size_t round = 1; round <= 20; ++round) {
    run.start(session);
    Tensor y;
    const Status busy = session.run("predict", {rows(1)}, {&y});
    CHECK(busy.code() == kFerruleFailedPrecondition);
    CHECK_THAT(busy.message(), contains("asynchronous run"));
    session.cancel();  // at any time: also before the thread has begun
    CHECK(run.finished.wait_for(round).back() == kFerruleCancelled);
    session.wait();
  }
  Tensor y;
  check_ok(session.run("predict", {rows(1)}, {&y}));
}

TEST_CASE("a session that is released while it runs cancels the run and waits for it") {
  const Program program = open_test_program();
  EndlessRun run;
  {
    Session session = create_session(program, 2);
    run.start(session);
  }
  CHECK(run.finished.wait_for(1) == std::vector<FerruleStatusCode>{kFerruleCancelled});
}

}  // namespace
}  // namespace ferrule
