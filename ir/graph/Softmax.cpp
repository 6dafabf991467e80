#include "ir/graph/Softmax.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

LogicalResult inferSoftmax(MaybeLocation location, StringRef op, Value x, IntegerAttr axis, InferredTypes &types) {
  if (failed(checkKind(location, op, "x", x, ElementKind::Float)) || failed(checkPresent(location, op, "axis", axis)) ||
      failed(checkAxes(location, op, "axis", axis.getInt(), x)))
    return failure();
  types.push_back(x.getType());
  return success();
}

/// logits [R, C] of a float dtype and integer labels [R].
static LogicalResult checkRows(MaybeLocation location, StringRef op, Value logits, Value labels) {
  if (failed(checkKind(location, op, "logits", logits, ElementKind::Float)) ||
      failed(checkRank(location, op, "logits", logits, 2)) ||
      failed(checkKind(location, op, "labels", labels, ElementKind::Integer)) ||
      failed(checkRank(location, op, "labels", labels, 1)))
    return failure();
  if (getDims(logits)[0] != getDims(labels)[0])
    return failInference(location, op,
                         "logits is " + describe(logits) + " and labels is " + describe(labels) +
                             "; they must have the same number of rows");
  return success();
}

LogicalResult CrossEntropyRowsOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value logits = adaptor.getLogits();
  if (failed(checkRows(location, "cross_entropy_rows", logits, adaptor.getLabels())))
    return failure();
  return addType(location, "cross_entropy_rows", getElementType(logits), getDims(adaptor.getLabels()), types);
}

LogicalResult CrossEntropyRowsOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                                MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<CrossEntropyRowsGradientOp>(getLogits(), getLabels(), cotangents[0], getIgnoreIndexAttr(),
                                                      getLabelSmoothAttr());
  return success();
}

LogicalResult CrossEntropyRowsGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "cross_entropy_rows_gradient";
  Value logits = adaptor.getLogits(), g = adaptor.getG();
  if (failed(checkRows(location, op, logits, adaptor.getLabels())) || failed(checkRank(location, op, "g", g, 1)))
    return failure();
  if (getElementType(g) != getElementType(logits) || getDims(g)[0] != getDims(logits)[0])
    return failInference(location, op,
                         "logits is " + describe(logits) + " and g is " + describe(g) +
                             "; they must have one dtype and the same number of rows");
  types.push_back(logits.getType());
  return success();
}

/// With p = softmax(logits), h the cotangent and g +0 in ignored rows: dlogits = g * p * (h - sum(h * p)), and
/// dg = sum(h * (p - target)), the row's own gradient for g = 1.
LogicalResult CrossEntropyRowsGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                                        MutableArrayRef<Value> gradients) {
  Value logits = getLogits(), g = getG(), h = cotangents[0];
  Value p = b.create<SoftmaxOp>(logits.getType(), logits, /*axis=*/1).getY();
  Value mean = b.expandReduced(b.reduceSum(b.mul(h, p), {1}), logits, {1});
  Value counted = g;
  if (std::optional<int64_t> ignore = getIgnoreIndex())
    counted = b.where(b.equal(getLabels(), b.like(getLabels(), static_cast<double>(*ignore))), b.like(g, 0.0), g);
  gradients[0] = b.mul(b.expandReduced(counted, logits, {1}), b.mul(p, b.sub(h, mean)));
  Value unit = b.create<CrossEntropyRowsGradientOp>(logits, getLabels(), b.like(g, 1.0), getIgnoreIndexAttr(),
                                                    getLabelSmoothAttr());
  gradients[2] = b.reduceSum(b.mul(h, unit), {1});
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Softmax.cpp.inc"

void mlir::ferrule::registerSoftmaxOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Softmax.cpp.inc"
      >();
}
