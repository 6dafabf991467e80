#include "ir/graph/Shape.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

static constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

/// Whether two sizes can be equal, judged without the module's constraints.
static bool mayBeEqual(const DimExpr &a, const DimExpr &b) {
  return ::ferrule::DimConstraints().isEqual(a, b).value_or(true);
}

//===------------------------------------------------------------------------------------------------------------===//
// reshape, transpose, broadcast_to
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkPresent(location, "reshape", "shape", adaptor.getShapeAttr())))
    return failure();
  ArrayRef<DimExpr> shape = adaptor.getShape().getDims();
  DimExpr from = getElementCount(x), to = getElementCount(shape);
  if (!to.isValid() || !mayBeEqual(from, to))
    return failInference(location, "reshape",
                         "x is " + describe(x) + " with " + from.str() + " elements and the new shape " +
                             describe(shape) + " has " + to.str() + "; the counts must be equal");
  return addType(location, "reshape", getElementType(x), shape, types);
}

LogicalResult TransposeOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkPresent(location, "transpose", "pattern", adaptor.getPatternAttr())) ||
      failed(checkAxes(location, "transpose", "pattern", adaptor.getPattern(), x)))
    return failure();
  Dims dims = getDims(x), result;
  if (adaptor.getPattern().size() != dims.size())
    return failInference(location, "transpose",
                         "x is " + describe(x) + " and pattern has " + Twine(adaptor.getPattern().size()) +
                             " entries; it must name each axis once");
  for (int64_t axis : adaptor.getPattern())
    result.push_back(dims[axis]);
  return addType(location, "transpose", getElementType(x), result, types);
}

LogicalResult TransposeOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  SmallVector<int64_t> inverse(getPattern().size());
  for (auto [position, axis] : llvm::enumerate(getPattern()))
    inverse[axis] = position;
  gradients[0] = b.transpose(cotangents[0], inverse);
  return success();
}

LogicalResult BroadcastToOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkPresent(location, "broadcast_to", "shape", adaptor.getShapeAttr())))
    return failure();
  Dims from = getDims(x);
  ArrayRef<DimExpr> to = adaptor.getShape().getDims();
  bool fits = from.size() <= to.size();
  for (size_t i = 1; fits && i <= from.size(); ++i)
    fits = from[from.size() - i] == DimExpr(1) || mayBeEqual(from[from.size() - i], to[to.size() - i]);
  if (!fits)
    return failInference(location, "broadcast_to",
                         "x is " + describe(x) + " and the new shape is " + describe(to) +
                             "; aligned at the end, each size of x must be equal or 1");
  return addType(location, "broadcast_to", getElementType(x), to, types);
}

LogicalResult BroadcastToOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Dims from = getDims(getX());
  ArrayRef<DimExpr> to = getShape().getDims();
  SmallVector<int64_t> stretched;
  int64_t added = to.size() - from.size();
  for (int64_t axis = 0, rank = to.size(); axis < rank; ++axis)
    if (axis < added || (from[axis - added] == DimExpr(1) && to[axis] != DimExpr(1)))
      stretched.push_back(axis);
  Value g = cotangents[0];
  gradients[0] = b.reshape(stretched.empty() ? g : b.reduceSum(g, stretched), from);
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// slice
//===------------------------------------------------------------------------------------------------------------===//

/// As countSlice, for constant bounds.
static DimExpr countFixedSlice(const DimExpr &size, int64_t start, int64_t stop, int64_t step) {
  std::optional<int64_t> n = size.getConstant();
  if (!n) {
    if (step < 1 || start < 0 || stop < start)
      return DimExpr::invalid();
    DimExpr end = stop == kEnd ? size : DimExpr::min(size, stop);
    DimExpr count = DimExpr::ceilDiv(end - start, step);
    return start == 0 ? count : DimExpr::max(count, 0);
  }
  if (step > 0) {
    int64_t end = stop == kEnd ? *n : stop;
    bool normal = 0 <= start && start <= *n && start <= end && end <= *n;
    return normal ? DimExpr::ceilDiv(end - start, step) : DimExpr::invalid();
  }
  bool normal = 0 <= start && start < *n && -1 <= stop && stop <= start;
  return normal ? DimExpr::ceilDiv(start - stop, -step) : DimExpr::invalid();
}

/// The number of elements that a slice takes from one axis; invalid if its bounds are not normalised.
static DimExpr countSlice(const DimExpr &size, const DimExpr &start, const DimExpr &stop, int64_t step) {
  if (step == 0 || step == std::numeric_limits<int64_t>::min())
    return DimExpr::invalid();
  if (start.isConstant() && stop.isConstant())
    return countFixedSlice(size, *start.getConstant(), *stop.getConstant(), step);
  DimExpr end = stop == DimExpr(kEnd) ? size : stop;
  return step > 0 ? DimExpr::ceilDiv(end - start, step) : DimExpr::ceilDiv(start - end, -step);
}

LogicalResult SliceOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value x = adaptor.getX();
  if (failed(checkPresent(location, "slice", "starts", adaptor.getStartsAttr())) ||
      failed(checkPresent(location, "slice", "stops", adaptor.getStopsAttr())) ||
      failed(checkPresent(location, "slice", "steps", adaptor.getStepsAttr())))
    return failure();
  ArrayRef<DimExpr> starts = adaptor.getStarts().getDims(), stops = adaptor.getStops().getDims();
  ArrayRef<int64_t> steps = adaptor.getSteps();
  Dims dims = getDims(x), result;
  if (starts.size() != dims.size() || stops.size() != dims.size() || steps.size() != dims.size())
    return failInference(location, "slice",
                         "x is " + describe(x) + "; starts, stops and steps must have " + Twine(dims.size()) +
                             " entries");
  for (auto [axis, size] : llvm::enumerate(dims)) {
    result.push_back(countSlice(size, starts[axis], stops[axis], steps[axis]));
    if (!result.back().isValid())
      return failInference(location, "slice",
                           "axis " + Twine(axis) + " of " + describe(x) + " cannot be taken from " +
                               starts[axis].str() + " to " + stops[axis].str() + " by " + Twine(steps[axis]));
  }
  return addType(location, "slice", getElementType(x), result, types);
}

/// `x` with zeros around it along an axis.
static Value padAxis(GraphBuilder &b, Value x, int64_t axis, const DimExpr &before, const DimExpr &after) {
  SmallVector<Value> parts;
  Dims dims = getDims(x);
  auto addZeros = [&](const DimExpr &size) {
    if (size == DimExpr(0))
      return;
    dims[axis] = size;
    parts.push_back(b.full(getElementType(x), dims, 0.0));
  };
  addZeros(before);
  parts.push_back(x);
  addZeros(after);
  return b.concat(parts, axis);
}

/// Slices one axis to [start, stop) by step and leaves the others whole.
static Value sliceAxis(GraphBuilder &b, Value x, int64_t axis, const DimExpr &start, const DimExpr &stop,
                       int64_t step) {
  size_t rank = getDims(x).size();
  Dims starts(rank, DimExpr(0)), stops(rank, DimExpr(kEnd));
  SmallVector<int64_t> steps(rank, 1);
  starts[axis] = start;
  stops[axis] = stop;
  steps[axis] = step;
  return b.slice(x, starts, stops, steps);
}

/// `x` with step - 1 zeros between neighbours along an axis.
static Value dilateAxis(GraphBuilder &b, Value x, int64_t axis, int64_t step) {
  Dims dims = getDims(x), apart = dims;
  DimExpr count = dims[axis];
  apart.insert(apart.begin() + axis + 1, DimExpr(1));
  Value spread = padAxis(b, b.reshape(x, apart), axis + 1, 0, step - 1);
  dims[axis] = count * step;
  DimExpr last = (count - 1) * step + 1;
  // Of nothing, nothing is cut off.
  return sliceAxis(b, b.reshape(spread, dims), axis, 0, count.isConstant() ? last : DimExpr::max(last, 0), 1);
}

/// The transpose of a slice puts g back where it came from, with zeros elsewhere, axis by axis.
LogicalResult SliceOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Dims from = getDims(getX());
  Value g = cotangents[0];
  for (auto [axis, size] : llvm::enumerate(from)) {
    DimExpr start = getStarts().getDims()[axis], stop = getStops().getDims()[axis];
    int64_t step = getSteps()[axis];
    DimExpr count = getDims(g)[axis];
    if (count == size && step == 1)
      continue;
    if (count == DimExpr(0)) {
      gradients[0] = b.like(getX(), 0.0);
      return success();
    }
    bool reversed = step < 0;
    if (reversed) {
      // Reverse, so that the elements ascend; the first one is then the last taken.
      g = sliceAxis(b, g, axis, count - 1, -1, -1);
      start = start + (count - 1) * step;
      step = -step;
    }
    if (step != 1)
      g = dilateAxis(b, g, axis, step);
    DimExpr covered = getDims(g)[axis], before = start;
    // A slice of nothing may begin behind the end, where the size is found when the program runs.
    if (step == 1 && stop == DimExpr(kEnd))
      before = size - covered;
    else if (before != DimExpr(0) && (before.isConstant() || reversed))
      before = DimExpr::min(before, size);
    g = padAxis(b, g, axis, before, size - before - covered);
  }
  gradients[0] = g;
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// concat
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult ConcatOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value first = adaptor.getXs().front();
  if (failed(checkPresent(location, "concat", "axis", adaptor.getAxisAttr())) ||
      failed(checkAxes(location, "concat", "axis", adaptor.getAxis(), first)))
    return failure();
  int64_t axis = adaptor.getAxis();
  Dims result = getDims(first);
  for (auto [index, x] : llvm::enumerate(adaptor.getXs().drop_front())) {
    Dims dims = getDims(x);
    bool fits = dims.size() == result.size() && getElementType(x) == getElementType(first);
    for (size_t i = 0; fits && i < dims.size(); ++i)
      fits = static_cast<int64_t>(i) == axis || dims[i] == result[i];
    if (!fits)
      return failInference(location, "concat",
                           "operand 0 is " + describe(first) + " and operand " + Twine(index + 1) + " is " +
                               describe(x) + "; they must agree in all but axis " + Twine(axis));
    result[axis] = result[axis] + dims[axis];
  }
  return addType(location, "concat", getElementType(first), result, types);
}

LogicalResult ConcatOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  int64_t axis = getAxis();
  DimExpr offset(0);
  for (auto [index, x] : llvm::enumerate(getXs())) {
    DimExpr end = offset + getDims(x)[axis];
    if (isFloat(x))
      gradients[index] = sliceAxis(b, cotangents[0], axis, offset, end, 1);
    offset = end;
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Sources
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult DimOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkPresent(location, "dim", "expr", adaptor.getExprAttr())))
    return failure();
  if (adaptor.getExpr().getDims().size() != 1)
    return failInference(location, "dim",
                         "expr holds " + describe(adaptor.getExpr().getDims()) + "; it must hold one expression");
  types.push_back(makeTensorType(IntegerType::get(adaptor.getExpr().getContext(), 64), {}));
  return success();
}

LogicalResult IotaOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkPresent(location, "iota", "shape", adaptor.getShapeAttr())) ||
      failed(checkPresent(location, "iota", "axis", adaptor.getAxisAttr())) ||
      failed(checkPresent(location, "iota", "dtype", adaptor.getDtypeAttr())))
    return failure();
  ArrayRef<DimExpr> shape = adaptor.getShape().getDims();
  if (adaptor.getAxis() < 0 || adaptor.getAxis() >= static_cast<int64_t>(shape.size()))
    return failInference(location, "iota", "axis is " + Twine(adaptor.getAxis()) + " for the shape " + describe(shape));
  if (!isa<FloatType, IntegerType>(adaptor.getDtype()) || adaptor.getDtype().isInteger(1))
    return failInference(location, "iota",
                         "dtype is " + describe(adaptor.getDtype()) + "; it must be a float or an integer");
  return addType(location, "iota", adaptor.getDtype(), shape, types);
}

LogicalResult ConstantOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkPresent(location, "constant", "value", adaptor.getValueAttr())))
    return failure();
  auto type = dyn_cast<RankedTensorType>(adaptor.getValue().getShapedType());
  if (!type)
    return failInference(location, "constant", "value must be a tensor");
  types.push_back(type);
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Shape.cpp.inc"

void mlir::ferrule::registerShapeOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Shape.cpp.inc"
      >();
}
