//===- ReadPieces.cpp - Concatenations that convolutions read in place ----===//
//
// A skip connection joins what an encoder and a decoder made along the
// channels, and a convolution reads it. Together with its parts the
// concatenation is twice their bytes, and making it is a pass over memory. The
// convolution's sum runs over one part after the other at each tap, so its
// kernel can read them where they lie; and each element of its weight's
// gradient is a sum over one channel of one part.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Fuse.h"
#include "passes/fuse/OpKinds.h"

#include "ir/graph/Layout.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <optional>

using namespace mlir;
using namespace mlir::ferrule;

/// Whether the result is channels-last images side by side, as many as a kernel takes.
static bool joinsChannels(ConcatOp op) {
  size_t count = op.getXs().size();
  return int64_t(op.getAxis()) + 1 == op.getType().getRank() && count > 1 && count <= maxImagePieces &&
         llvm::all_of(op.getXs(), [](Value x) { return getDims(x).back().getConstant().value_or(0) > 0; });
}

/// The image that a convolution over all its channels reads, as operand `use`, or that the gradient of its weight does:
/// one that may come in pieces; none if the operand is another.
static std::optional<MutableOperandRange> getImage(OpOperand &use) {
  auto asImage = [&](auto op) -> std::optional<MutableOperandRange> {
    if (op.getGroups() != 1 || op.getXs().size() != 1 || use.getOperandNumber() != 0)
      return std::nullopt;
    return op.getXsMutable();
  };
  return llvm::TypeSwitch<Operation *, std::optional<MutableOperandRange>>(use.getOwner())
      .Case<ImageConvolutionOp, ImageConvolutionWeightGradientOp>(asImage)
      .Default(std::nullopt);
}

/// Whether nothing needs the result whole but convolutions. What else needs it whole would be kept beside its parts.
static bool canStayInPieces(ConcatOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    return getImage(use) || (!isOutside(use.getOwner()) && loadsElements(use.getOwner()));
  });
}

void mlir::ferrule::readConcatenationsInPieces(ModuleOp module) {
  SmallVector<ConcatOp> concatenations;
  module.walk([&](ConcatOp op) {
    if (joinsChannels(op) && canStayInPieces(op))
      concatenations.push_back(op);
  });
  for (ConcatOp op : concatenations) {
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses()))
      if (std::optional<MutableOperandRange> image = getImage(use))
        image->assign(op.getXs());
    if (op->use_empty())
      op->erase();
  }
}
