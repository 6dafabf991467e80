#include "passes/layout/Layout.h"
#include "passes/layout/ReshapedAxes.h"

#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Normalize.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

SmallVector<int64_t> invert(ArrayRef<int64_t> pattern) {
  SmallVector<int64_t> inverse(pattern.size());
  for (auto [position, axis] : llvm::enumerate(pattern))
    inverse[axis] = position;
  return inverse;
}

bool isElementwise(Operation *op) {
  auto interface = dyn_cast_or_null<FerruleOpInterface>(op);
  return interface && interface.getLoweringKind() == LoweringKind::Elementwise;
}

/// The elementwise op again on other operands; its results take the operands' new sizes.
Operation *cloneElementwise(PatternRewriter &rewriter, Operation *op, ValueRange operands) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = rewriter.clone(*op, mapping);
  Dims dims = getDims(operands.front());
  for (Value result : clone->getResults())
    result.setType(makeTensorType(cast<RankedTensorType>(result.getType()).getElementType(), dims));
  return clone;
}

//===------------------------------------------------------------------------------------------------------------===//
// Transposes
//===------------------------------------------------------------------------------------------------------------===//

struct ComposeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no transpose below");
    SmallVector<int64_t> pattern;
    for (int64_t axis : op.getPattern())
      pattern.push_back(inner.getPattern()[axis]);
    GraphBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.transpose(inner.getX(), pattern)); // The builder drops the identity.
    return success();
  }
};

/// Moving axes of size 1 moves no element.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    Dims dims = getDims(op.getX());
    int64_t last = -1;
    for (int64_t axis : op.getPattern()) {
      if (dims[axis] == DimExpr(1))
        continue;
      if (axis < last)
        return rewriter.notifyMatchFailure(op, "moves elements");
      last = axis;
    }
    GraphBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, b.reshape(op.getX(), getDims(op.getResult())));
    return success();
  }
};

struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    GraphBuilder b(rewriter, op.getLoc());
    if (op.getX().getType() == op.getResult().getType()) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no reshape below");
    rewriter.replaceOp(op, b.reshape(inner.getX(), getDims(op.getResult())));
    return success();
  }
};

struct SinkTransposeThroughElementwise : RewritePattern {
  SinkTransposeThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || op->getNumResults() != 1)
      return failure();
    TransposeOp moved;
    for (Value operand : op->getOperands())
      if (auto transpose = operand.getDefiningOp<TransposeOp>(); transpose && transpose->hasAttr(channelsFirstMark))
        moved = transpose;
    if (!moved)
      return rewriter.notifyMatchFailure(op, "no operand comes from channels-last");
    SmallVector<int64_t> pattern(moved.getPattern());
    GraphBuilder b(rewriter, op->getLoc());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      auto transpose = operand.getDefiningOp<TransposeOp>();
      operands.push_back(transpose && transpose.getPattern() == ArrayRef<int64_t>(pattern)
                             ? transpose.getX()
                             : b.transpose(operand, invert(pattern)));
    }
    Operation *clone = cloneElementwise(rewriter, op, operands);
    Value result = b.transpose(clone->getResult(0), pattern);
    result.getDefiningOp()->setAttr(channelsFirstMark, rewriter.getUnitAttr());
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A concatenation of channels-last images stays channels-last.
struct SinkTransposeThroughConcat : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    SmallVector<int64_t> pattern;
    for (Value operand : op.getXs())
      if (auto transpose = operand.getDefiningOp<TransposeOp>(); transpose && transpose->hasAttr(channelsFirstMark))
        pattern = SmallVector<int64_t>(transpose.getPattern());
    if (pattern.empty())
      return rewriter.notifyMatchFailure(op, "no operand comes from channels-last");
    GraphBuilder b(rewriter, op.getLoc());
    SmallVector<Value> operands;
    for (Value operand : op.getXs())
      operands.push_back(b.transpose(operand, invert(pattern))); // Composed with the operand's own transpose.
    Value result = b.transpose(b.concat(operands, pattern[op.getAxis()]), pattern);
    result.getDefiningOp()->setAttr(channelsFirstMark, rewriter.getUnitAttr());
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// `transpose` of channels-last `x`, marked as such.
Value createChannelsFirst(GraphBuilder &b, Value x, ArrayRef<int64_t> pattern) {
  Value result = b.transpose(x, pattern);
  if (result != x)
    result.getDefiningOp()->setAttr(channelsFirstMark, b.getBuilder().getUnitAttr());
  return result;
}

/// A part of a channels-last image stays channels-last, as the gradient for one of several that were joined.
struct SinkTransposeThroughSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasAttr(channelsFirstMark))
      return rewriter.notifyMatchFailure(op, "no operand comes from channels-last");
    ArrayRef<int64_t> pattern = transpose.getPattern();
    Dims starts(pattern.size(), DimExpr(0)), stops(starts);
    SmallVector<int64_t> steps(pattern.size());
    for (auto [axis, moved] : llvm::enumerate(pattern)) {
      starts[moved] = op.getStarts().getDims()[axis];
      stops[moved] = op.getStops().getDims()[axis];
      steps[moved] = op.getSteps()[axis];
    }
    GraphBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, createChannelsFirst(b, b.slice(transpose.getX(), starts, stops, steps), pattern));
    return success();
  }
};

/// A reshape that merges or splits axes which also lie side by side in channels-last order: an image repeated or
/// flattened along its height and width.
struct SinkTransposeThroughReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasAttr(channelsFirstMark))
      return rewriter.notifyMatchFailure(op, "does not come from channels-last");
    Dims to = getDims(op.getResult());
    std::optional<SmallVector<ReshapedAxes>> parts = splitReshape(getDims(op.getX()), to);
    if (!parts)
      return rewriter.notifyMatchFailure(op, "mixes axes");
    // pattern[axis] is the place of an axis in channels-last order.
    ArrayRef<int64_t> pattern = transpose.getPattern();
    for (const ReshapedAxes &part : *parts)
      for (unsigned axis = part.begin + 1; axis < part.end; ++axis)
        if (pattern[axis] != pattern[axis - 1] + 1)
          return rewriter.notifyMatchFailure(op, "merges axes that lie apart in channels-last order");
    llvm::sort(*parts,
               [&](const ReshapedAxes &a, const ReshapedAxes &b) { return pattern[a.begin] < pattern[b.begin]; });
    Dims sizes;
    SmallVector<int64_t> back(to.size());
    for (const ReshapedAxes &part : *parts)
      for (unsigned axis = part.resultBegin; axis < part.resultEnd; ++axis) {
        back[axis] = sizes.size();
        sizes.push_back(to[axis]);
      }
    GraphBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, createChannelsFirst(b, b.reshape(transpose.getX(), sizes), back));
    return success();
  }
};

/// An image repeated along new or unit axes stays channels-last.
struct SinkTransposeThroughBroadcast : OpRewritePattern<BroadcastToOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BroadcastToOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasAttr(channelsFirstMark))
      return rewriter.notifyMatchFailure(op, "does not come from channels-last");
    Dims to = getDims(op.getResult());
    int64_t added = to.size() - transpose.getPattern().size();
    SmallVector<int64_t> pattern = llvm::to_vector(llvm::seq<int64_t>(0, added));
    for (int64_t axis : transpose.getPattern())
      pattern.push_back(axis + added);
    Dims sizes(to.size());
    for (auto [axis, place] : llvm::enumerate(pattern))
      sizes[place] = to[axis];
    GraphBuilder b(rewriter, op.getLoc());
    rewriter.replaceOp(op, createChannelsFirst(b, b.broadcastTo(transpose.getX(), sizes), pattern));
    return success();
  }
};

/// transpose(broadcast_to(x)): x is smaller, and often one vector, whose transpose is a reshape. A way back from
/// channels-last moves down instead.
struct TransposeBeforeBroadcast : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getX().getDefiningOp<BroadcastToOp>();
    if (!broadcast || op->hasAttr(channelsFirstMark))
      return rewriter.notifyMatchFailure(op, "no broadcast below");
    GraphBuilder b(rewriter, op.getLoc());
    if (getElementCount(broadcast.getX()) == DimExpr(1)) {
      rewriter.replaceOp(op, b.broadcastTo(b.reshape(broadcast.getX(), {}), getDims(op.getResult())));
      return success();
    }
    Dims source = getDims(broadcast.getX());
    source.insert(source.begin(), op.getPattern().size() - source.size(), DimExpr(1));
    Value x = b.transpose(b.reshape(broadcast.getX(), source), op.getPattern());
    rewriter.replaceOp(op, b.broadcastTo(x, getDims(op.getResult())));
    return success();
  }
};

/// Rebuilds a splat constant under another type.
Value createSplat(PatternRewriter &rewriter, ConstantOp constant, RankedTensorType type) {
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat)
    return nullptr;
  return ConstantOp::create(rewriter, constant.getLoc(), type, cast<ElementsAttr>(splat.resizeSplat(type))).getResult();
}

struct TransposeSplat : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto constant = op.getX().getDefiningOp<ConstantOp>();
    Value splat = constant ? createSplat(rewriter, constant, op.getType()) : nullptr;
    if (!splat)
      return rewriter.notifyMatchFailure(op, "not a constant of one value");
    rewriter.replaceOp(op, splat);
    return success();
  }
};

/// The axes of transpose(x, pattern) as axes of x. Their order stays: it numbers the elements of a sum.
SmallVector<int64_t> mapAxes(ArrayRef<int64_t> axes, ArrayRef<int64_t> pattern) {
  SmallVector<int64_t> mapped;
  for (int64_t axis : axes)
    mapped.push_back(pattern[axis]);
  return mapped;
}

/// A reduction of x without the axes kept leaves x's other axes ascending; the transposed x leaves them in pattern
/// order. The transpose that makes the first the second.
SmallVector<int64_t> getKeptPattern(ArrayRef<int64_t> axes, ArrayRef<int64_t> pattern) {
  SmallVector<int64_t> kept;
  for (auto [position, axis] : llvm::enumerate(pattern))
    if (!llvm::is_contained(axes, int64_t(position)))
      kept.push_back(axis);
  SmallVector<int64_t> sorted(kept);
  llvm::sort(sorted);
  SmallVector<int64_t> result;
  for (int64_t axis : kept)
    result.push_back(llvm::find(sorted, axis) - sorted.begin());
  return result;
}

template <typename ReductionOp> struct SinkTransposeThroughReduction : OpRewritePattern<ReductionOp> {
  using OpRewritePattern<ReductionOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ReductionOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().template getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "no transpose below");
    GraphBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> axes = mapAxes(op.getAxes(), transpose.getPattern());
    SmallVector<int64_t> kept = getKeptPattern(op.getAxes(), transpose.getPattern());
    auto clone = cast<ReductionOp>(rewriter.clone(*op));
    clone.getXMutable().assign(transpose.getX());
    clone.setAxes(axes);
    Dims dims = getDims(transpose.getX()), remaining;
    for (auto [axis, dim] : llvm::enumerate(dims))
      if (!llvm::is_contained(axes, int64_t(axis)))
        remaining.push_back(dim);
    SmallVector<Value> results;
    if constexpr (!std::is_same_v<ReductionOp, MomentsOp>)
      clone.setKeepdims(false);
    for (auto [result, old] : llvm::zip(clone->getResults(), op->getResults())) {
      auto type = cast<RankedTensorType>(old.getType());
      result.setType(makeTensorType(type.getElementType(), remaining));
      results.push_back(b.reshape(b.transpose(result, kept), getDims(type)));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

//===------------------------------------------------------------------------------------------------------------===//
// Packs
//===------------------------------------------------------------------------------------------------------------===//

template <typename OpType> PanelLayout getLayout(OpType op) {
  PanelLayout layout;
  layout.nAxes = SmallVector<int64_t>(op.getNAxes());
  layout.kAxes = SmallVector<int64_t>(op.getKAxes());
  layout.groups = op.getGroups();
  return layout;
}

struct CancelPackOfUnpack : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op, PatternRewriter &rewriter) const override {
    auto unpack = op.getX().getDefiningOp<UnpackOp>();
    if (!unpack || getLayout(unpack) != getLayout(op))
      return rewriter.notifyMatchFailure(op, "no unpack of the same layout below");
    rewriter.replaceOp(op, unpack.getX());
    return success();
  }
};

/// The padding lanes compute too; nothing reads them.
struct RaisePackThroughElementwise : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op, PatternRewriter &rewriter) const override {
    Operation *producer = op.getX().getDefiningOp();
    if (!isElementwise(producer) || producer->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "not made by an elementwise op");
    PanelLayout layout = getLayout(op);
    SmallVector<Operation *> users(producer->getUsers());
    for (Operation *user : users) {
      auto pack = dyn_cast<PackOp>(user);
      if (!pack || getLayout(pack) != layout)
        return rewriter.notifyMatchFailure(op, "the value is also read row-major");
    }
    rewriter.setInsertionPoint(producer);
    GraphBuilder b(rewriter, op.getLoc());
    SmallVector<Value> operands;
    for (Value operand : producer->getOperands()) {
      auto type = cast<RankedTensorType>(operand.getType());
      auto physical = RankedTensorType::get(layout.getPhysicalShape(type.getShape()), type.getElementType());
      operands.push_back(b.create<PackOp>(physical, operand, layout.nAxes, layout.kAxes, layout.groups).getResult());
    }
    Operation *clone = cloneElementwise(rewriter, producer, operands);
    for (Operation *user : users)
      rewriter.replaceOp(user, clone->getResults());
    return success();
  }
};

struct PackUniform : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op, PatternRewriter &rewriter) const override {
    GraphBuilder b(rewriter, op.getLoc());
    if (auto constant = op.getX().getDefiningOp<ConstantOp>())
      if (Value splat = createSplat(rewriter, constant, op.getType())) {
        rewriter.replaceOp(op, splat);
        return success();
      }
    auto broadcast = op.getX().getDefiningOp<BroadcastToOp>();
    if (!broadcast || getElementCount(broadcast.getX()) != DimExpr(1))
      return rewriter.notifyMatchFailure(op, "not one value repeated");
    rewriter.replaceOp(op, b.broadcastTo(b.reshape(broadcast.getX(), {}), getDims(op.getResult())));
    return success();
  }
};

} // namespace

LogicalResult mlir::ferrule::propagateLayouts(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns.add<ComposeTransposes, TransposeToReshape, ComposeReshapes, SinkTransposeThroughElementwise,
               SinkTransposeThroughConcat, SinkTransposeThroughSlice, SinkTransposeThroughReshape,
               SinkTransposeThroughBroadcast, TransposeBeforeBroadcast, TransposeSplat, CancelPackOfUnpack,
               RaisePackThroughElementwise, PackUniform>(context);
  patterns.add<SinkTransposeThroughReduction<ReduceSumOp>, SinkTransposeThroughReduction<ReduceMaxOp>,
               SinkTransposeThroughReduction<ReduceMinOp>, SinkTransposeThroughReduction<ReduceProdOp>,
               SinkTransposeThroughReduction<MomentsOp>>(context);
  populateWeightProductPatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false);
  // A pack rises past a value once all its readers are packs, which takes a round for each place where readers meet:
  // as many as the update of a parameter is deep, and no pattern undoes another.
  config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
  LogicalResult result = applyPatternsGreedily(module, std::move(patterns), config);
  module.walk([](TransposeOp transpose) { transpose->removeAttr(channelsFirstMark); });
  return result;
}
