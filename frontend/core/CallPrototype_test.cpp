//===- CallPrototype_test.cpp - A call like one before is a copy of it ----===//

#include "frontend/core/CallPrototype.h"
#include "frontend/core/TestSupport.h"

#include "mlir/IR/Verifier.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

struct CallTest : RecordingFrontend {
  LazyRecorder &recorder = frontend.getRecorder();

  TensorRef record(std::string op, llvm::ArrayRef<Operand> operands) {
    return frontend::apply(frontend, std::move(op), operands);
  }

  /// 2 * x + y
  TensorRef scaledSum(TensorRef x, TensorRef y) {
    return record("add", {record("mul", {x, Operand(Scalar(2.0))}), y});
  }

  std::unique_ptr<CallPrototype> take(llvm::function_ref<TensorRef()> call, llvm::ArrayRef<TensorRef> inputs) {
    RecordMark mark(recorder);
    last = call();
    return CallPrototype::take(recorder, mark, inputs, last);
  }

  TensorRef repeat(const CallPrototype &prototype, llvm::ArrayRef<TensorRef> inputs) {
    return llvm::cantFail(prototype.record(recorder, inputs, {{"again.py", 34}, {}})).front();
  }

  /// The ops that compute `tensor` from leaves, with the operands of the last one.
  static mlir::Operation *getOp(const TensorRef &tensor) {
    return mlir::Value::getFromOpaquePointer(tensor->getOpaqueValue()).getDefiningOp();
  }

  TensorRef last;
};

mlir::Value getLeaf(LazyRecorder &recorder, const TensorRef &tensor) {
  return llvm::cantFail(recorder.getValue(tensor, {}));
}

} // namespace

TEST_CASE_METHOD(CallTest, "a call is repeated for other inputs, at another line") {
  TensorRef x = zeros(DataType::Float32, {2, 3}), y = zeros(DataType::Float32, {2, 3});
  auto prototype = take([&] { return scaledSum(x, y); }, {x, y});
  REQUIRE(prototype);
  unsigned before = recorder.getPendingCount();
  TensorRef a = zeros(DataType::Float32, {2, 3}), b = zeros(DataType::Float32, {2, 3});
  TensorRef result = repeat(*prototype, {a, b});
  // The constant 2, its broadcast, the product and the sum.
  CHECK(recorder.getPendingCount() - before == 4);
  mlir::Operation *add = getOp(result), *mul = add->getOperand(0).getDefiningOp();
  CHECK(add->getOperand(1) == getLeaf(recorder, b));
  CHECK(mul->getOperand(0) == getLeaf(recorder, a));
  CHECK(mul->getOperand(1) != getOp(last)->getOperand(0).getDefiningOp()->getOperand(1));
  CHECK(llvm::cast<mlir::FileLineColLoc>(mul->getLoc()).getLine() == 34);
  CHECK(mlir::succeeded(mlir::verify(add)));
  CHECK(mlir::succeeded(mlir::verify(mul)));
  CHECK(toString(result->getShape()) == "[2, 3]");
  CHECK(result->isPending());
}

TEST_CASE_METHOD(CallTest, "it outlives the record that it was taken from") {
  TensorRef x = zeros(DataType::Float32, {3});
  auto prototype = take([&] { return record("exp", {record("neg", {x})}); }, {x});
  REQUIRE(prototype);
  recorder.flush();
  TensorRef pending = record("abs", {x});
  TensorRef result = repeat(*prototype, {pending});
  CHECK(getOp(result)->getOperand(0).getDefiningOp()->getOperand(0) == getOp(pending)->getResult(0));
}

TEST_CASE_METHOD(CallTest, "arrays that the call made are constants of it") {
  TensorRef x = zeros(DataType::Float32, {3});
  TensorRef table;
  auto prototype = take(
      [&] {
        table = zeros(DataType::Float32, {3});
        return record("add", {x, table});
      },
      {x});
  REQUIRE(prototype);
  recorder.flush();
  TensorRef result = repeat(*prototype, {zeros(DataType::Float32, {3})});
  CHECK(getOp(result)->getOperand(1) == getLeaf(recorder, table));
}

TEST_CASE_METHOD(CallTest, "a result that is an input is that input") {
  TensorRef x = zeros(DataType::Float32, {3}), other = zeros(DataType::Float32, {3});
  auto prototype = take([&] { return x; }, {x});
  REQUIRE(prototype);
  CHECK(repeat(*prototype, {other}) == other);
}

TEST_CASE_METHOD(CallTest, "what cannot be repeated is not taken") {
  TensorRef x = zeros(DataType::Float32, {3}), y = zeros(DataType::Float32, {3});
  SECTION("it reads what was computed before") {
    TensorRef before = record("exp", {y});
    CHECK_FALSE(take([&] { return record("add", {x, before}); }, {x}));
  }
  SECTION("two of its inputs are one value") {
    TensorRef z = record("exp", {x});
    TensorRef alias = recorder.wrap(getOp(z)->getResult(0), {});
    CHECK_FALSE(take([&] { return record("add", {z, alias}); }, {z, alias}));
  }
  SECTION("the record was run meanwhile") {
    CHECK_FALSE(take(
        [&] {
          record("exp", {x});
          recorder.flush();
          return record("neg", {x});
        },
        {x}));
  }
  SECTION("it returns an array that it made") {
    CHECK_FALSE(take([&] { return zeros(DataType::Float32, {3}); }, {x}));
  }
  SECTION("its arrays are large") {
    auto size = int64_t(CallPrototype::maximumConstantBytes) + 1;
    CHECK_FALSE(take([&] { return record("logical_not", {zeros(DataType::Bool, {size})}); }, {x}));
  }
  SECTION("it has too many ops") {
    CHECK_FALSE(take(
        [&] {
          TensorRef value = x;
          for (size_t count = 0; count <= CallPrototype::maximumOps; ++count)
            value = record("neg", {value});
          return value;
        },
        {x}));
  }
}

TEST_CASE_METHOD(CallTest, "an input that has failed fails the call at its line") {
  TensorRef x = zeros(DataType::Float32, {3});
  auto prototype = take([&] { return record("exp", {x}); }, {x});
  REQUIRE(prototype);
  recorder.flush(); // The test's compiler refuses.
  auto results = prototype->record(recorder, last, {{"again.py", 34}, {}});
  REQUIRE_FALSE(bool(results));
  CHECK(takeErrorText(results.takeError()).message == "not compiled in this test; its result is used, at again.py:34");
}
