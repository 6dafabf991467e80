#include "ir/graph/Sort.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

static LogicalResult checkOrdered(MaybeLocation location, StringRef op, StringRef name, Value x) {
  Type element = getElementType(x);
  if (element.isF32() || element.isF64() || element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return success();
  return failInference(location, op,
                       name + " is " + describe(x) + "; it must be float32, float64, int32 or int64");
}

LogicalResult ArgsortOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "argsort";
  Value x = adaptor.getX();
  if (failed(checkOrdered(location, op, "x", x)) || failed(checkPresent(location, op, "axis", adaptor.getAxisAttr())) ||
      failed(checkAxes(location, op, "axis", adaptor.getAxis(), x)))
    return failure();
  Dims dims = getDims(x);
  if (DimsAttr k = adaptor.getKAttr()) {
    DimExpr size = dims[adaptor.getAxis()];
    bool fits = k.getDims().size() == 1;
    if (fits) {
      ::ferrule::DimConstraints none;
      fits = none.getBounds(k.getDims().front()).upper.value_or(0) >= 0 &&
             none.isLess(size, k.getDims().front()) != std::optional<bool>(true);
    }
    if (!fits)
      return failInference(location, op, "k is " + describe(k.getDims()) + " for axis " + Twine(adaptor.getAxis()) +
                                             " of " + describe(x) + "; it must be one size from 0 to " + size.str());
    dims[adaptor.getAxis()] = k.getDims().front();
  }
  return addType(location, op, IntegerType::get(x.getContext(), 32), dims, types);
}

LogicalResult SearchsortedOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "searchsorted";
  Value sorted = adaptor.getSorted(), v = adaptor.getV();
  if (failed(checkOrdered(location, op, "sorted", sorted)))
    return failure();
  Dims from = getDims(sorted), values = getDims(v);
  bool fits = getElementType(sorted) == getElementType(v) && !from.empty() && from.size() == values.size();
  for (size_t axis = 0; fits && axis + 1 < from.size(); ++axis)
    fits = from[axis] == values[axis];
  if (!fits)
    return failInference(location, op, "sorted is " + describe(sorted) + " and v is " + describe(v) +
                                           "; they must have one dtype and agree in all axes but the last");
  return addType(location, op, IntegerType::get(v.getContext(), 32), values, types);
}

LibraryCall ArgsortOp::getLibraryCall() {
  Dims dims = getDims(getX());
  ArrayRef<DimExpr> sizes(dims);
  DimExpr n = dims[getAxis()], inner = getElementCount(sizes.drop_front(getAxis() + 1));
  int64_t bytes = getElementType(getX()).getIntOrFloatBitWidth() / 8;
  LibraryCall call;
  call.stem = "argsort";
  call.element = getElementType(getX());
  call.sizes = {n, inner, getDims(getY())[getAxis()], DimExpr(getDescending())};
  call.tiles = getElementCount(sizes.take_front(getAxis())) * inner;
  // An empty axis needs none, but a scratch argument there must be.
  call.scratchBytes = DimExpr::max(8, n * DimExpr(2 * bytes + 8));
  return call;
}

LibraryCall SearchsortedOp::getLibraryCall() {
  Dims sizes = getDims(getSorted());
  DimExpr outer = getElementCount(ArrayRef<DimExpr>(sizes).drop_back()), m = getDims(getV()).back();
  constexpr int64_t tileRows = 512;
  LibraryCall call;
  call.stem = "searchsorted";
  call.element = getElementType(getSorted());
  call.sizes = {outer, sizes.back(), m, DimExpr(getRight()), DimExpr(tileRows)};
  call.tiles = DimExpr::ceilDiv(outer * m, tileRows);
  return call;
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Sort.cpp.inc"

void mlir::ferrule::registerSortOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Sort.cpp.inc"
      >();
}
