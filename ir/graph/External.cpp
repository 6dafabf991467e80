#include "ir/graph/External.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Dispatch.h"
#include "ir/graph/Families.h"

#include <numeric>

namespace mlir::ferrule {

static LogicalResult checkSymbol(MaybeLocation location, StringRef symbol) {
  bool isName = !symbol.empty() && llvm::all_of(symbol, [](unsigned char letter) { return letter >= 0x20; });
  if (isName)
    return success();
  return failInference(location, "external", "the attribute symbol is '" + symbol +
                                                 "'; it must be a name without line breaks and the like");
}

/// One expression that can be `least` or more.
static LogicalResult checkCount(MaybeLocation location, StringRef name, DimsAttr count, int64_t least) {
  if (!count)
    return success();
  bool fits = count.getDims().size() == 1 && count.getDims().front().isValid();
  if (fits) {
    std::optional<int64_t> constant = count.getDims().front().getConstant();
    fits = !constant || *constant >= least;
  }
  if (fits)
    return success();
  return failInference(location, "external", "the attribute " + name + " is " + describe(count.getDims()) +
                                                 "; it must be one size of " + Twine(least) + " or more");
}

LogicalResult ExternalOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "external";
  for (auto [name, attribute] : std::initializer_list<std::pair<StringRef, Attribute>>{
           {"symbol", adaptor.getSymbolAttr()}, {"shape", adaptor.getShapeAttr()}, {"ranks", adaptor.getRanksAttr()},
           {"dtypes", adaptor.getDtypesAttr()}})
    if (failed(checkPresent(location, op, name, attribute)))
      return failure();
  if (failed(checkSymbol(location, adaptor.getSymbol())) ||
      failed(checkCount(location, "tiles", adaptor.getTilesAttr(), 1)) ||
      failed(checkCount(location, "scratch_bytes", adaptor.getScratchBytesAttr(), 0)))
    return failure();
  ArrayRef<int64_t> ranks = adaptor.getRanks();
  ArrayRef<DimExpr> sizes = adaptor.getShape().getDims();
  ArrayRef<Attribute> dtypes = adaptor.getDtypes().getValue();
  bool fits = !ranks.empty() && ranks.size() == dtypes.size() &&
              llvm::all_of(ranks, [](int64_t rank) { return rank >= 0; }) &&
              std::accumulate(ranks.begin(), ranks.end(), int64_t(0)) == int64_t(sizes.size());
  if (!fits)
    return failInference(location, op, "the attributes shape, ranks and dtypes have " + Twine(sizes.size()) + ", " +
                                           Twine(ranks.size()) + " and " + Twine(dtypes.size()) +
                                           " entries; there must be a result, each with a rank and a dtype, and as many "
                                           "sizes as the ranks add up to");
  for (auto [rank, dtype] : llvm::zip(ranks, dtypes)) {
    if (failed(addType(location, op, cast<TypeAttr>(dtype).getValue(), sizes.take_front(rank), types)))
      return failure();
    sizes = sizes.drop_front(rank);
  }
  return success();
}

/// Only that it can fail is asked for: code generation makes no call of it.
LibraryCall ExternalOp::getLibraryCall() {
  LibraryCall call;
  call.stem = getSymbol().str();
  call.canFail = true;
  return call;
}

ExternalOp getExternal(DispatchOp dispatch) { return dyn_cast<ExternalOp>(dispatch.getBodyBlock().front()); }

SmallVector<unsigned> getExternalInputs(DispatchOp dispatch, ExternalOp op) {
  SmallVector<unsigned> numbers;
  for (Value operand : op.getInputs()) {
    assert(cast<BlockArgument>(operand).getOwner() == &dispatch.getBodyBlock() && "nothing is fused into it");
    numbers.push_back(cast<BlockArgument>(operand).getArgNumber());
  }
  (void)dispatch;
  return numbers;
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/External.cpp.inc"

void mlir::ferrule::registerExternalOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/External.cpp.inc"
      >();
}
