#include "passes/fuse/OpKinds.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Elementwise.h"
#include "ir/graph/Nonzero.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::ferrule;

LoweringKind mlir::ferrule::getKind(Operation *op) { return cast<FerruleOpInterface>(op).getLoweringKind(); }

bool mlir::ferrule::isElementwise(Operation *op) { return getKind(op) == LoweringKind::Elementwise; }

bool mlir::ferrule::isView(Operation *op) { return isa<TransposeOp, BroadcastToOp, SliceOp, ConcatOp>(op); }

bool mlir::ferrule::readsAcrossRows(Operation *op) {
  auto transpose = dyn_cast<TransposeOp>(op);
  return transpose && transpose.getPattern().back() + 1 != int64_t(transpose.getPattern().size());
}

bool mlir::ferrule::isFree(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  return isa<DimOp, IotaOp>(op);
}

bool mlir::ferrule::isCheap(Operation *op) {
  return isa<AddOp, SubOp, MulOp, FmaOp, NegOp, AbsOp, MaximumOp, MinimumOp, ReluOp, WhereOp, CastOp, EqualOp,
             NotEqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, LogicalAndOp, LogicalOrOp, LogicalXorOp,
             LogicalNotOp>(op);
}

bool mlir::ferrule::isOutside(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return !isa<SplatElementsAttr>(constant.getValue());
  return isa<ReadOp, AssignOp, ReshapeOp, YieldOp, func::ReturnOp>(op) || isControlFlow(op);
}

bool mlir::ferrule::loadsElements(Operation *op) {
  LoweringKind kind = getKind(op);
  return kind == LoweringKind::Elementwise || kind == LoweringKind::Reduction || kind == LoweringKind::Moments ||
         kind == LoweringKind::ArgReduction || op->getName().getStringRef() == "ferrule.softmax" ||
         op->getName().getStringRef() == "ferrule.log_softmax";
}

bool mlir::ferrule::storesElements(Operation *op) {
  switch (getKind(op)) {
  case LoweringKind::Elementwise:
  case LoweringKind::Reduction:
  case LoweringKind::Moments:
  case LoweringKind::ArgReduction:
  case LoweringKind::Contraction:
  case LoweringKind::Convolution:
  case LoweringKind::ConvolutionInputGradient:
  case LoweringKind::ConvolutionWeightGradient:
  case LoweringKind::Pooling:
    return true;
  case LoweringKind::Rows:
    return loadsElements(op);
  default:
    return false;
  }
}
