//===- LazyRecorder_test.cpp - What a flush cuts out and compiles ---------===//

#include "frontend/core/Slice.h"
#include "frontend/core/StructureKey.h"
#include "frontend/core/TestSupport.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

struct LazyTest : RecordingFrontend {
  /// Flushes (the test's compiler refuses) and returns what would have run.
  std::string flush() {
    frontend.getRecorder().flush();
    return modules.empty() ? std::string() : modules.back();
  }
  llvm::SmallVector<TensorRef, 8> gradient(TensorRef cost, std::vector<TensorRef> inputs) {
    GradientCall call;
    call.cost = std::move(cost);
    call.inputs.assign(inputs.begin(), inputs.end());
    return llvm::cantFail(frontend.gradient(call));
  }
};

} // namespace

TEST_CASE_METHOD(LazyTest, "a flush holds what living handles wait for") {
  TensorRef x = zeros(DataType::Float32, {3});
  TensorRef kept = frontend::apply(frontend, "exp", {x});
  frontend::apply(frontend, "log", {x});
  CHECK(frontend.getRecorder().getPendingCount() == 2);
  CHECK(flush() == R"(module {
  func.func @main(%arg0: tensor<3xf32> {ferrule.name = "in.0"}) -> (tensor<3xf32> {ferrule.name = "out.0"}) attributes {ferrule.signature = "{}"} {
    %0 = ferrule.exp %arg0 : (tensor<3xf32>) -> tensor<3xf32>
    return %0 : tensor<3xf32>
  }
}
)");
}

TEST_CASE_METHOD(LazyTest, "a flush that nobody waits for compiles nothing") {
  frontend::apply(frontend, "exp", {zeros(DataType::Float32, {3})});
  CHECK(flush().empty());
  CHECK(frontend.getRecorder().getPendingCount() == 0);
}

TEST_CASE_METHOD(LazyTest, "the key of a fragment is its structure") {
  auto record = [&](int64_t size, const char *op) {
    TensorRef y = frontend::apply(frontend, op, {zeros(DataType::Float32, {size})});
    mlir::Operation *defining = mlir::Value::getFromOpaquePointer(y->getOpaqueValue()).getDefiningOp();
    auto value = defining->getResult(0);
    Slice slice = cutSlice(*defining->getBlock(), {value}, [](mlir::Value v) { return v.getDefiningOp() == nullptr; });
    return getStructureKey(*slice.module);
  };
  StructureKey first = record(3, "exp");
  CHECK(first == record(3, "exp"));
  CHECK(first != record(4, "exp"));
  CHECK(first != record(3, "log"));
}

TEST_CASE_METHOD(LazyTest, "what fails is tried in parts, and keeps its error") {
  TensorRef x = zeros(DataType::Float32, {3});
  TensorRef a = frontend::apply(frontend, "exp", {x}), b = frontend::apply(frontend, "log", {x});
  TensorRef afterB = frontend::apply(frontend, "neg", {b});
  flush();
  // All three, a alone, b and what depends on it, b alone; that depends on it fails with it.
  CHECK(modules.size() == 4);
  for (const TensorRef &tensor : {a, b, afterB}) {
    REQUIRE(tensor->hasFailed());
    CHECK_FALSE(tensor->isPending());
    CHECK(tensor->getFailure()->message == "not compiled in this test");
  }
  ErrorText used = applyError(frontend, "exp", {b});
  CHECK(used.message == "not compiled in this test; its result is used, at net.py:12, in module net.conv1");
  CHECK(used.kind == ErrorKind::Unsupported);
  flush();
  CHECK(modules.size() == 4);
}

TEST_CASE_METHOD(LazyTest, "two inputs with the same elements stay two inputs") {
  TensorRef a = zeros(DataType::Float32, {3});
  auto b = std::make_shared<Tensor>(a->getType(), a->getShape(), a->getBuffer());
  TensorRef sum = frontend::apply(frontend, "add", {a, b});
  CHECK_THAT(flush(), Catch::Contains("ferrule.add %arg0, %arg1"));
}

TEST_CASE_METHOD(LazyTest, "the gradient of a cost that ran outside any scope "
                           "is refused") {
  TensorRef x = zeros(DataType::Float32, {});
  GradientCall call;
  call.cost = zeros(DataType::Float32, {});
  call.inputs = {x};
  auto gradients = frontend.gradient(call);
  REQUIRE_FALSE(bool(gradients));
  CHECK_THAT(takeErrorText(gradients.takeError()).message, Catch::Contains("outside a gradient scope"));
}

TEST_CASE("a gradient sees forward ops whose results are concrete") {
  RecordingFrontend test;
  Frontend &frontend = test.frontend;
  TensorRef x = zeros(DataType::Float32, {3});
  TensorRef y = apply(frontend, "exp", {x});
  TensorRef scaled = apply(frontend, "mul", {y, Scalar(2.0)});
  TensorRef cost = apply(frontend, "reduce_sum", {scaled}, {{"axes", std::vector<int64_t>{0}}});
  GradientCall call;
  call.cost = cost;
  call.inputs = {x};
  TensorRef gradient = llvm::cantFail(frontend.gradient(call)).front();
  TensorRef reader = apply(frontend, "neg", {y});

  auto value = [](const TensorRef &tensor) { return mlir::Value::getFromOpaquePointer(tensor->getOpaqueValue()); };
  // As after a flush that has run exp, but nothing behind it.
  mlir::Value exponential = value(y);
  Slice slice = cutSlice(*exponential.getParentBlock(), {value(gradient), value(reader)},
                         [&](mlir::Value v) { return !v.getDefiningOp() || v == exponential; });
  std::string text;
  llvm::raw_string_ostream os(text);
  slice.module->print(os);
  // The copy of exp feeds the gradient's path and is marked with the argument
  // that holds its elements; neg reads that argument.
  CHECK_THAT(text, Catch::Contains("ferrule.exp %arg0 {ferrule.materialized = "
                                   "array<i64: 1>}"));
  CHECK_THAT(text, Catch::Contains("ferrule.mul %0, "));
  CHECK_THAT(text, Catch::Contains("ferrule.neg %arg1"));
  CHECK(slice.inputs.size() == 2);
  CHECK(slice.inputs[1] == exponential);
}
