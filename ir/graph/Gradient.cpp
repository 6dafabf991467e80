#include "ir/graph/Gradient.h"

#include "ir/graph/Families.h"

namespace mlir::ferrule {

LogicalResult GradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value cost = adaptor.getCost(), cotangent = adaptor.getCotangent();
  if (failed(checkKind(location, "gradient", "cost", cost, ElementKind::Float)))
    return failure();
  if (cotangent && failed(checkSameType(location, "gradient", "cost", cost, "cotangent", cotangent)))
    return failure();
  if (!cotangent && getElementCount(cost) != DimExpr(1))
    return failInference(location, "gradient",
                         "cost is " + describe(cost) + "; without a cotangent it must have one element");
  for (auto [index, wrt] : llvm::enumerate(adaptor.getWrt())) {
    if (failed(checkKind(location, "gradient", "wrt[" + std::to_string(index) + "]", wrt, ElementKind::Float)))
      return failure();
    types.push_back(wrt.getType());
  }
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Gradient.cpp.inc"

void mlir::ferrule::registerGradientOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Gradient.cpp.inc"
      >();
}
