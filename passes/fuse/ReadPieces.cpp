//===- ReadPieces.cpp - Concatenations that convolutions read in place ----===//
//
// A skip connection joins what an encoder and a decoder made along the
// channels, and a convolution reads it. Together with its parts the
// concatenation is twice their bytes, and making it is a pass over memory. The
// convolution's sum runs over one part after the other at each tap, so its
// kernel can read them where they lie.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Fuse.h"
#include "passes/fuse/OpKinds.h"

#include "ir/graph/Layout.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Shapes.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Whether the result is channels-last images side by side, as many as a kernel takes.
static bool joinsChannels(ConcatOp op) {
  size_t count = op.getXs().size();
  return int64_t(op.getAxis()) + 1 == op.getType().getRank() && count > 1 && count <= maxImagePieces &&
         llvm::all_of(op.getXs(), [](Value x) { return getDims(x).back().getConstant().has_value(); });
}

/// Whether `use` is the image of a convolution over all its channels.
static bool isImageOfConvolution(OpOperand &use) {
  auto convolution = dyn_cast<ImageConvolutionOp>(use.getOwner());
  return convolution && convolution.getGroups() == 1 && convolution.getXs().size() == 1 && use.getOperandNumber() == 0;
}

/// Whether nothing needs the result whole but convolutions. What else needs it whole would be kept beside its parts; and the
/// gradient of a weight, which does in training, would have the parts kept for it in place of the result, with the sums
/// that other gradients are added to: that takes a few per cent more.
static bool canStayInPieces(ConcatOp op) {
  return llvm::all_of(op->getUses(), [](OpOperand &use) {
    return isImageOfConvolution(use) || (!isOutside(use.getOwner()) && loadsElements(use.getOwner()));
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
      if (isImageOfConvolution(use))
        cast<ImageConvolutionOp>(use.getOwner()).getXsMutable().assign(op.getXs());
    if (op->use_empty())
      op->erase();
  }
}
