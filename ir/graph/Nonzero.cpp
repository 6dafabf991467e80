#include "ir/graph/Nonzero.h"

#include "ir/graph/Dispatch.h"
#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

LogicalResult NonzeroOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "nonzero";
  Value mask = adaptor.getMask();
  if (failed(checkKind(location, op, "mask", mask, ElementKind::Bool)) ||
      failed(checkPresent(location, op, "size", adaptor.getSizeAttr())))
    return failure();
  ArrayRef<DimExpr> size = adaptor.getSizeAttr().getDims();
  DimExpr elements = getElementCount(mask);
  if (size.size() != 1 || (size[0] != elements && !size[0].getDimName()))
    return failInference(location, op,
                         "size must be one expression, the " + elements.str() + " elements of mask or a dim by itself");
  if (elements.getConstant() > std::numeric_limits<int32_t>::max())
    return failInference(location, op, "mask is " + describe(mask) + "; it has more elements than int32 can number");
  MLIRContext *context = mask.getContext();
  if (failed(addType(location, op, IntegerType::get(context, 32), size, types)))
    return failure();
  return addType(location, op, IntegerType::get(context, 64), {}, types);
}

LibraryCall NonzeroOp::getLibraryCall() {
  LibraryCall call;
  call.stem = "nonzero";
  call.sizes = {getElementCount(getMask())};
  return call;
}

std::optional<CountedDim> getCountedDim(Operation *op) {
  if (auto dispatch = dyn_cast<DispatchOp>(op)) {
    for (Operation &inner : dispatch.getBodyBlock()) {
      std::optional<CountedDim> counted = getCountedDim(&inner);
      if (!counted)
        continue;
      for (auto [yielded, result] : llvm::zip(dispatch.getYielded(), dispatch.getResults()))
        if (yielded == counted->count)
          counted->count = result;
      return counted;
    }
    return std::nullopt;
  }
  auto nonzero = dyn_cast<NonzeroOp>(op);
  if (!nonzero)
    return std::nullopt;
  DimExpr elements = getElementCount(nonzero.getMask()), size = nonzero.getSize().getDims().front();
  if (size == elements)
    return std::nullopt;
  return CountedDim{*size.getDimName(), nonzero.getCount(), elements};
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Nonzero.cpp.inc"

void mlir::ferrule::registerNonzeroOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Nonzero.cpp.inc"
      >();
}
