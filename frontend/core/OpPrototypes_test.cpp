//===- OpPrototypes_test.cpp - An op like one before is a copy of it ------===//

#include "frontend/core/TestSupport.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

struct PrototypesTest : RecordingFrontend {
  mlir::Operation *record(std::string op, llvm::ArrayRef<Operand> operands, llvm::ArrayRef<OpAttribute> attributes = {},
                          unsigned line = 12) {
    OpCall call = makeCall(std::move(op), operands, attributes);
    call.location.line = line;
    handles.push_back(llvm::cantFail(frontend.apply(call)).front());
    return mlir::Value::getFromOpaquePointer(handles.back()->getOpaqueValue()).getDefiningOp();
  }

  std::vector<TensorRef> handles;
};

bool areEquivalent(mlir::Operation *a, mlir::Operation *b) {
  return mlir::OperationEquivalence::isEquivalentTo(a, b, mlir::OperationEquivalence::IgnoreLocations);
}

OpAttribute pattern(std::vector<int64_t> axes) { return {"pattern", std::move(axes)}; }

} // namespace

TEST_CASE_METHOD(PrototypesTest, "a second op is like the first, with operands and a line of its own") {
  TensorRef x = zeros(DataType::Float32, {2, 3}), y = zeros(DataType::Float32, {2, 3});
  mlir::Operation *first = record("transpose", {x}, {pattern({1, 0})}, 12);
  mlir::Operation *second = record("transpose", {x}, {pattern({1, 0})}, 34);
  mlir::Operation *third = record("transpose", {y}, {pattern({1, 0})});
  CHECK(first != second);
  CHECK(areEquivalent(first, second));
  CHECK(first->getOperand(0) != third->getOperand(0));
  CHECK(llvm::cast<mlir::FileLineColLoc>(first->getLoc()).getLine() == 12);
  CHECK(llvm::cast<mlir::FileLineColLoc>(second->getLoc()).getLine() == 34);
  CHECK(mlir::succeeded(mlir::verify(second)));
}

TEST_CASE_METHOD(PrototypesTest, "other attributes, operand types or absent operands are other ops") {
  TensorRef x = zeros(DataType::Float32, {3, 3});
  mlir::Operation *turned = record("transpose", {x}, {pattern({1, 0})});
  mlir::Operation *same = record("transpose", {x}, {pattern({0, 1})});
  CHECK_FALSE(areEquivalent(turned, same));
  mlir::Operation *wide = record("transpose", {zeros(DataType::Float64, {3, 3})}, {pattern({1, 0})});
  CHECK(wide->getResult(0).getType() != turned->getResult(0).getType());
  llvm::SmallVector<OpAttribute> norm{
      {"axes", std::vector<int64_t>{1}}, {"param_axes", std::vector<int64_t>{1}}, {"eps", 1e-5}};
  TensorRef weight = zeros(DataType::Float32, {3});
  mlir::Operation *weighted = record("normalize", {x, weight, Absent()}, norm);
  mlir::Operation *shifted = record("normalize", {x, Absent(), weight}, norm);
  CHECK_FALSE(areEquivalent(weighted, shifted));
  CHECK(areEquivalent(shifted, record("normalize", {x, Absent(), weight}, norm)));
}

TEST_CASE_METHOD(PrototypesTest, "what a type rule refuses is refused each time") {
  TensorRef x = zeros(DataType::Float32, {2, 3});
  record("transpose", {x}, {pattern({1, 0})});
  for (int time = 0; time < 2; ++time)
    CHECK(applyError(frontend, "transpose", {x}, {pattern({1, 1})}).kind == ErrorKind::Shape);
  CHECK(areEquivalent(record("transpose", {x}, {pattern({1, 0})}), record("transpose", {x}, {pattern({1, 0})})));
}

TEST_CASE_METHOD(PrototypesTest, "more signatures than are kept change nothing") {
  TensorRef x = zeros(DataType::UInt8, {OpPrototypes::maximumCount + 2});
  auto slice = [&](int64_t stop) {
    return apply(frontend, "slice", {x},
                 {{"starts", Shape{DimExpr(0)}}, {"stops", Shape{DimExpr(stop)}}, {"steps", std::vector<int64_t>{1}}});
  };
  // Nobody keeps a handle, so that the flush of a long record has nothing to run.
  for (int64_t stop = 1; stop <= OpPrototypes::maximumCount + 1; ++stop)
    REQUIRE(toString(slice(stop)->getShape()) == "[" + std::to_string(stop) + "]");
  CHECK(toString(slice(1)->getShape()) == "[1]");
}
