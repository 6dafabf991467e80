//===- SinkReshapes.cpp - Elementwise ops at the rank of their product ----===//
//
// A product of a tensor [batch, steps, width] with a matrix is computed over
// its rows [batch * steps, width]; the reshape back would stand between the
// product and its bias, activation and residual. A dispatch holds no reshape
// and its members have one shape, so each of these would be a pass over memory
// of its own. Here they are computed over the rows too, and the reshape moves
// behind them, where it meets the one before the next product.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/SinkReshapes.h"

#include "passes/fuse/OpKinds.h"
#include "passes/layout/ReshapedAxes.h"

#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Normalize.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Softmax.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Chains of operands are followed this far.
constexpr unsigned maxDepth = 16;

/// How a reshape splits the axes of its operand: `parts` has one for each of them.
struct Split {
  Dims merged, split;
  SmallVector<ReshapedAxes> parts;
};

std::optional<Split> getSplit(ReshapeOp op) {
  Split result{getDims(op.getX()), getDims(op.getResult()), {}};
  std::optional<SmallVector<ReshapedAxes>> parts = splitReshape(result.merged, result.split);
  if (!parts || parts->size() != result.merged.size())
    return std::nullopt;
  result.parts = std::move(*parts);
  return result;
}

/// The split between operand and op, if op could join the kernel that makes what the reshape reads.
std::optional<Split> findSplit(Value operand) {
  auto reshape = operand.getDefiningOp<ReshapeOp>();
  Operation *producer = reshape ? reshape.getX().getDefiningOp() : nullptr;
  if (!producer || isOutside(producer) || !storesElements(producer))
    return std::nullopt;
  return getSplit(reshape);
}

/// The sizes of a broadcast's operand with axes merged, where each part is repeated as a whole or not at all; without
/// axes of size 1 in front.
std::optional<Dims> mergeBroadcast(BroadcastToOp op, const Split &split) {
  Dims from = getDims(op.getX()), merged;
  from.insert(from.begin(), split.split.size() - from.size(), DimExpr(1));
  for (const ReshapedAxes &part : split.parts) {
    bool whole = true, repeated = true;
    DimExpr size = 1;
    for (unsigned axis = part.resultBegin; axis < part.resultEnd; ++axis) {
      whole &= from[axis] == split.split[axis];
      repeated &= from[axis] == DimExpr(1);
      size = size * from[axis];
    }
    if (!whole && !repeated)
      return std::nullopt;
    if (!merged.empty() || size != DimExpr(1))
      merged.push_back(size);
  }
  return merged;
}

/// The reshape of x right behind x: equal ones are one, so that the readers of x are counted as what they are. Of a
/// constant of one value it is another constant, which no kernel has to make.
Value reshapeOnce(PatternRewriter &rewriter, Value x, ArrayRef<DimExpr> dims) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointAfterValue(x);
  RankedTensorType type = makeTensorType(cast<RankedTensorType>(x.getType()).getElementType(), dims);
  if (auto constant = x.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return ConstantOp::create(rewriter, x.getLoc(), type, cast<ElementsAttr>(splat.resizeSplat(type))).getResult();
  for (Operation *user : x.getUsers())
    if (isa<ReshapeOp>(user) && user->getResult(0).getType() == type && user->getBlock() == x.getParentBlock()) {
      if (user->getIterator() != rewriter.getInsertionPoint())
        rewriter.moveOpBefore(user, rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
      return user->getResult(0);
    }
  return GraphBuilder(rewriter, x.getLoc()).reshape(x, dims);
}

bool isPlainElementwise(Operation *op) {
  return isElementwise(op) && op->getNumResults() == 1 && op->getNumOperands() > 0;
}

/// Merges the axes of values, all of which have the sizes that a reshape gives.
class Merging {
public:
  Merging(const Split &split, PatternRewriter &rewriter) : split(split), rewriter(rewriter) {}

  /// Whether no kernel more is needed to have the value with its axes merged.
  bool canMerge(Value value) const {
    DenseMap<Value, bool> known;
    return canMerge(value, 0, known);
  }

  /// The value with its axes merged; an elementwise op that makes it is replaced by one over merged axes.
  Value merge(Value value);

  /// The elementwise op over merged axes. All its operands can be merged.
  Value mergeElementwise(Operation *op);

private:
  bool canMerge(Value value, unsigned depth, DenseMap<Value, bool> &known) const;
  bool canMergeOperands(Operation *op, unsigned depth, DenseMap<Value, bool> &known) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) { return canMerge(operand, depth + 1, known); });
  }

  const Split &split;
  PatternRewriter &rewriter;
};

bool Merging::canMerge(Value value, unsigned depth, DenseMap<Value, bool> &known) const {
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op))
    return true;
  if (auto broadcast = dyn_cast<BroadcastToOp>(op))
    return mergeBroadcast(broadcast, split).has_value();
  if (isView(op) || isFree(op))
    return false;
  if (!isPlainElementwise(op))
    return true;
  if (auto it = known.find(value); it != known.end())
    return it->second;
  // A value with several readers is stored as a rule, and then its reshape costs nothing. One that only this reader has
  // would be stored for it.
  bool result = !value.hasOneUse() || (depth < maxDepth && canMergeOperands(op, depth, known));
  known[value] = result;
  return result;
}

Value Merging::merge(Value value) {
  Operation *op = value.getDefiningOp();
  GraphBuilder b(rewriter, value.getLoc());
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op))
    return reshapeOnce(rewriter, reshape.getX(), split.merged);
  if (auto broadcast = dyn_cast_or_null<BroadcastToOp>(op))
    return b.broadcastTo(reshapeOnce(rewriter, broadcast.getX(), *mergeBroadcast(broadcast, split)), split.merged);
  DenseMap<Value, bool> known;
  if (!op || !isPlainElementwise(op) || !canMergeOperands(op, 0, known))
    return reshapeOnce(rewriter, value, split.merged);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value merged = mergeElementwise(op);
  rewriter.replaceOp(op, b.reshape(merged, split.split));
  return merged;
}

Value Merging::mergeElementwise(Operation *op) {
  SmallVector<Value> operands;
  // One operand may be made of another, so that merging it replaces both.
  for (unsigned number = 0; number < op->getNumOperands(); ++number)
    operands.push_back(merge(op->getOperand(number)));
  Operation *clone = rewriter.clone(*op);
  clone->setOperands(operands);
  Value result = clone->getResult(0);
  result.setType(makeTensorType(cast<RankedTensorType>(result.getType()).getElementType(), split.merged));
  return result;
}

struct SinkThroughElementwise : RewritePattern {
  SinkThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<FerruleOpInterface>(op) || !isPlainElementwise(op))
      return failure();
    for (Value operand : op->getOperands()) {
      std::optional<Split> split = findSplit(operand);
      if (!split)
        continue;
      Merging merging(*split, rewriter);
      if (!llvm::all_of(op->getOperands(), [&](Value other) { return merging.canMerge(other); }))
        continue;
      Value merged = merging.mergeElementwise(op);
      GraphBuilder b(rewriter, op->getLoc());
      rewriter.replaceOp(op, b.reshape(merged, split->split));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is split from what can be computed in one kernel with it");
  }
};

/// The merged axes that stand for `axes`, in that order: it numbers the elements of a sum. None where a merged axis
/// would be reduced in part or in another order.
std::optional<SmallVector<int64_t>> mergeAxes(ArrayRef<int64_t> axes, const Split &split) {
  SmallVector<int64_t> merged;
  for (size_t position = 0; position < axes.size();) {
    auto part = llvm::find_if(split.parts, [&](const ReshapedAxes &each) {
      return each.resultBegin == axes[position];
    });
    if (part == split.parts.end())
      return std::nullopt;
    for (unsigned axis = part->resultBegin; axis < part->resultEnd; ++axis, ++position)
      if (position == axes.size() || axes[position] != axis)
        return std::nullopt;
    merged.push_back(part - split.parts.begin());
  }
  return merged;
}

/// Reductions, statistics and ops along rows: `op` again on x with its axes merged, its results reshaped to what they
/// were. `setAxes` gives the clone its axes, `sizes` are those of its results.
template <typename OpType, typename SetAxes>
void replaceByMerged(OpType op, Value x, ArrayRef<DimExpr> sizes, PatternRewriter &rewriter, SetAxes setAxes) {
  auto clone = cast<OpType>(rewriter.clone(*op));
  clone.getXMutable().assign(x);
  setAxes(clone);
  GraphBuilder b(rewriter, op.getLoc());
  SmallVector<Value> results;
  for (auto [result, old] : llvm::zip(clone->getResults(), op->getResults())) {
    auto type = cast<RankedTensorType>(old.getType());
    result.setType(makeTensorType(type.getElementType(), sizes));
    results.push_back(b.reshape(result, getDims(type)));
  }
  rewriter.replaceOp(op, results);
}

template <typename ReductionOp> struct SinkThroughReduction : OpRewritePattern<ReductionOp> {
  using OpRewritePattern<ReductionOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ReductionOp op, PatternRewriter &rewriter) const override {
    std::optional<Split> split = findSplit(op.getX());
    if constexpr (!std::is_same_v<ReductionOp, MomentsOp>)
      if (op.getKeepdims())
        return rewriter.notifyMatchFailure(op, "keeps axes");
    std::optional<SmallVector<int64_t>> axes = split ? mergeAxes(op.getAxes(), *split) : std::nullopt;
    if (!axes)
      return rewriter.notifyMatchFailure(op, "reads no split axes, or reduces them in part");
    Dims kept;
    for (auto [axis, dim] : llvm::enumerate(split->merged))
      if (!llvm::is_contained(*axes, int64_t(axis)))
        kept.push_back(dim);
    Value x = op.getX().template getDefiningOp<ReshapeOp>().getX();
    replaceByMerged(op, x, kept, rewriter, [&](ReductionOp clone) { clone.setAxes(*axes); });
    return success();
  }
};

/// Ops along one axis, which keep it or drop it.
template <typename AxisOp> struct SinkThroughAxis : OpRewritePattern<AxisOp> {
  using OpRewritePattern<AxisOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(AxisOp op, PatternRewriter &rewriter) const override {
    constexpr bool drops = std::is_same_v<AxisOp, ArgmaxOp> || std::is_same_v<AxisOp, ArgminOp>;
    if constexpr (drops)
      if (op.getKeepdims())
        return rewriter.notifyMatchFailure(op, "keeps the axis");
    std::optional<Split> split = findSplit(op.getX());
    std::optional<SmallVector<int64_t>> axes = split ? mergeAxes({int64_t(op.getAxis())}, *split) : std::nullopt;
    if (!axes)
      return rewriter.notifyMatchFailure(op, "reads no split axes, or goes along a part of one");
    Dims sizes(split->merged);
    if (drops)
      sizes.erase(sizes.begin() + axes->front());
    Value x = op.getX().template getDefiningOp<ReshapeOp>().getX();
    replaceByMerged(op, x, sizes, rewriter, [&](AxisOp clone) { clone.setAxis(axes->front()); });
    return success();
  }
};

/// A reshape behind a reshape.
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no reshape below");
    rewriter.replaceOp(op, reshapeOnce(rewriter, inner.getX(), getDims(op.getResult())));
    return success();
  }
};

} // namespace

void mlir::ferrule::populateSinkReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<SinkThroughElementwise, SinkThroughReduction<ReduceSumOp>, SinkThroughReduction<ReduceMaxOp>,
               SinkThroughReduction<ReduceMinOp>, SinkThroughReduction<ReduceProdOp>, SinkThroughReduction<MomentsOp>,
               SinkThroughAxis<ArgmaxOp>, SinkThroughAxis<ArgminOp>, SinkThroughAxis<SoftmaxOp>,
               SinkThroughAxis<LogSoftmaxOp>, MergeReshapes>(patterns.getContext());
}
