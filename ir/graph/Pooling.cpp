#include "ir/graph/Pooling.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

/// The size of one pooled axis of `size` positions.
template <typename Adaptor>
static FailureOr<DimExpr> inferPooledAxis(MaybeLocation location, StringRef op, Adaptor adaptor, const Dims &x,
                                          size_t axis) {
  ArrayRef<int64_t> kernels = *adaptor.getKernel(), dilations = adaptor.getDilations().value_or(ArrayRef<int64_t>());
  int64_t kernel = kernels[axis], stride = (*adaptor.getStrides())[axis];
  int64_t begin = (*adaptor.getPadsBegin())[axis], end = (*adaptor.getPadsEnd())[axis];
  int64_t dilation = dilations.empty() ? 1 : dilations[axis];
  int64_t reach = (kernel - 1) * dilation + 1;
  if (kernel < 1 || stride < 1 || dilation < 1 || begin < 0 || end < 0 || begin >= reach || end >= reach)
    return failInference(location, op,
                         "on axis " + Twine(axis + 2) + " kernel = " + Twine(kernel) + ", stride = " + Twine(stride) +
                             ", dilation = " + Twine(dilation) + ", pads = " + Twine(begin) + " and " + Twine(end) +
                             "; kernel, stride and dilation must be positive, pads below the dilated kernel of " +
                             Twine(reach));
  DimExpr room = x[axis + 2] + DimExpr(begin) + DimExpr(end) - DimExpr(reach);
  if (room.getConstant().value_or(0) < 0)
    return failInference(location, op,
                         "the input is " + describe(x) + "; on axis " + Twine(axis + 2) + " the dilated kernel of " +
                             Twine(reach) + " is larger than the padded input of " + (room + DimExpr(reach)).str());
  return DimExpr::floorDiv(room, stride) + 1;
}

/// Checks the window attributes and gives the shape of the pooled result of an input with sizes `x`.
template <typename Adaptor>
static FailureOr<Dims> inferPooled(MaybeLocation location, StringRef op, Adaptor adaptor, ArrayRef<DimExpr> sizes) {
  Dims x(sizes);
  size_t rank = x.size() < 3 ? 0 : x.size() - 2;
  auto fits = [&](std::optional<ArrayRef<int64_t>> values) { return values && values->size() == rank; };
  if (std::optional<ArrayRef<int64_t>> outputs = adaptor.getOutputSizes()) {
    bool others = adaptor.getKernel() || adaptor.getStrides() || adaptor.getPadsBegin() || adaptor.getPadsEnd() ||
                  adaptor.getDilations();
    if (rank == 0 || !fits(outputs) || others || llvm::any_of(*outputs, [](int64_t size) { return size < 1; }))
      return failInference(location, op,
                           "the input is " + describe(x) +
                               "; output_sizes has one positive entry for each spatial axis of [N, C, spatial...], and "
                               "excludes kernel, strides, pads and dilations");
    Dims result = {x[0], x[1]};
    for (auto [axis, size] : llvm::enumerate(*outputs)) {
      if (x[axis + 2] == DimExpr(0))
        return failInference(location, op, "the input is " + describe(x) + "; a window needs an element");
      result.push_back(DimExpr(size));
    }
    return result;
  }
  if (rank == 0 || !fits(adaptor.getKernel()) || !fits(adaptor.getStrides()) || !fits(adaptor.getPadsBegin()) ||
      !fits(adaptor.getPadsEnd()) || (adaptor.getDilations() && !fits(adaptor.getDilations())))
    return failInference(location, op,
                         "the input is " + describe(x) +
                             "; it must be [N, C, spatial...] with one entry of kernel, strides, "
                             "pads_begin and pads_end for each spatial axis");
  Dims result = {x[0], x[1]};
  for (size_t axis = 0; axis < rank; ++axis) {
    FailureOr<DimExpr> size = inferPooledAxis(location, op, adaptor, x, axis);
    if (failed(size))
      return failure();
    result.push_back(*size);
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

/// The two operands of a max pool's companion have one dtype.
static LogicalResult checkSameElement(MaybeLocation location, StringRef op, Value x, StringRef name, Value other) {
  if (getElementType(x) == getElementType(other))
    return success();
  return failInference(location, op,
                       "x is " + describe(x) + " and " + name + " is " + describe(other) +
                           "; they must have one dtype");
}

LogicalResult MaxPoolGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "max_pool_gradient";
  Value x = adaptor.getX(), dy = adaptor.getDy();
  if (failed(checkSameElement(location, op, x, "dy", dy)))
    return failure();
  return inferBackward(location, op, adaptor, getDims(x), dy, types);
}

LogicalResult MaxPoolSelectOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "max_pool_select";
  Value x = adaptor.getX(), v = adaptor.getV();
  if (failed(checkSameElement(location, op, x, "v", v)))
    return failure();
  if (getDims(x) != getDims(v))
    return failInference(location, op,
                         "x is " + describe(x) + " and v is " + describe(v) + "; they must have one shape");
  return inferForward(location, op, adaptor, types);
}

LogicalResult AvgPoolGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "avg_pool_gradient";
  if (failed(checkPresent(location, op, "input_shape", adaptor.getInputShapeAttr())))
    return failure();
  return inferBackward(location, op, adaptor, adaptor.getInputShape().getDims(), adaptor.getDy(), types);
}

LogicalResult MaxPoolOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] =
      b.create<MaxPoolGradientOp>(getX(), cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                  getPadsEndAttr(), getDilationsAttr(), getOutputSizesAttr());
  return success();
}

// Both are linear in their second operand, and piecewise constant in x.

LogicalResult MaxPoolGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                               MutableArrayRef<Value> gradients) {
  gradients[1] =
      b.create<MaxPoolSelectOp>(getX(), cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                getPadsEndAttr(), getDilationsAttr(), getOutputSizesAttr());
  return success();
}

LogicalResult MaxPoolSelectOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                             MutableArrayRef<Value> gradients) {
  gradients[1] =
      b.create<MaxPoolGradientOp>(getX(), cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                  getPadsEndAttr(), getDilationsAttr(), getOutputSizesAttr());
  return success();
}

LogicalResult AvgPoolOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = b.create<AvgPoolGradientOp>(cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(),
                                             getPadsEndAttr(), getDilationsAttr(), getOutputSizesAttr(),
                                             getCountIncludePadAttr(), DimsAttr::get(getContext(), getDims(getX())));
  return success();
}

LogicalResult AvgPoolGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                               MutableArrayRef<Value> gradients) {
  gradients[0] =
      b.create<AvgPoolOp>(cotangents[0], getKernelAttr(), getStridesAttr(), getPadsBeginAttr(), getPadsEndAttr(),
                          getDilationsAttr(), getOutputSizesAttr(), getCountIncludePadAttr());
  return success();
}

/// One operation for each (pooled element, window element); adaptive windows hold each input element about once.
template <typename Op> static DimExpr countFlops(Op op, Value pooled, ArrayRef<DimExpr> input) {
  if (op.getOutputSizes())
    return getElementCount(input);
  DimExpr count = getElementCount(pooled);
  ArrayRef<int64_t> kernel = *op.getKernel();
  for (int64_t size : kernel)
    count = count * DimExpr(size);
  return count;
}
static DimExpr countPoolingFlops(MaxPoolOp op) { return countFlops(op, op.getResult(), getDims(op.getX())); }
static DimExpr countPoolingFlops(AvgPoolOp op) { return countFlops(op, op.getResult(), getDims(op.getX())); }
static DimExpr countPoolingFlops(MaxPoolSelectOp op) { return countFlops(op, op.getResult(), getDims(op.getX())); }
static DimExpr countPoolingFlops(MaxPoolGradientOp op) { return countFlops(op, op.getDy(), getDims(op.getX())); }
static DimExpr countPoolingFlops(AvgPoolGradientOp op) { return countFlops(op, op.getDy(), getDims(op.getResult())); }

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Pooling.cpp.inc"

void mlir::ferrule::registerPoolingOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Pooling.cpp.inc"
      >();
}
