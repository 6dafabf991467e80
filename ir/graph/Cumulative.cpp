#include "ir/graph/Cumulative.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Indexing.h"

namespace mlir::ferrule {

static LogicalResult checkRun(MaybeLocation location, StringRef op, Value x, IntegerAttr axis, ElementKind kind) {
  if (failed(checkKind(location, op, "x", x, kind)) || failed(checkPresent(location, op, "axis", axis)) ||
      failed(checkAxes(location, op, "axis", axis.getInt(), x)))
    return failure();
  Type element = getElementType(x);
  if (element.isF32() || element.isF64() || element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return success();
  return failInference(location, op, "x is " + describe(x) + "; it must be float32, float64, int32 or int64");
}

template <typename Adaptor>
static LogicalResult inferRun(MaybeLocation location, StringRef op, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkRun(location, op, x, adaptor.getAxisAttr(), ElementKind::Number)))
    return failure();
  return addType(location, op, getElementType(x), getDims(x), types);
}

LogicalResult CumsumOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRun(location, "cumsum", adaptor, types);
}
LogicalResult CumprodOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRun(location, "cumprod", adaptor, types);
}
LogicalResult CummaxOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRun(location, "cummax", adaptor, types);
}
LogicalResult CumminOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRun(location, "cummin", adaptor, types);
}

template <typename Adaptor>
static LogicalResult inferRunIndex(MaybeLocation location, StringRef op, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkRun(location, op, x, adaptor.getAxisAttr(), ElementKind::Number)))
    return failure();
  return addType(location, op, IntegerType::get(x.getContext(), 32), getDims(x), types);
}

LogicalResult CumargmaxOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRunIndex(location, "cumargmax", adaptor, types);
}
LogicalResult CumargminOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferRunIndex(location, "cumargmin", adaptor, types);
}

LogicalResult LinearRecurrenceOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "linear_recurrence";
  Value a = adaptor.getA();
  if (failed(checkRun(location, op, a, adaptor.getAxisAttr(), ElementKind::Float)) ||
      failed(checkSameType(location, op, "a", a, "b", adaptor.getB())))
    return failure();
  if (adaptor.getExclusive() && adaptor.getLagged())
    return failInference(location, op, "exclusive and lagged are both set; at most one may be");
  return addType(location, op, getElementType(a), getDims(a), types);
}

//===------------------------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult CumsumOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<CumsumOp>(cotangents[0], getAxis(), !getReverse(), getExclusive());
  return success();
}

/// dx[k] = (product of the factors before k) * s[k], where s gathers from the end what stands after k:
/// s[k] = g[k] + x[k + 1] * s[k + 1] (exclusive: s[k] = g[k + 1] + x[k + 1] * s[k + 1]). Nothing is divided, so zeros
/// need no case of their own.
LogicalResult CumprodOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value before = b.create<CumprodOp>(getX(), getAxis(), getReverse(), /*exclusive=*/true);
  Value after = b.create<LinearRecurrenceOp>(getX(), cotangents[0], getAxis(), !getReverse(),
                                             /*exclusive=*/getExclusive(), /*lagged=*/!getExclusive());
  gradients[0] = b.mul(before, after);
  return success();
}

/// Each element gets the gradients of all results that are it.
static Value addToOrigins(GraphBuilder &b, Value index, Value g, int64_t axis) {
  return b.create<ScatterAddOp>(b.like(g, 0.0), index, g, axis);
}

LogicalResult CummaxOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = addToOrigins(b, b.create<CumargmaxOp>(getX(), getAxis()), cotangents[0], getAxis());
  return success();
}

LogicalResult CumminOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = addToOrigins(b, b.create<CumargminOp>(getX(), getAxis()), cotangents[0], getAxis());
  return success();
}

/// With t[k] the gradient that reaches y[k]: db = t and da[k] = t[k] * y[k - 1]. t is the same recurrence from the other
/// end, and its factor is then the one of the step before.
LogicalResult LinearRecurrenceOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                                MutableArrayRef<Value> gradients) {
  Value g = cotangents[0], a = getA();
  bool back = !getReverse();
  auto run = [&](Value addend, bool reverse, bool exclusive, bool lagged) -> Value {
    return b.create<LinearRecurrenceOp>(a, addend, getAxis(), reverse, exclusive, lagged);
  };
  if (getLagged()) { // y[k] = b[k] + a[k - 1] y[k - 1], so da[k] = t[k + 1] * y[k].
    gradients[1] = run(g, back, false, false);
    gradients[0] = b.mul(run(g, back, true, false), getY());
    return success();
  }
  if (getExclusive()) { // The result is y[k - 1] itself.
    Value t = run(g, back, true, false);
    gradients[1] = t;
    gradients[0] = b.mul(t, getY());
    return success();
  }
  Value t = run(g, back, false, true);
  gradients[1] = t;
  gradients[0] = b.mul(t, run(getB(), getReverse(), true, false));
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Kernels
//===------------------------------------------------------------------------------------------------------------===//

/// The axis splits the shape into [outer, n, inner]; a tile is 16 columns of one outer index.
static LibraryCall describeRun(StringRef stem, Value x, int64_t axis) {
  Dims all = getDims(x);
  ArrayRef<DimExpr> dims(all);
  LibraryCall call;
  call.stem = stem.str();
  call.element = getElementType(x);
  DimExpr outer = getElementCount(dims.take_front(axis)), inner = getElementCount(dims.drop_front(axis + 1));
  call.sizes = {outer, dims[axis], inner};
  call.tiles = outer * DimExpr::ceilDiv(inner, 16);
  return call;
}

LibraryCall CumsumOp::getLibraryCall() {
  LibraryCall call = describeRun("cumsum", getX(), getAxis());
  call.sizes.append({DimExpr(getReverse()), DimExpr(getExclusive())});
  return call;
}
LibraryCall CumprodOp::getLibraryCall() {
  LibraryCall call = describeRun("cumprod", getX(), getAxis());
  call.sizes.append({DimExpr(getReverse()), DimExpr(getExclusive())});
  return call;
}
LibraryCall CummaxOp::getLibraryCall() { return describeRun("cummax", getX(), getAxis()); }
LibraryCall CumminOp::getLibraryCall() { return describeRun("cummin", getX(), getAxis()); }
LibraryCall CumargmaxOp::getLibraryCall() { return describeRun("cumargmax", getX(), getAxis()); }
LibraryCall CumargminOp::getLibraryCall() { return describeRun("cumargmin", getX(), getAxis()); }

LibraryCall LinearRecurrenceOp::getLibraryCall() {
  LibraryCall call = describeRun("linear_recurrence", getA(), getAxis());
  call.sizes.append({DimExpr(getReverse()), DimExpr(getExclusive()), DimExpr(getLagged())});
  return call;
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Cumulative.cpp.inc"

void mlir::ferrule::registerCumulativeOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Cumulative.cpp.inc"
      >();
}
