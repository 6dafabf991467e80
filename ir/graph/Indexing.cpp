#include "ir/graph/Indexing.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Tiles.h"

namespace mlir::ferrule {

//===------------------------------------------------------------------------------------------------------------===//
// Types
//===------------------------------------------------------------------------------------------------------------===//

static LogicalResult checkIndices(MaybeLocation location, StringRef op, Value indices) {
  Type element = getElementType(indices);
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return success();
  return failInference(location, op, "indices is " + describe(indices) + "; it must be int32 or int64");
}

/// The sizes of what index vectors read from x, after a check of both.
template <typename Adaptor>
static FailureOr<Dims> inferTaken(MaybeLocation location, StringRef op, Adaptor adaptor) {
  Value x = adaptor.getX(), indices = adaptor.getIndices();
  if (failed(checkIndices(location, op, indices)) ||
      failed(checkPresent(location, op, "axis", adaptor.getAxisAttr())))
    return failure();
  Dims from = getDims(x), index = getDims(indices);
  int64_t rank = from.size(), axis = adaptor.getAxis();
  std::optional<int64_t> count = index.empty() ? std::nullopt : index.back().getConstant();
  if (!count || *count < 1 || axis < 0 || axis + *count > rank)
    return failInference(location, op,
                         "x is " + describe(x) + " and indices is " + describe(indices) + " from axis " + Twine(axis) +
                             "; the last size of indices counts axes of x from there on");
  Dims taken(from.begin(), from.begin() + axis);
  taken.append(index.begin(), index.end() - 1);
  taken.append(from.begin() + axis + *count, from.end());
  return taken;
}

LogicalResult TakeOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  FailureOr<Dims> taken = inferTaken(location, "take", adaptor);
  return failed(taken) ? failure() : addType(location, "take", getElementType(adaptor.getX()), *taken, types);
}

/// What writes values of the sizes `wanted` into x: v must have them, and x's dtype.
template <typename Adaptor>
static LogicalResult inferWrite(MaybeLocation location, StringRef op, Adaptor adaptor, ArrayRef<DimExpr> wanted,
                                InferredTypes &types) {
  Value x = adaptor.getX(), v = adaptor.getV();
  if (getElementType(x) != getElementType(v) || ArrayRef<DimExpr>(getDims(v)) != wanted)
    return failInference(location, op,
                         "x is " + describe(x) + " and v is " + describe(v) + "; v must be " +
                             describe(getElementType(x)) + describe(wanted));
  return addType(location, op, getElementType(x), getDims(x), types);
}

static LogicalResult checkAdds(MaybeLocation location, StringRef op, Value x) {
  Type element = getElementType(x);
  if (element.isF32() || element.isF64() || element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return success();
  return failInference(location, op, "x is " + describe(x) + "; it must be float32, float64, int32 or int64");
}

LogicalResult PutOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  FailureOr<Dims> taken = inferTaken(location, "put", adaptor);
  return failed(taken) ? failure() : inferWrite(location, "put", adaptor, *taken, types);
}

LogicalResult PutAddOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkAdds(location, "put_add", adaptor.getX())))
    return failure();
  FailureOr<Dims> taken = inferTaken(location, "put_add", adaptor);
  return failed(taken) ? failure() : inferWrite(location, "put_add", adaptor, *taken, types);
}

/// One index an element: x and indices agree on all axes but one.
template <typename Adaptor>
static LogicalResult checkGather(MaybeLocation location, StringRef op, Adaptor adaptor) {
  Value x = adaptor.getX(), indices = adaptor.getIndices();
  if (failed(checkIndices(location, op, indices)) ||
      failed(checkPresent(location, op, "axis", adaptor.getAxisAttr())) ||
      failed(checkAxes(location, op, "axis", adaptor.getAxis(), x)))
    return failure();
  Dims from = getDims(x), index = getDims(indices);
  bool fits = from.size() == index.size();
  for (int64_t axis = 0, rank = from.size(); fits && axis < rank; ++axis)
    fits = axis == adaptor.getAxis() || from[axis] == index[axis];
  if (fits)
    return success();
  return failInference(location, op,
                       "x is " + describe(x) + " and indices is " + describe(indices) +
                           "; they must agree in all but axis " + Twine(adaptor.getAxis()));
}

LogicalResult GatherOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkGather(location, "gather", adaptor)))
    return failure();
  return addType(location, "gather", getElementType(adaptor.getX()), getDims(adaptor.getIndices()), types);
}

LogicalResult ScatterOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkGather(location, "scatter", adaptor)))
    return failure();
  return inferWrite(location, "scatter", adaptor, getDims(adaptor.getIndices()), types);
}

LogicalResult ScatterAddOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkAdds(location, "scatter_add", adaptor.getX())) ||
      failed(checkGather(location, "scatter_add", adaptor)))
    return failure();
  return inferWrite(location, "scatter_add", adaptor, getDims(adaptor.getIndices()), types);
}

LogicalResult UpdateSliceOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "update_slice";
  Value x = adaptor.getX(), v = adaptor.getV();
  if (failed(checkPresent(location, op, "offsets", adaptor.getOffsetsAttr())) ||
      failed(checkPresent(location, op, "steps", adaptor.getStepsAttr())))
    return failure();
  ArrayRef<DimExpr> starts = adaptor.getOffsets().getDims();
  ArrayRef<int64_t> steps = adaptor.getSteps();
  Dims sizes = getDims(x), counts = getDims(v);
  if (starts.size() != sizes.size() || steps.size() != sizes.size() || counts.size() != sizes.size() ||
      getElementType(x) != getElementType(v))
    return failInference(location, op,
                         "x is " + describe(x) + " and v is " + describe(v) +
                             "; they must have one dtype and rank, and offsets and steps an entry for each axis");
  ::ferrule::DimConstraints none;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    DimExpr first = starts[axis], last = first + (counts[axis] - DimExpr(1)) * DimExpr(steps[axis]);
    auto isOutside = [&](const DimExpr &position) {
      ::ferrule::DimInterval bounds = none.getBounds(size - DimExpr(1) - position);
      return none.getBounds(position).upper.value_or(0) < 0 || bounds.upper.value_or(0) < 0;
    };
    bool isEmpty = counts[axis] == DimExpr(0);
    if (steps[axis] == 0 || (!isEmpty && (isOutside(first) || isOutside(last))))
      return failInference(location, op,
                           "axis " + Twine(axis) + " of " + describe(x) + " has no " + counts[axis].str() +
                               " elements from " + first.str() + " by " + Twine(steps[axis]));
  }
  return addType(location, op, getElementType(x), sizes, types);
}

//===------------------------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------------------------===//

/// Whether sums of this type have kernels; others are added in float32 and rounded once.
static Type getAddedType(Type element) {
  return element.getIntOrFloatBitWidth() < 32 ? Float32Type::get(element.getContext()) : element;
}

template <typename AddOp>
static Value addAt(GraphBuilder &b, Value model, Value indices, Value g, int64_t axis) {
  Type element = getElementType(model), added = getAddedType(element);
  Value zeros = b.full(added, getDims(model), 0.0);
  return b.cast(b.create<AddOp>(zeros, indices, b.cast(g, added), axis), element);
}

LogicalResult TakeOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = addAt<PutAddOp>(b, getX(), getIndices(), cotangents[0], getAxis());
  return success();
}

LogicalResult GatherOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = addAt<ScatterAddOp>(b, getX(), getIndices(), cotangents[0], getAxis());
  return success();
}

LogicalResult PutAddOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = cotangents[0];
  gradients[2] = b.create<TakeOp>(cotangents[0], getIndices(), getAxis());
  return success();
}

LogicalResult ScatterAddOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] = cotangents[0];
  gradients[2] = b.create<GatherOp>(cotangents[0], getIndices(), getAxis());
  return success();
}

static Value countAlong(GraphBuilder &b, ArrayRef<DimExpr> dims, int64_t axis) {
  MLIRContext *context = b.getBuilder().getContext();
  return b.create<IotaOp>(DimsAttr::get(context, dims), axis, IntegerType::get(context, 32));
}

/// A value that a later one overwrites has no gradient. So the writes are numbered and written too: those that stayed
/// find their own number again.
LogicalResult PutOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value g = cotangents[0], indices = getIndices();
  gradients[0] = b.create<PutOp>(g, indices, b.like(getV(), 0.0), getAxis());
  Dims vectors = getDims(indices), all = getDims(getX());
  int64_t count = *vectors.back().getConstant();
  vectors.pop_back();
  Value number = b.reshape(countAlong(b, {getElementCount(vectors)}, 0), vectors);
  Value unwritten = b.full(getElementType(number), ArrayRef<DimExpr>(all).slice(getAxis(), count), -1.0);
  Value written = b.create<PutOp>(unwritten, indices, number, 0);
  Value stayed = b.equal(b.create<TakeOp>(written, indices, 0), number);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(getAxis(), getAxis() + vectors.size()));
  Value taken = b.create<TakeOp>(g, indices, getAxis());
  gradients[2] = b.where(b.expandAxes(stayed, taken, axes), taken, b.like(taken, 0.0));
  return success();
}

LogicalResult ScatterOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value g = cotangents[0], indices = getIndices();
  gradients[0] = b.create<ScatterOp>(g, indices, b.like(getV(), 0.0), getAxis());
  Value number = countAlong(b, getDims(indices), getAxis());
  Value unwritten = b.full(getElementType(number), getDims(getX()), -1.0);
  Value written = b.create<ScatterOp>(unwritten, indices, number, getAxis());
  Value stayed = b.equal(b.create<GatherOp>(written, indices, getAxis()), number);
  Value taken = b.create<GatherOp>(g, indices, getAxis());
  gradients[2] = b.where(stayed, taken, b.like(taken, 0.0));
  return success();
}

LogicalResult UpdateSliceOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value g = cotangents[0];
  gradients[0] = b.create<UpdateSliceOp>(g, b.like(getV(), 0.0), getOffsetsAttr(), getStepsAttr());
  ArrayRef<DimExpr> starts = getOffsets().getDims();
  Dims stops;
  for (auto [axis, count] : llvm::enumerate(getDims(getV()))) {
    int64_t step = getSteps()[axis];
    // One step behind the last element, as far as the axis is known to reach there.
    DimExpr stop = starts[axis] + count * step;
    if (count.isConstant() && starts[axis].isConstant() && count != DimExpr(0))
      stop = stop - (step > 0 ? step - 1 : step + 1);
    bool isWhole = count == getDims(getX())[axis] && starts[axis] == DimExpr(0) && step == 1;
    stops.push_back(isWhole ? DimExpr(std::numeric_limits<int64_t>::max()) : stop);
  }
  gradients[1] = b.slice(g, starts, stops, getSteps());
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Kernels
//===------------------------------------------------------------------------------------------------------------===//

static DimExpr getIndexBytes(Value indices) { return getElementType(indices).getIntOrFloatBitWidth() / 8; }

/// What take and put share. x is [outer, table.., inner] and the vectors are [m, count].
struct VectorShape {
  DimExpr outer, m, inner, count;
  Dims table;
};
static VectorShape describeVectors(Value x, Value indices, int64_t axis) {
  Dims all = getDims(x), index = getDims(indices);
  ArrayRef<DimExpr> sizes(all);
  int64_t count = *index.back().getConstant();
  return {getElementCount(sizes.take_front(axis)), getElementCount(ArrayRef<DimExpr>(index).drop_back()),
          getElementCount(sizes.drop_front(axis + count)), count, Dims(sizes.slice(axis, count))};
}

LibraryCall TakeOp::getLibraryCall() {
  VectorShape shape = describeVectors(getX(), getIndices(), getAxis());
  int64_t tileRows = chooseTileRows(shape.inner);
  LibraryCall call;
  call.stem = "take";
  call.element = getElementType(getX());
  call.byWidth = true;
  call.sizes = {shape.outer, shape.m, shape.inner, shape.count, getIndexBytes(getIndices()), DimExpr(tileRows)};
  call.table = shape.table;
  call.tiles = DimExpr::ceilDiv(shape.outer * shape.m, tileRows);
  call.canFail = true;
  return call;
}

/// Every tile reads all indices, so there are few: up to 8 ranges of targets, of 64 KiB in float32 or more.
template <typename OpType> static LibraryCall describePut(OpType op, StringRef stem, bool byWidth) {
  VectorShape shape = describeVectors(op.getX(), op.getIndices(), op.getAxis());
  DimExpr elements = getElementCount(shape.table) * shape.inner;
  DimExpr ranges = DimExpr::max(1, DimExpr::min(8, DimExpr::ceilDiv(elements, 16384)));
  LibraryCall call;
  call.stem = stem.str();
  call.element = getElementType(op.getX());
  call.byWidth = byWidth;
  call.sizes = {shape.outer, shape.m, shape.inner, shape.count, getIndexBytes(op.getIndices()), ranges};
  call.table = shape.table;
  call.tiles = shape.outer * ranges;
  call.canFail = true;
  return call;
}
LibraryCall PutOp::getLibraryCall() { return describePut(*this, "put", true); }
LibraryCall PutAddOp::getLibraryCall() { return describePut(*this, "put_add", false); }

/// What gather and scatter share: x is [outer, n, inner], indices are [outer, m, inner].
struct GatherShape {
  DimExpr outer, n, m, inner;
};
static GatherShape describeGather(Value x, Value indices, int64_t axis) {
  Dims sizes = getDims(x);
  return {getElementCount(ArrayRef<DimExpr>(sizes).take_front(axis)), sizes[axis], getDims(indices)[axis],
          getElementCount(ArrayRef<DimExpr>(sizes).drop_front(axis + 1))};
}

LibraryCall GatherOp::getLibraryCall() {
  GatherShape shape = describeGather(getX(), getIndices(), getAxis());
  int64_t tileRows = chooseTileRows(shape.inner);
  LibraryCall call;
  call.stem = "gather";
  call.element = getElementType(getX());
  call.byWidth = true;
  call.sizes = {shape.outer, shape.n, shape.m, shape.inner, getIndexBytes(getIndices()), DimExpr(tileRows)};
  call.tiles = DimExpr::ceilDiv(shape.outer * shape.m, tileRows);
  call.canFail = true;
  return call;
}

template <typename OpType> static LibraryCall describeScatter(OpType op, StringRef stem, bool byWidth) {
  GatherShape shape = describeGather(op.getX(), op.getIndices(), op.getAxis());
  LibraryCall call;
  call.stem = stem.str();
  call.element = getElementType(op.getX());
  call.byWidth = byWidth;
  call.sizes = {shape.outer, shape.n, shape.m, shape.inner, getIndexBytes(op.getIndices())};
  call.tiles = shape.outer * DimExpr::ceilDiv(shape.inner, 16);
  call.canFail = true;
  return call;
}
LibraryCall ScatterOp::getLibraryCall() { return describeScatter(*this, "scatter", true); }
LibraryCall ScatterAddOp::getLibraryCall() { return describeScatter(*this, "scatter_add", false); }

/// Trailing axes that are replaced whole become runs of contiguous elements.
LibraryCall UpdateSliceOp::getLibraryCall() {
  Dims sizes = getDims(getX()), counts = getDims(getV());
  ArrayRef<DimExpr> starts = getOffsets().getDims();
  int64_t rank = sizes.size();
  DimExpr inner = 1;
  while (rank > 1 && sizes[rank - 1] == counts[rank - 1] && starts[rank - 1] == DimExpr(0) && getSteps()[rank - 1] == 1)
    inner = inner * sizes[--rank];
  LibraryCall call;
  call.stem = "update_slice";
  call.element = getElementType(getX());
  call.byWidth = true;
  for (int64_t axis = 0; axis < rank; ++axis)
    call.table.append({sizes[axis], starts[axis], DimExpr(getSteps()[axis]), counts[axis]});
  if (rank == 0) // One element.
    call.table = {DimExpr(1), DimExpr(0), DimExpr(1), DimExpr(1)};
  DimExpr columns = rank == 0 ? DimExpr(1) : sizes[rank - 1] * inner;
  int64_t tileRows = chooseTileRows(columns);
  call.sizes = {DimExpr(std::max<int64_t>(1, rank)), inner, DimExpr(tileRows)};
  DimExpr rows = rank == 0 ? DimExpr(1) : getElementCount(ArrayRef<DimExpr>(sizes).take_front(rank - 1));
  call.tiles = DimExpr::ceilDiv(rows, tileRows);
  return call;
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Indexing.cpp.inc"

void mlir::ferrule::registerIndexingOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Indexing.cpp.inc"
      >();
}
