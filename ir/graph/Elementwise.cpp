#include "ir/graph/Elementwise.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

LogicalResult CastOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  if (failed(checkPresent(location, "cast", "dtype", adaptor.getDtypeAttr())))
    return failure();
  Type dtype = adaptor.getDtype();
  if (!isa<FloatType, IntegerType>(dtype))
    return failInference(location, "cast", "dtype is " + describe(dtype) + "; it must be a float, an integer or bool");
  types.push_back(makeTensorType(dtype, getDims(adaptor.getX())));
  return success();
}

LogicalResult WhereOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value mask = adaptor.getMask(), x = adaptor.getX();
  if (failed(checkKind(location, "where", "mask", mask, ElementKind::Bool)) ||
      failed(checkSameType(location, "where", "x", x, "y", adaptor.getY())))
    return failure();
  if (getDims(mask) != getDims(x))
    return failInference(location, "where",
                         "mask is " + describe(mask) + " and x is " + describe(x) + "; they must have one shape");
  types.push_back(x.getType());
  return success();
}

LogicalResult FmaOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value a = adaptor.getA();
  if (failed(checkKind(location, "fma", "a", a, ElementKind::Float)) ||
      failed(checkSameType(location, "fma", "a", a, "b", adaptor.getB())) ||
      failed(checkSameType(location, "fma", "a", a, "c", adaptor.getC())))
    return failure();
  types.push_back(a.getType());
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Elementwise.cpp.inc"

void mlir::ferrule::registerElementwiseOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Elementwise.cpp.inc"
      >();
}
