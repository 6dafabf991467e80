#include "passes/fuse/Fuse.h"
#include "passes/fuse/SinkReshapes.h"
#include "passes/layout/Layout.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Softmax.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

template <typename ReductionOp> struct DropKeptAxes : OpRewritePattern<ReductionOp> {
  using OpRewritePattern<ReductionOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(ReductionOp op, PatternRewriter &rewriter) const override {
    if (!op.getKeepdims())
      return rewriter.notifyMatchFailure(op, "keeps no axes");
    GraphBuilder b(rewriter, op.getLoc());
    SmallVector<int64_t> axes;
    if constexpr (std::is_same_v<ReductionOp, ArgmaxOp> || std::is_same_v<ReductionOp, ArgminOp>)
      axes = {int64_t(op.getAxis())};
    else
      axes = SmallVector<int64_t>(op.getAxes());
    auto clone = cast<ReductionOp>(rewriter.clone(*op));
    clone.setKeepdims(false);
    clone->getResult(0).setType(makeTensorType(cast<RankedTensorType>(op.getType()).getElementType(),
                                               removeAxes(getDims(op.getX()), axes)));
    rewriter.replaceOp(op, b.reshape(clone->getResult(0), getDims(op->getResult(0))));
    return success();
  }
};

template <typename RowsOp> struct MoveRowsToLastAxis : OpRewritePattern<RowsOp> {
  using OpRewritePattern<RowsOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(RowsOp op, PatternRewriter &rewriter) const override {
    int64_t rank = op.getX().getType().getRank(), axis = op.getAxis();
    if (axis == rank - 1)
      return rewriter.notifyMatchFailure(op, "already along the last axis");
    SmallVector<int64_t> pattern = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(pattern[axis], pattern[rank - 1]); // Its own inverse.
    GraphBuilder b(rewriter, op.getLoc());
    Value x = b.transpose(op.getX(), pattern);
    Value y = b.create<RowsOp>(x.getType(), x, uint64_t(rank - 1)).getResult();
    rewriter.replaceOp(op, b.transpose(y, pattern));
    return success();
  }
};

template <typename RowsOp> struct NarrowLabels : OpRewritePattern<RowsOp> {
  using OpRewritePattern<RowsOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(RowsOp op, PatternRewriter &rewriter) const override {
    if (op.getLabels().getType().getElementType().isInteger(32))
      return rewriter.notifyMatchFailure(op, "labels are int32");
    GraphBuilder b(rewriter, op.getLoc());
    // The conversion saturates, so a label outside int32 stays outside the classes.
    Value labels = b.cast(op.getLabels(), rewriter.getI32Type());
    rewriter.modifyOpInPlace(op, [&] { op.getLabelsMutable().assign(labels); });
    return success();
  }
};

} // namespace

LogicalResult mlir::ferrule::prepareFusion(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  patterns.add<DropKeptAxes<ReduceSumOp>, DropKeptAxes<ReduceMaxOp>, DropKeptAxes<ReduceMinOp>,
               DropKeptAxes<ReduceProdOp>, DropKeptAxes<ArgmaxOp>, DropKeptAxes<ArgminOp>>(context);
  patterns.add<MoveRowsToLastAxis<SoftmaxOp>, MoveRowsToLastAxis<LogSoftmaxOp>, NarrowLabels<CrossEntropyRowsOp>,
               NarrowLabels<CrossEntropyRowsGradientOp>>(context);
  populateSinkReshapePatterns(patterns);
  GreedyRewriteConfig config;
  config.enableFolding(false);
  // A reshape moves by one op a round in a chain that is visited from its end; no pattern undoes another.
  config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
  if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
    return failure();
  return transposeRightOperands(module);
}
