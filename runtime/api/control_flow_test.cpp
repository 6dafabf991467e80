// Entries with blocks in blocks, through the C++ wrapper: results, what is refused while running, cancelling.
#include "runtime/api/session_test_support.h"

namespace ferrule {
namespace {

using namespace runtime::testing;

template <typename T>
Tensor scalar(T value) {
  return Tensor::copy_of<T>({}, &value);
}

template <typename T>
T only(const Tensor& tensor) {
  REQUIRE(tensor.is<T>());
  REQUIRE(tensor.element_count() == 1);
  return *tensor.data<T>();
}

// 2 y + w, `times` times, on the values of rows(batch).
std::vector<float> affine(int64_t batch, int times) {
  std::vector<float> values = floats(rows(batch));
  for (int time = 0; time < times; ++time)
    for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * values[i] + static_cast<float>(1 + i % 4);
  return values;
}

}  // namespace

TEST_CASE("a while runs until its condition is zero, which may be at once") {
  const Program program = open_test_program();
  for (uint32_t threads : {1u, 3u}) {
    Session session = create_session(program, threads);
    Tensor y, steps;
    for (const int32_t n : {3, 0, 1, -4, 12}) {
      check_ok(session.run("repeat", {rows(5), scalar(n)}, {&y, &steps}));
      const int32_t times = n < 0 ? 0 : n;
      CHECK(only<int32_t>(steps) == times);
      CHECK(floats(y) == affine(5, times));
    }
  }
}

TEST_CASE("an if runs one of its blocks") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor y;
  for (const bool flag : {true, false, true}) {
    check_ok(session.run("choose", {rows(3), scalar(flag)}, {&y}));
    CHECK(floats(y) == affine(3, flag ? 2 : 0));
  }
}

TEST_CASE("a loop addresses the step that it is at") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor y;
  for (const int64_t batch : {4, 1, 8, 2}) {
    check_ok(session.run("scan", {rows(batch)}, {&y}));
    std::vector<float> wanted(static_cast<size_t>(4 * batch));
    for (int64_t i = 4 * batch; i-- > 0;) {
      const auto at = static_cast<size_t>(i);
      wanted[at] = 2 * static_cast<float>(i) + (at + 4 < wanted.size() ? wanted[at + 4] : 0);
    }
    CHECK(floats(y) == wanted);
  }
}

TEST_CASE("loops in loops: the inner count depends on the outer step, the outer on a value that was read") {
  const Program program = open_test_program();
  Session session = create_session(program);
  Tensor counter;
  for (const int64_t m : {9, 2, 3, 7}) {
    check_ok(session.run("triangle", {scalar(m)}, {&counter}));
    CHECK(only<int32_t>(counter) == (m - 2) * (m - 1) / 2);
  }
  const Status negative = session.run("triangle", {scalar(int64_t{1})}, {&counter});
  CHECK(negative.code() == kFerruleInvalidArgument);
  CHECK_THAT(negative.message(),
             contains("triangle") && contains("the loop over 'i' runs -1 times; allowed is 0 to 8"));
  for (const int64_t m : {int64_t{10}, int64_t{0}, INT64_MIN, INT64_MAX}) {
    const Status status = session.run("triangle", {scalar(m)}, {&counter});
    CHECK(status.code() == kFerruleKernelError);
    CHECK_THAT(status.message(),
               contains("the dim 'm' is " + std::to_string(m) + "; allowed is 1 to 9") && contains("(at model.py:12)"));
  }
  check_ok(session.run("triangle", {scalar(int64_t{4})}, {&counter}));
  CHECK(only<int32_t>(counter) == 3);
}

TEST_CASE("a kernel that fails in a loop names the line and the element") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor checked;
  check_ok(session.run("check_each", {indices({9, 0, 3})}, {&checked}));
  CHECK(checked.data<int32_t>()[2] == 3);
  const Status status = session.run("check_each", {indices({1, 2, 33, 44})}, {&checked});
  CHECK(status.code() == kFerruleKernelError);
  CHECK_THAT(status.message(), contains("check_each") && contains("model.py:12") && contains("index 33"));
}

TEST_CASE("the first bad element is named in each turn of a loop, in whichever order a turn runs its tiles") {
  const Program program = open_test_program();
  for (uint32_t threads : {1u, 2u, 3u}) {
    Session session = create_session(program, threads);
    Tensor checked;
    const auto error_of = [&](const std::vector<int32_t>& values) {
      const Status status = session.run("check_halves", {indices(values)}, {&checked});
      CHECK(status.code() == kFerruleKernelError);
      return std::string(status.message());
    };
    CHECK_THAT(error_of({1, 20, 30, 3, 40, 5, 6, 7}), contains("index 20") && contains("position 1"));
    CHECK_THAT(error_of({1, 2, 3, 4, 5, 60, 70, 80}), contains("index 60") && contains("position 1"));
    CHECK_THAT(error_of({1, 2, 3, 4, 50, 60, 7, 80}), contains("index 50") && contains("position 0"));
    check_ok(session.run("check_halves", {indices({1, 2, 3, 4, 5, 6, 7, 8})}, {&checked}));
    CHECK(checked.data<int32_t>()[7] == 8);
  }
}

TEST_CASE("an output has the size that the run found out") {
  const Program program = open_test_program();
  Session session = create_session(program, 2);
  Tensor selected, count;
  // The first elements are -12, -8, ...: of 8 rows the last four are positive.
  for (const int64_t batch : {8, 4, 6, 1}) {
    check_ok(session.run("positive", {rows(batch, -12)}, {&selected, &count}));
    const int64_t positive = batch > 4 ? batch - 4 : 0;
    CHECK(only<int64_t>(count) == positive);
    CHECK(selected.shape() == std::vector<int64_t>{positive, 4});
    std::vector<float> wanted;
    for (int64_t i = 0; i < 4 * positive; ++i)
      wanted.push_back(2 * static_cast<float>(4 + i) + 1 + static_cast<float>(i % 4));
    CHECK(floats(selected) == wanted);
  }
}

TEST_CASE("before the run an output is as large as it can be, after it as large as it is; a view is too") {
  const Program program = open_test_program();
  Session session = create_session(program);
  const Tensor x = rows(6, -12);
  const FerruleTensor input = TensorView(x).c();
  FerruleTensor outputs[2] = {};
  for (FerruleTensor& output : outputs) output.struct_size = sizeof(output);
  for (int round = 0; round < 2; ++round) {
    check_ok(Status(ferrule_session_output_shapes(session.c(), "positive", &input, 1, outputs, 2)));
    CHECK(outputs[0].shape[0] == 6);
    CHECK(outputs[0].byte_size == 96);
    outputs[0].data = outputs[1].data = nullptr;
    check_ok(Status(ferrule_session_run(session.c(), "positive", &input, 1, outputs, 2)));
    CHECK(outputs[0].shape[0] == 2);
    CHECK(outputs[0].byte_size == 32);
    CHECK(static_cast<float*>(outputs[0].data)[7] == 2 * 11 + 4);
  }
  float small[8];
  outputs[0].data = small;
  outputs[0].byte_size = sizeof(small);
  CHECK_THAT(Status(ferrule_session_run(session.c(), "positive", &input, 1, outputs, 2)).message(),
             contains("32 bytes") && contains("96"));
}

TEST_CASE("cancel ends a loop") {
  const Program program = open_test_program();
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
  Tensor y, steps;
  CHECK(session->run("repeat", {rows(5), scalar(INT32_MAX)}, {&y, &steps}).code() == kFerruleCancelled);
}

}  // namespace ferrule
