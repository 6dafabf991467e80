//===- MakePieces.cpp - Cotangents of a concatenation's parts -------------===//
//
// The gradient of a convolution for its input, where that is a concatenation
// of channels, is cut into the cotangents of the parts. Whole it is as large
// as they are together, each part that a convolution reads is copied from it,
// and it is kept until the last of them is used. Each of its elements is a sum
// of its own, so the kernel that makes it can make one part alone, with the
// panels of the weight that belong to the part's channels. What is added to a
// part, or masked, is then an epilogue.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Fuse.h"

#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Shape.h"

#include <optional>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Channels [begin, end) of an image.
struct ChannelRange {
  int64_t begin, end;
};

} // namespace

/// What `op` takes of an image if that is whole panels of channels; the last panel of all may be ragged.
static std::optional<ChannelRange> getPanelsOfChannels(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice)
    return std::nullopt;
  Dims image = getDims(slice.getX()), part = getDims(slice.getResult());
  std::optional<int64_t> channels = image.back().getConstant(), begin = slice.getStarts().getDims().back().getConstant(),
                         count = part.back().getConstant();
  bool isWholeElsewhere = ArrayRef(image).drop_back() == ArrayRef(part).drop_back();
  if (!isWholeElsewhere || llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }) || !channels ||
      !begin || !count || *count == 0)
    return std::nullopt;
  ChannelRange range{*begin, *begin + *count};
  bool isPanels = range.begin % panelWidth == 0 && (range.end % panelWidth == 0 || range.end == *channels);
  return isPanels ? std::optional(range) : std::nullopt;
}

/// Whether nothing reads the result but slices of it, no two of the same channels. There is a kernel for each of them, so
/// their number is bounded.
static bool isReadInPieces(ImageConvolutionInputGradientOp op) {
  SmallVector<ChannelRange> ranges;
  for (Operation *user : op->getUsers()) {
    std::optional<ChannelRange> range = getPanelsOfChannels(user);
    if (!range)
      return false;
    ranges.push_back(*range);
  }
  llvm::sort(ranges, [](ChannelRange a, ChannelRange b) { return a.begin < b.begin; });
  for (unsigned index = 1; index < ranges.size(); ++index)
    if (ranges[index].begin < ranges[index - 1].end)
      return false;
  return !ranges.empty() && ranges.size() <= maxImagePieces;
}

/// The gradient for the channels that the slice takes.
static void makePiece(ImageConvolutionInputGradientOp op, SliceOp slice) {
  ChannelRange range = *getPanelsOfChannels(slice);
  OpBuilder builder(slice);
  GraphBuilder b(builder, op.getLoc());
  Dims stops = getDims(op.getPanels()), starts(stops.size(), DimExpr(0));
  starts.front() = DimExpr(range.begin / panelWidth);
  stops.front() = DimExpr((range.end + panelWidth - 1) / panelWidth);
  Value panels = b.slice(op.getPanels(), starts, stops, SmallVector<int64_t>(stops.size(), 1));
  auto piece = cast<ImageConvolutionInputGradientOp>(builder.clone(*op));
  piece.getPanelsMutable().assign(panels);
  piece.getResult().setType(slice.getType());
  slice.replaceAllUsesWith(piece.getResult());
  slice.erase();
}

void mlir::ferrule::makeGradientsInPieces(ModuleOp module) {
  SmallVector<ImageConvolutionInputGradientOp> gradients;
  module.walk([&](ImageConvolutionInputGradientOp op) {
    if (op.getGroups() == 1 && isReadInPieces(op))
      gradients.push_back(op);
  });
  for (ImageConvolutionInputGradientOp op : gradients) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      makePiece(op, cast<SliceOp>(user));
    op.erase();
  }
}
