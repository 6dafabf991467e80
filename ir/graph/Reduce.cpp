#include "ir/graph/Reduce.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

LogicalResult inferReduction(MaybeLocation location, StringRef op, Value x, DenseI64ArrayAttr axes, bool keepdims,
                             InferredTypes &types) {
  bool hasIdentity = op == "reduce_sum" || op == "reduce_prod";
  if (failed(checkKind(location, op, "x", x, hasIdentity ? ElementKind::Number : ElementKind::Any)) ||
      failed(checkPresent(location, op, "axes", axes)) || failed(checkAxes(location, op, "axes", axes, x)))
    return failure();
  Dims dims = getDims(x);
  for (int64_t axis : axes.asArrayRef())
    if (!hasIdentity && dims[axis] == DimExpr(0))
      return failInference(location, op, "x is " + describe(x) + "; axis " + Twine(axis) + " must not be empty");
  return addType(location, op, getElementType(x), removeAxes(dims, axes, keepdims), types);
}

LogicalResult inferArgReduction(MaybeLocation location, StringRef op, Value x, IntegerAttr axis, bool keepdims,
                                InferredTypes &types) {
  if (failed(checkPresent(location, op, "axis", axis)) || failed(checkAxes(location, op, "axis", axis.getInt(), x)))
    return failure();
  Dims dims = getDims(x);
  if (dims[axis.getInt()] == DimExpr(0))
    return failInference(location, op, "x is " + describe(x) + "; axis " + Twine(axis.getInt()) + " must not be empty");
  return addType(location, op, IntegerType::get(x.getContext(), 32), removeAxes(dims, axis.getInt(), keepdims), types);
}

/// Each factor's gradient is the product of all others: y / x where no factor is zero; where one is, the product of
/// the rest goes to it and the others get zero; where more are, all get zero.
LogicalResult ReduceProdOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value x = getX(), zero = b.like(x, 0.0), one = b.like(x, 1.0);
  Value isZero = b.equal(x, zero);
  Value nonZero = b.where(isZero, one, x);
  Value zeroCount = b.reduceSum(b.cast(isZero, getElementType(x)), getAxes());
  Value product = b.expandReduced(b.reduceProd(nonZero, getAxes()), x, getAxes());
  Value zeros = b.expandReduced(zeroCount, x, getAxes());
  Value ofZero = b.where(b.equal(zeros, one), product, zero);
  Value ofOther = b.where(b.equal(zeros, zero), b.div(product, nonZero), zero);
  gradients[0] = b.mul(b.expandReduced(cotangents[0], x, getAxes()), b.where(isZero, ofZero, ofOther));
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Reduce.cpp.inc"

void mlir::ferrule::registerReduceOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Reduce.cpp.inc"
      >();
}
