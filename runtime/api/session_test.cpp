// Sessions through the C++ wrapper and the C API: results, checks of a call, state, threads, memory.
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cfloat>
#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/api/session_test_support.h"
#include "runtime/testing/floating_point_state.h"
#include "runtime/testing/process_threads.h"

// Counts every allocation of the process, so that a test can show that a run makes none.
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_memalign(size_t, size_t);
static std::atomic<int64_t> g_allocations{0};
extern "C" void* malloc(size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  g_allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(alignment, size);
}

namespace ferrule {
namespace {

using namespace runtime::testing;

std::vector<float> variable_w(const Session& session) {
  std::vector<float> values(4);
  REQUIRE(session.get_variable("w", values.data(), 16).ok());
  return values;
}

TEST_CASE("a run that checks numerics ends at the first value that is not finite") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor y;
  Tensor x = rows(2);
  x.data<float>()[5] = 3e38f;  // twice that is infinite
  check_ok(session.run("predict", {x}, {&y}));
  session.check_numerics(true);
  check_ok(session.run("predict", {rows(2)}, {&y}));
  CHECK(std::string(session.run("predict", {x}, {&y}).message()) ==
        "entry 'predict', kernel 'affine' at model.py:12 made a value that is not finite: element 5 of 8 in memory of 'y' "
        "is inf");
  x.data<float>()[5] = -3e38f;
  CHECK(std::string(session.run("predict", {x}, {&y}).message()).find("'y' is -inf") != std::string::npos);
  x.data<float>()[6] = NAN;
  CHECK(std::string(session.run("predict", {x}, {&y}).message()) ==
        "entry 'predict' begins with a value that is not finite: element 6 of 8 in memory of 'x' is nan");
  const float w[4] = {1, 2, -INFINITY, 4};
  check_ok(session.set_variable("w", w, sizeof w));
  CHECK(std::string(session.run("predict", {rows(2)}, {&y}).message()) ==
        "entry 'predict' begins with a value that is not finite: element 2 of 4 in memory of 'variable' is -inf");
  session.check_numerics(false);
  check_ok(session.run("predict", {rows(2)}, {&y}));
}

TEST_CASE("a profile holds what each call cost, where the artifact says so") {
  const Program program = open_test_program();
  Session session = create_session(program, 1);
  check_ok(session.start_profile(10));
  Tensor y, loss;
  check_ok(session.run("predict", {rows(3)}, {&y}));
  check_ok(session.run("train", {rows(3)}, {&loss}));
  session.stop_profile();
  REQUIRE(session.profile_info().event_count == 4);
  const FerruleProfileEvent affine = session.profile_event(0), other = session.profile_event(1);
  CHECK(affine.flops == 24);  // 3 rows of 4 columns, a product and a sum each
  CHECK(affine.read_bytes == 48);
  CHECK(affine.written_bytes == 48);
  CHECK(affine.byte_size == 48 + 48 + 16);
  CHECK(other.flops == -1);
  CHECK(other.read_bytes == -1);
  CHECK(other.written_bytes == -1);
}

TEST_CASE("an entry computes, for any allowed batch, with 1, 2 and 3 threads") {
  const Program program = open_test_program();
  for (uint32_t threads : {1u, 2u, 3u}) {
    Session session = create_session(program, threads);
    for (int64_t batch : {1, 2, 8, 3}) {
      Tensor y;
      check_ok(session.run("predict", {rows(batch)}, {&y}));
      CHECK(y.shape() == std::vector<int64_t>{batch, 4});
      std::vector<float> wanted;
      for (int64_t i = 0; i < batch * 4; ++i)
        wanted.push_back(2 * static_cast<float>(i) + 1 + static_cast<float>(i % 4));
      CHECK(floats(y) == wanted);
    }
  }
}

TEST_CASE("training changes the session's variables, inference sees them, the program keeps its own") {
  const Program program = open_test_program();
  Session session = create_session(program), other = create_session(program);
  Tensor loss, y;
  // x = 0 .. 7: the sum of 2 x + w is 2 * 28 + 2 * 10.
  check_ok(session.run("train", {rows(2)}, {&loss}));
  CHECK(floats(loss) == std::vector<float>{76});
  CHECK(loss.shape().empty());
  CHECK(variable_w(session) == std::vector<float>{1 + 4, 2 + 6, 3 + 8, 4 + 10});
  CHECK(variable_w(other) == std::vector<float>{1, 2, 3, 4});
  check_ok(session.run("predict", {rows(1)}, {&y}));
  CHECK(floats(y) == std::vector<float>{5, 10, 15, 20});
  check_ok(session.reset());
  CHECK(variable_w(session) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("sessions made with share see each other's variables") {
  const Program program = open_test_program();
  Session trainer = create_session(program), user = create_session(program, 2, &trainer);
  Tensor loss, y;
  check_ok(trainer.run("train", {rows(1)}, {&loss}));
  CHECK(variable_w(user) == std::vector<float>{1, 3, 5, 7});
  const float ones[4] = {1, 1, 1, 1};
  check_ok(user.set_variable("w", ones, sizeof(ones)));
  CHECK(variable_w(trainer) == std::vector<float>{1, 1, 1, 1});

  const Program another = open_test_program();
  Session::Options options;
  options.share = &trainer;
  CHECK_THAT(Session::create(another, options).status().message(), contains("another program"));
}

TEST_CASE("variables are read and set by name or alias as logical values") {
  const Program program = open_test_program();
  Session session = create_session(program), other = create_session(program);
  std::vector<float> table(6);
  check_ok(session.get_variable("weights", table.data(), 24));
  CHECK(table == std::vector<float>{10, 11, 12, 13, 14, 15});
  // Nobody assigns it: setting it makes a copy for this session.
  const uint64_t before = session.info().variable_bytes;
  for (float& value : table) value = -value;
  check_ok(session.set_variable("table", table.data(), 24));
  CHECK(session.info().variable_bytes == before + 2 * 16 * sizeof(float));
  std::vector<float> again(6);
  check_ok(session.get_variable("table", again.data(), 24));
  CHECK(again == table);
  check_ok(other.get_variable("table", again.data(), 24));
  CHECK(again == std::vector<float>{10, 11, 12, 13, 14, 15});

  CHECK_THAT(session.get_variable("w", again.data(), 24).message(), contains("16 bytes") && contains("24"));
  const Status unknown = session.get_variable("bias", again.data(), 24);
  CHECK(unknown.code() == kFerruleNotFound);
  CHECK_THAT(unknown.message(), contains("bias") && contains("table"));
}

TEST_CASE("a wrong call is refused with a sentence and changes nothing") {
  const Program program = open_test_program();
  Session session = create_session(program);
  Tensor y, loss;
  const auto refused = [&](const Status& status, FerruleStatusCode code, std::vector<const char*> parts) {
    CHECK(status.code() == code);
    for (const char* part : parts) CHECK_THAT(status.message(), contains(part));
    CHECK(variable_w(session) == std::vector<float>{1, 2, 3, 4});
    CHECK(session.info().state_complete == 1);
  };
  refused(session.run("infer", {rows(1)}, {&y}), kFerruleNotFound, {"infer", "predict", "train"});
  refused(session.run("train", {}, {&loss}), kFerruleInvalidArgument, {"train", "1 input", "0"});
  refused(session.run("train", {rows(1)}, {}), kFerruleInvalidArgument, {"train", "1 output", "0"});
  refused(session.run("train", {rows(9)}, {&loss}), kFerruleInvalidArgument, {"train", "x", "batch", "9", "8"});
  refused(session.run("train", {rows(0)}, {&loss}), kFerruleInvalidArgument, {"train", "batch", "0", "1"});
  refused(session.run("train", {Tensor(DataTypeOf<float>::value, {2, 5})}, {&loss}), kFerruleInvalidArgument,
          {"train", "x", "5", "4"});
  refused(session.run("train", {Tensor(DataTypeOf<float>::value, {4})}, {&loss}), kFerruleInvalidArgument,
          {"train", "x", "rank"});
  refused(session.run("train", {Tensor(DataTypeOf<double>::value, {2, 4})}, {&loss}), kFerruleInvalidArgument,
          {"train", "x", "float64", "float32"});
  refused(session.run("pair", {rows(2), rows(3)}, {&y}), kFerruleInvalidArgument, {"pair", "2", "3"});

  const std::vector<int64_t> shape{2, 4};
  const float few[4] = {};
  refused(session.run("train", {TensorView(DataTypeOf<float>::value, shape, few, sizeof(few))}, {&loss}),
          kFerruleInvalidArgument, {"x", "16 bytes", "32"});
}

TEST_CASE("outputs: the caller's buffer, a view of the session's memory, and what is refused") {
  const Program program = open_test_program();
  Session session = create_session(program);
  const Tensor x = rows(2);
  const FerruleTensor input = TensorView(x).c();
  FerruleTensor output{};
  output.struct_size = sizeof(output);
  check_ok(Status(ferrule_session_run(session.c(), "predict", &input, 1, &output, 1)));
  REQUIRE(output.data != nullptr);
  CHECK(output.byte_size == 32);
  CHECK(output.rank == 2);
  CHECK(output.shape[0] == 2);
  CHECK(static_cast<float*>(output.data)[7] == 2 * 7 + 4);

  float room[8];
  output.data = room;
  output.byte_size = 16;
  CHECK_THAT(Status(ferrule_session_run(session.c(), "predict", &input, 1, &output, 1)).message(),
             contains("16 bytes") && contains("32") && contains("y"));
  output.data = input.data;
  output.byte_size = input.byte_size;
  CHECK_THAT(Status(ferrule_session_run(session.c(), "predict", &input, 1, &output, 1)).message(),
             contains("overlaps"));
  FerruleTensor forgotten{};
  CHECK_THAT(Status(ferrule_session_run(session.c(), "predict", &input, 1, &forgotten, 1)).message(),
             contains("struct_size"));
}

TEST_CASE("a kernel's error names the first bad element for every number of threads") {
  const Program program = open_test_program();
  for (uint32_t threads : {1u, 2u, 3u}) {
    Session session = create_session(program, threads);
    Tensor checked;
    const Status status = session.run("check", {indices({1, 2, 3, 40, 5, 60, 70, 80})}, {&checked});
    CHECK(status.code() == kFerruleKernelError);
    CHECK_THAT(status.message(), contains("check") && contains("model.py:12") && contains("index 40") &&
                                     contains("position 3") && contains("below 10"));
    // Nothing was assigned, so the session goes on.
    check_ok(session.run("check", {indices({1, 2})}, {&checked}));
  }
}

TEST_CASE("a run that fails after its first assignment leaves the state incomplete until reset or load") {
  const Program program = open_test_program();
  Session session = create_session(program);
  const std::string path = runtime::testing::temporary_path("before_failure");
  check_ok(session.save_checkpoint(path));
  Tensor checked, y;
  const auto fail = [&] {
    const Status status = session.run("fail", {rows(2), indices({1, 99})}, {&checked});
    CHECK(status.code() == kFerruleKernelError);
    CHECK_THAT(status.message(), contains("incomplete"));
    CHECK(session.info().state_complete == 0);
    const Status later = session.run("predict", {rows(1)}, {&y});
    CHECK(later.code() == kFerruleFailedPrecondition);
    CHECK_THAT(later.message(), contains("checkpoint") && contains("reset"));
    CHECK(session.save_checkpoint(path + ".other").code() == kFerruleFailedPrecondition);
  };
  fail();
  check_ok(session.reset());
  check_ok(session.run("predict", {rows(1)}, {&y}));
  fail();
  check_ok(session.load_checkpoint(path));
  check_ok(session.run("predict", {rows(1)}, {&y}));
  CHECK(floats(y) == std::vector<float>{1, 4, 7, 10});
}

TEST_CASE("threads: exactly one when one is asked for, and the tiles over all of them otherwise") {
  const Program program = open_test_program();
  Tensor thread;
  const int without = process_thread_count();  // 1, where no emulator has threads of its own
  {
    Session session = create_session(program, 1);
    check_ok(session.run("threads", {rows(8)}, {&thread}));
    CHECK(has_threads(without));
  }
  {
    Session session = create_session(program, 3), second = create_session(program, 2);
    CHECK(has_threads(without + 2));
    check_ok(session.run("threads", {rows(8)}, {&thread}));
    for (int row = 0; row < 8; ++row) CHECK(thread.data<int32_t>()[row] < 3);
  }
  CHECK(has_threads(without));
  Session::Options options;
  options.thread_count = 1000;
  CHECK_THAT(Session::create(program, options).status().message(), contains("1000") && contains("256"));
}

TEST_CASE("sessions run at the same time, over one pool and over shared variables") {
  const Program program = open_test_program();
  Session trainer = create_session(program, 2), reader = create_session(program, 2, &trainer);
  Session alone = create_session(program, 3);
  constexpr int kRuns = 300;
  std::atomic<int> failures{0};
  const auto work = [&failures](Session& session, const char* entry) {
    Tensor x(DataTypeOf<float>::value, {8, 4}), y;
    for (int i = 0; i < 32; ++i) x.data<float>()[i] = 1;
    for (int run = 0; run < kRuns; ++run)
      if (!session.run(entry, {x}, {&y}).ok()) ++failures;
  };
  std::thread first(work, std::ref(trainer), "train"), second(work, std::ref(reader), "train");
  work(alone, "predict");
  first.join();
  second.join();
  CHECK(failures.load() == 0);
  // Each of the runs added 8 ones to every element, none was lost.
  const float added = 2 * kRuns * 8;
  CHECK(variable_w(trainer) == std::vector<float>{1 + added, 2 + added, 3 + added, 4 + added});
}

// A session with four threads of a pool in which they come one after the other, the last one first; `calls` counts its
// parallel_for.
Session create_backward_session(const Program& program, int* calls) {
  FerruleThreadPool pool{};
  pool.struct_size = sizeof(pool);
  pool.context = calls;
  pool.thread_count = 4;
  pool.parallel_for = [](void* context, uint32_t count, void (*body)(void*, uint32_t), void* body_context) {
    ++*static_cast<int*>(context);
    for (uint32_t i = count; i-- > 0;) body(body_context, i);
  };
  Session::Options options;
  options.thread_pool = &pool;
  Result<Session> session = Session::create(program, options);
  REQUIRE(session.ok());
  return std::move(*session);
}

TEST_CASE("the caller's thread pool runs the tiles, and a thread that comes first does the others' share") {
  const Program program = open_test_program();
  int calls = 0;
  Session session = create_backward_session(program, &calls);
  CHECK(session.info().thread_count == 4);
  Tensor thread;
  check_ok(session.run("threads", {rows(8)}, {&thread}));
  CHECK(calls == 1);
  const std::vector<int32_t> got(thread.data<int32_t>(), thread.data<int32_t>() + 8);
  CHECK(got == std::vector<int32_t>(8, 3));
}

TEST_CASE("of the tiles that fail the first one is named, whichever thread comes first") {
  const Program program = open_test_program();
  int calls = 0;
  Session session = create_backward_session(program, &calls);
  for (int first = 0; first < 8; ++first) {
    std::vector<int32_t> values(8, 0);
    for (int row = first; row < 8; ++row) values[row] = 40 + row;
    Tensor checked;
    const Status status = session.run("check", {indices(values)}, {&checked});
    CHECK_THAT(status.message(), contains("index " + std::to_string(40 + first)) &&
                                     contains("position " + std::to_string(first) + " "));
  }
  CHECK(calls == 8);
}

TEST_CASE("denormals are kept on every thread, whatever state the caller has") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor x(DataTypeOf<float>::value, {8, 4}), half;
  for (int i = 0; i < 32; ++i) x.data<float>()[i] = FLT_MIN / 4;
  const uint64_t before = floating_point_state();
  set_floating_point_state(before | kFlushDenormals);
  const Status status = session.run("halve", {x}, {&half});
  const uint64_t after = floating_point_state();
  set_floating_point_state(before);
  check_ok(status);
  CHECK(after == (before | kFlushDenormals));
  for (int i = 0; i < 8; ++i) CHECK(half.data<float>()[i] == FLT_MIN / 8);
}

TEST_CASE("a run allocates nothing") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  const Tensor x = rows(8);
  float y[32], loss;
  const FerruleTensor input = TensorView(x).c();
  FerruleTensor output{};
  output.struct_size = sizeof(output);
  const int64_t before = g_allocations.load();
  for (int i = 0; i < 3; ++i) {
    output.data = y;
    output.byte_size = sizeof(y);
    CHECK(ferrule_session_run(session.c(), "predict", &input, 1, &output, 1) == nullptr);
    output.data = &loss;
    output.byte_size = sizeof(loss);
    FerruleStatus* status = ferrule_session_run(session.c(), "train", &input, 1, &output, 1);
    if (status != nullptr) FAIL(ferrule_status_message(status));
  }
  CHECK(g_allocations.load() == before);
}

TEST_CASE("a run with loops, branches and sizes that it finds out allocates nothing") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  const Tensor x = rows(8, -12);
  const int32_t count = 5;
  const TensorView n({}, &count);
  float rows_room[32];
  int32_t small;
  int64_t wide;
  const auto run = [&](const char* entry, std::vector<FerruleTensor> inputs, void* first, void* second) {
    FerruleTensor outputs[2] = {};
    for (FerruleTensor& output : outputs) output.struct_size = sizeof(output);
    outputs[0].data = first;
    outputs[0].byte_size = sizeof(rows_room);
    outputs[1].data = second;
    outputs[1].byte_size = 8;
    const int64_t before = g_allocations.load();
    FerruleStatus* status = ferrule_session_run(session.c(), entry, inputs.data(), static_cast<uint32_t>(inputs.size()),
                                                outputs, second == nullptr ? 1 : 2);
    CHECK(g_allocations.load() == before);
    if (status != nullptr) FAIL(ferrule_status_message(status));
  };
  for (int i = 0; i < 2; ++i) {
    run("repeat", {TensorView(x).c(), n.c()}, rows_room, &small);
    CHECK(small == 5);
    run("scan", {TensorView(x).c()}, rows_room, nullptr);
    run("positive", {TensorView(x).c()}, rows_room, &wide);
    CHECK(wide == 4);
  }
}

// Hands out memory until its budget of calls is used up, and knows what has not come back.
struct LimitedAllocator {
  int budget;
  int live = 0;

  FerruleAllocator c() {
    FerruleAllocator allocator{};
    allocator.struct_size = sizeof(allocator);
    allocator.context = this;
    allocator.allocate = [](void* context, uint64_t byte_size, uint64_t alignment) -> void* {
      auto& self = *static_cast<LimitedAllocator*>(context);
      if (self.budget-- <= 0) return nullptr;
      ++self.live;
      return __libc_memalign(alignment, byte_size);
    };
    allocator.release = [](void* context, void* memory, uint64_t) {
      --static_cast<LimitedAllocator*>(context)->live;
      free(memory);
    };
    return allocator;
  }
};

TEST_CASE("creating a session fails cleanly at every allocation") {
  const Program program = open_test_program();
  bool created = false;
  int budget = 0;
  for (; !created; ++budget) {
    REQUIRE(budget < 100);
    LimitedAllocator memory{budget};
    const FerruleAllocator allocator = memory.c();
    {
      Session::Options options;
      options.thread_count = 2;
      options.allocator = &allocator;
      Result<Session> session = Session::create(program, options);
      created = session.ok();
      if (!created) CHECK(session.status().code() == kFerruleOutOfMemory);
    }
    CHECK(memory.live == 0);
  }
  CHECK(budget > 10);
}

TEST_CASE("cancel ends a run, and nothing else") {
  const Program program = open_test_program();
  // The pool's parallel_for cancels the run that uses it: its next instruction does not start.
  FerruleThreadPool pool{};
  pool.struct_size = sizeof(pool);
  FerruleSession* running = nullptr;
  pool.context = &running;
  pool.thread_count = 2;
  pool.parallel_for = [](void* context, uint32_t count, void (*body)(void*, uint32_t), void* body_context) {
    for (uint32_t i = 0; i < count; ++i) body(body_context, i);
    ferrule_session_cancel(*static_cast<FerruleSession**>(context));
  };
  Session::Options options;
  options.thread_pool = &pool;
  Result<Session> session = Session::create(program, options);
  REQUIRE(session.ok());
  running = session->c();
  Tensor loss;
  const Status status = session->run("train", {rows(2)}, {&loss});
  CHECK(status.code() == kFerruleCancelled);
  CHECK(session->info().state_complete == 1);  // before the first assignment
  CHECK(variable_w(*session) == std::vector<float>{1, 2, 3, 4});
  check_ok(session->run("train", {rows(1)}, {&loss}));
}

TEST_CASE("what a program holds") {
  const Program program = open_test_program();
  const FerruleProgramInfo info = program.info();
  CHECK(std::string(info.producer) == "runtime tests");
  CHECK(info.entry_count == 15);
  CHECK(info.variable_count == 3);
  CHECK(info.arena_bytes == 128);
  CHECK(info.scratch_bytes == 16);
  CHECK(std::string(program.target(0).name) == kTestTarget);
  CHECK(program.target(0).supported == 1);
  const uint32_t train = *program.find_entry("train");
  CHECK(program.entry(train).assigned_count == 1);
  CHECK(program.entry(train).peak_bytes == 128);
  CHECK(std::string(program.input(train, 0).shape_text) == "[batch, 4]");
  CHECK(program.input(train, 0).shape[0] == -1);
  CHECK(program.input(train, 0).shape[1] == 4);
  CHECK(std::string(program.output(train, 0).shape_text) == "[]");
  CHECK(program.dim(train, 0).max == 8);
  CHECK(program.entry(*program.find_entry("positive")).dim_count == 1);
  CHECK(program.entry(*program.find_entry("triangle")).dim_count == 0);
  CHECK(std::string(program.output(*program.find_entry("positive"), 0).shape_text) == "[count, 4]");
  const FerruleVariableInfo table = program.variable(*program.find_variable("weights"));
  CHECK(std::string(table.name) == "table");
  CHECK(table.assigned == 0);
  CHECK(table.byte_size == 24);
  REQUIRE(table.alias_count == 1);
  CHECK(std::string(table.aliases[0]) == "weights");
  Session::Options options;
  options.target = "x86-64-v9";
  CHECK_THAT(Session::create(program, options).status().message(), contains("x86-64-v9") && contains(kTestTarget));
}

}  // namespace
}  // namespace ferrule
