//===- IndexMap_test.cpp - Where a computed element lies ------------------===//

#include "codegen/common/IndexMap.h"

#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// A function with one argument of the given shape, whose body the tests fill with views.
struct Graph {
  explicit Graph(ArrayRef<DimExpr> dims) : builder(&context), b(builder, UnknownLoc::get(&context)) {
    context.loadDialect<FerruleDialect, func::FuncDialect>();
    module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToStart(module->getBody());
    Type type = makeTensorType(builder.getF32Type(), dims);
    auto function = func::FuncOp::create(builder, module->getLoc(), "f", builder.getFunctionType({type}, {}));
    x = function.addEntryBlock()->getArgument(0);
    builder.setInsertionPointToStart(&function.getBody().front());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  GraphBuilder b;
  Value x;
};

AffineIndex getOffsetThrough(Value view) {
  ElementIndex index = getIdentityIndex(getDims(view).size());
  Operation *op = view.getDefiningOp();
  return getElementOffset(getDims(op->getOperand(0)), mapThroughView(op, index));
}

} // namespace

TEST_CASE("a transpose permutes strides") {
  Graph graph({2, 3, 5}); // Strides 15, 5, 1.
  AffineIndex offset = getOffsetThrough(graph.b.transpose(graph.x, {2, 0, 1}));
  CHECK(offset.getCoefficient(0) == DimExpr(1));
  CHECK(offset.getCoefficient(1) == DimExpr(15));
  CHECK(offset.getCoefficient(2) == DimExpr(5));
}

TEST_CASE("a broadcast reads stretched axes at stride zero") {
  Graph graph({3, 1});
  AffineIndex offset = getOffsetThrough(graph.b.broadcastTo(graph.x, {4, 3, 5}));
  CHECK(offset.getCoefficient(0) == DimExpr(0));
  CHECK(offset.getCoefficient(1) == DimExpr(1));
  CHECK(offset.getCoefficient(2) == DimExpr(0));
}

TEST_CASE("a slice adds its start and scales by its step") {
  Graph graph({10, 4});
  AffineIndex offset = getOffsetThrough(graph.b.slice(graph.x, {9, 1}, {-1, 4}, {-3, 2})); // Rows 9, 6, 3, 0.
  CHECK(offset.offset == DimExpr(9 * 4 + 1));
  CHECK(offset.getCoefficient(0) == DimExpr(-12));
  CHECK(offset.getCoefficient(1) == DimExpr(2));
}

TEST_CASE("symbolic sizes give symbolic strides") {
  DimExpr batch = DimExpr::dim("batch");
  Graph graph({3, batch});
  AffineIndex offset = getOffsetThrough(graph.b.transpose(graph.x, {1, 0}));
  CHECK(offset.getCoefficient(0) == DimExpr(1));
  CHECK(offset.getCoefficient(1) == batch);
}

TEST_CASE("neighbours merge where every access runs on") {
  Dims sizes{4, 3, 5};
  AffineIndex contiguous = getElementOffset(sizes, getIdentityIndex(3));
  AffineIndex lastAxisOnly; // A vector of 5, repeated along the first two.
  lastAxisOnly.addScaled(AffineIndex::variable(2), DimExpr(1));

  SECTION("all contiguous: one run") {
    SmallVector<VariableRun> runs = mergeVariables({0, 1, 2}, sizes, {contiguous, contiguous});
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].size == DimExpr(60));
  }
  SECTION("a vector along the last axis keeps it apart") {
    SmallVector<VariableRun> runs = mergeVariables({0, 1, 2}, sizes, {contiguous, lastAxisOnly});
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].size == DimExpr(12));
    CHECK(runs[1].size == DimExpr(5));
  }
  SECTION("sizes of one disappear") {
    SmallVector<VariableRun> runs = mergeVariables({0, 1}, {1, 7}, {});
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].first == 1);
  }
  SECTION("one element has no run") { CHECK(mergeVariables({}, {}, {}).empty()); }
}
