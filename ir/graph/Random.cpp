#include "ir/graph/Random.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

static LogicalResult checkState(MaybeLocation location, StringRef op, Value state) {
  if (getElementType(state).isSignlessInteger(64) && getDims(state) == Dims{DimExpr(2)})
    return success();
  return failInference(location, op, "state is " + describe(state) + "; it must be int64[2]");
}

template <typename Adaptor>
static LogicalResult inferDraw(MaybeLocation location, StringRef op, Adaptor adaptor, bool integers,
                               InferredTypes &types) {
  if (failed(checkState(location, op, adaptor.getState())) ||
      failed(checkPresent(location, op, "shape", adaptor.getShapeAttr())) ||
      failed(checkPresent(location, op, "dtype", adaptor.getDtypeAttr())))
    return failure();
  Type dtype = adaptor.getDtype();
  bool allowed = integers ? dtype.isSignlessInteger(32) || dtype.isSignlessInteger(64) : dtype.isF32() || dtype.isF64();
  if (!allowed)
    return failInference(location, op, "dtype is " + describe(dtype) + "; it must be " +
                                           (integers ? "int32 or int64" : "float32 or float64"));
  return addType(location, op, dtype, adaptor.getShape().getDims(), types);
}

LogicalResult RandomBitsOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferDraw(location, "random_bits", adaptor, true, types);
}
LogicalResult RandomUniformOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferDraw(location, "random_uniform", adaptor, false, types);
}
LogicalResult RandomNormalOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferDraw(location, "random_normal", adaptor, false, types);
}

static LogicalResult inferDrawOf(MaybeLocation location, StringRef op, Value state, StringRef name, Value parameter,
                                 InferredTypes &types) {
  if (failed(checkState(location, op, state)))
    return failure();
  Type element = getElementType(parameter);
  if (!element.isF32() && !element.isF64())
    return failInference(location, op, name + " is " + describe(parameter) + "; it must be float32 or float64");
  return addType(location, op, element, getDims(parameter), types);
}

LogicalResult RandomGammaOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferDrawOf(location, "random_gamma", adaptor.getState(), "alpha", adaptor.getAlpha(), types);
}
LogicalResult RandomPoissonOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  return inferDrawOf(location, "random_poisson", adaptor.getState(), "lambda", adaptor.getLambda(), types);
}

/// Tiles hold whole groups of 64 elements, as the kernels want them.
static LibraryCall describeDraw(StringRef stem, Value result) {
  constexpr int64_t tileSize = 4096;
  LibraryCall call;
  call.stem = stem.str();
  call.element = getElementType(result);
  call.sizes = {getElementCount(result), DimExpr(tileSize)};
  call.tiles = DimExpr::ceilDiv(getElementCount(result), tileSize);
  return call;
}

LibraryCall RandomBitsOp::getLibraryCall() { return describeDraw("random_bits", getResult()); }
LibraryCall RandomUniformOp::getLibraryCall() { return describeDraw("random_uniform", getResult()); }
LibraryCall RandomNormalOp::getLibraryCall() { return describeDraw("random_normal", getResult()); }
LibraryCall RandomGammaOp::getLibraryCall() { return describeDraw("random_gamma", getResult()); }
LibraryCall RandomPoissonOp::getLibraryCall() { return describeDraw("random_poisson", getResult()); }

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Random.cpp.inc"

void mlir::ferrule::registerRandomOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Random.cpp.inc"
      >();
}
