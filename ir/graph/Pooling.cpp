#include "ir/graph/Pooling.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

/// Checks the window attributes and gives the shape of the pooled result of an input with sizes `x`.
template <typename Adaptor>
static FailureOr<Dims> inferPooled(MaybeLocation location, StringRef op, Adaptor adaptor, ArrayRef<DimExpr> x) {
  if (failed(checkPresent(location, op, "kernel", adaptor.getKernelAttr())) ||
      failed(checkPresent(location, op, "strides", adaptor.getStridesAttr())) ||
      failed(checkPresent(location, op, "pads_begin", adaptor.getPadsBeginAttr())) ||
      failed(checkPresent(location, op, "pads_end", adaptor.getPadsEndAttr())))
    return failure();
  ArrayRef<int64_t> kernel = adaptor.getKernel(), strides = adaptor.getStrides();
  ArrayRef<int64_t> begin = adaptor.getPadsBegin(), end = adaptor.getPadsEnd();
  size_t rank = x.size() - 2;
  if (x.size() < 3 || kernel.size() != rank || strides.size() != rank || begin.size() != rank || end.size() != rank)
    return failInference(location, op,
                         "the input is " + describe(x) +
                             "; it must be [N, C, spatial...] with one entry of kernel, strides, "
                             "pads_begin and pads_end for each spatial axis");
  Dims result = {x[0], x[1]};
  for (size_t i = 0; i < rank; ++i) {
    if (kernel[i] < 1 || strides[i] < 1 || begin[i] < 0 || end[i] < 0 || begin[i] >= kernel[i] || end[i] >= kernel[i])
      return failInference(location, op,
                           "on axis " + Twine(i + 2) + " kernel = " + Twine(kernel[i]) +
                               ", stride = " + Twine(strides[i]) + ", pads = " + Twine(begin[i]) + " and " +
                               Twine(end[i]) + "; kernel and stride must be positive, pads below kernel");
    DimExpr room = x[i + 2] + DimExpr(begin[i]) + DimExpr(end[i]) - DimExpr(kernel[i]);
    if (room.getConstant().value_or(0) < 0)
      return failInference(location, op,
                           "the input is " + describe(x) + "; on axis " + Twine(i + 2) + " the kernel of " +
                               Twine(kernel[i]) + " is larger than the padded input");
    result.push_back(DimExpr::floorDiv(room, strides[i]) + 1);
  }
  return result;
}

template <typename Adaptor>
static LogicalResult inferForward(MaybeLocation location, StringRef op, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkKind(location, op, "x", x, ElementKind::Float)))
    return failure();
  FailureOr<Dims> pooled = inferPooled(location, op, adaptor, getDims(x));
  return failed(pooled) ? failure() : addType(location, op, getElementType(x), *pooled, types);
}

/// A pooling gradient has the shape of the input, and dy that of the pooled result.
template <typename Adaptor>
static LogicalResult inferBackward(MaybeLocation location, StringRef op, Adaptor adaptor, ArrayRef<DimExpr> x, Value dy,
                                   InferredTypes &types) {
  if (failed(checkKind(location, op, "dy", dy, ElementKind::Float)))
    return failure();
  FailureOr<Dims> pooled = inferPooled(location, op, adaptor, x);
  if (failed(pooled))
    return failure();
  if (getDims(dy) != *pooled)
    return failInference(location, op, "dy is " + describe(dy) + "; the pooled result is " + describe(*pooled));
  return addType(location, op, getElementType(dy), x, types);
}

LogicalResult MaxPoolOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferForward(location, "max_pool", adaptor, types);
}

LogicalResult AvgPoolOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferForward(location, "avg_pool", adaptor, types);
}

LogicalResult MaxPoolGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "max_pool_gradient";
  Value x = adaptor.getX(), dy = adaptor.getDy();
  if (getElementType(x) != getElementType(dy))
    return failInference(location, op,
                         "x is " + describe(x) + " and dy is " + describe(dy) + "; they must have one dtype");
  return inferBackward(location, op, adaptor, getDims(x), dy, types);
}

LogicalResult AvgPoolGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "avg_pool_gradient";
  if (failed(checkPresent(location, op, "input_shape", adaptor.getInputShapeAttr())))
    return failure();
  return inferBackward(location, op, adaptor, adaptor.getInputShape().getDims(), adaptor.getDy(), types);
}

LogicalResult MaxPoolOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<MaxPoolGradientOp>(getX(), cotangents[0], getKernelAttr(), getStridesAttr(),
                                             getPadsBeginAttr(), getPadsEndAttr());
  return success();
}

LogicalResult AvgPoolOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<AvgPoolGradientOp>(cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                             getPadsEndAttr(), getCountIncludePadAttr(),
                                             DimsAttr::get(getContext(), getDims(getX())));
  return success();
}

LogicalResult AvgPoolGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                               MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<AvgPoolOp>(cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                     getPadsEndAttr(), getCountIncludePadAttr());
  return success();
}

/// One operation for each (pooled element, window element).
static DimExpr countFlops(Value pooled, ArrayRef<int64_t> kernel) {
  DimExpr count = getElementCount(pooled);
  for (int64_t size : kernel)
    count = count * DimExpr(size);
  return count;
}
static DimExpr countPoolingFlops(MaxPoolOp op) { return countFlops(op.getResult(), op.getKernel()); }
static DimExpr countPoolingFlops(AvgPoolOp op) { return countFlops(op.getResult(), op.getKernel()); }
static DimExpr countPoolingFlops(MaxPoolGradientOp op) { return countFlops(op.getDy(), op.getKernel()); }
static DimExpr countPoolingFlops(AvgPoolGradientOp op) { return countFlops(op.getDy(), op.getKernel()); }

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Pooling.cpp.inc"

void mlir::ferrule::registerPoolingOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Pooling.cpp.inc"
      >();
}
