// Canonical forms and common subexpressions. Every rewrite keeps every bit of every result, zero's sign included; NaN
// equals NaN whatever its sign and payload.
#include "ir/graph/Elementwise.h"
#include "ir/graph/Gradient.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Shape.h"
#include "passes/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"

namespace {

//===------------------------------------------------------------------------------------------------------------===//
// Shape ops
//===------------------------------------------------------------------------------------------------------------===//

/// An op of one operand that gives the operand itself: it has its type, and moves nothing.
template <typename Op> struct RemoveIdentity : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (op->getOperand(0).getType() != op->getResult(0).getType())
      return rewriter.notifyMatchFailure(op, "changes the type");
    rewriter.replaceOp(op, op->getOperand(0));
    return success();
  }
};

/// reshape(reshape(x)) and broadcast_to(broadcast_to(x)): the outer alone.
template <typename Op> struct MergeWithSame : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is another op");
    rewriter.replaceOpWithNewOp<Op>(op, inner.getX(), op.getShapeAttr());
    return success();
  }
};

struct SimplifyTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> pattern = op.getPattern();
    if (llvm::equal(pattern, llvm::seq<int64_t>(0, pattern.size()))) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    if (auto inner = op.getX().getDefiningOp<TransposeOp>()) {
      SmallVector<int64_t> composed;
      for (int64_t axis : pattern)
        composed.push_back(inner.getPattern()[axis]);
      rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getX(), composed);
      return success();
    }
    // Only axes of size 1 move: the elements stay in order.
    Dims dims = getDims(op.getX());
    int64_t last = -1;
    for (int64_t axis : pattern) {
      if (dims[axis] == DimExpr(1))
        continue;
      if (axis < last)
        return rewriter.notifyMatchFailure(op, "moves elements");
      last = axis;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getX(), DimsAttr::get(getContext(), getDims(op.getResult())));
    return success();
  }
};

/// A slice of everything, in order.
struct RemoveFullSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    bool inOrder = llvm::all_of(op.getSteps(), [](int64_t step) { return step == 1; });
    if (!inOrder || op.getX().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "takes a part or another order");
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

struct RemoveConcatOfOne : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    if (op.getXs().size() != 1)
      return rewriter.notifyMatchFailure(op, "joins several tensors");
    rewriter.replaceOp(op, op.getXs().front());
    return success();
  }
};

/// A product reads its operands along either of the last two axes.
struct FoldTransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value a = getTransposed(op.getA()), b = getTransposed(op.getB());
    if (!a && !b)
      return rewriter.notifyMatchFailure(op, "no operand has its last two axes exchanged");
    rewriter.modifyOpInPlace(op, [&] {
      if (a) {
        op.getAMutable().assign(a);
        op.setTransposeA(!op.getTransposeA());
      }
      if (b) {
        op.getBMutable().assign(b);
        op.setTransposeB(!op.getTransposeB());
      }
    });
    return success();
  }

  /// x, if `value` is x with the last two axes exchanged.
  static Value getTransposed(Value value) {
    auto transpose = value.getDefiningOp<TransposeOp>();
    if (!transpose)
      return nullptr;
    ArrayRef<int64_t> pattern = transpose.getPattern();
    int64_t rank = pattern.size();
    for (int64_t axis = 0; axis < rank; ++axis)
      if (pattern[axis] != (axis < rank - 2 ? axis : 2 * rank - 3 - axis))
        return nullptr;
    return transpose.getX();
  }
};

//===------------------------------------------------------------------------------------------------------------===//
// Elementwise ops
//===------------------------------------------------------------------------------------------------------------===//

/// neg(neg x), logical_not(logical_not x)
template <typename Op> struct RemoveTwice : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "operand is another op");
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

struct RemoveSameWhere : OpRewritePattern<WhereOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WhereOp op, PatternRewriter &rewriter) const override {
    if (op.getX() != op.getY())
      return rewriter.notifyMatchFailure(op, "the branches differ");
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// The one value of all elements, looking through broadcasts and reshapes.
Attribute getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
      return elements && elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
    }
    if (!isa<BroadcastToOp, ReshapeOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

bool isOne(Attribute value) {
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return number.getValue().isExactlyValue(1.0);
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number && number.getValue().isOne() && !number.getType().isInteger(1);
}

/// A zero of that sign; an integer zero counts as either.
bool isZero(Attribute value, bool negative) {
  if (auto number = dyn_cast_or_null<FloatAttr>(value))
    return number.getValue().isZero() && number.getValue().isNegative() == negative;
  auto number = dyn_cast_or_null<IntegerAttr>(value);
  return number && number.getValue().isZero();
}

/// x * 1, 1 * x, x / 1, x - (+0), x + (-0), (-0) + x. Not x + (+0): it turns -0 into +0.
template <typename Op> struct RemoveNeutral : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  static bool isNeutral(Attribute value) {
    if constexpr (std::is_same_v<Op, AddOp>)
      return isZero(value, /*negative=*/true);
    else if constexpr (std::is_same_v<Op, SubOp>)
      return isZero(value, /*negative=*/false);
    else
      return isOne(value);
  }

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    constexpr bool commutes = std::is_same_v<Op, AddOp> || std::is_same_v<Op, MulOp>;
    if (isNeutral(getSplat(op.getY()))) {
      rewriter.replaceOp(op, op.getX());
      return success();
    }
    if (commutes && isNeutral(getSplat(op.getX()))) {
      rewriter.replaceOp(op, op.getY());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is neutral");
  }
};

//===------------------------------------------------------------------------------------------------------------===//
// The pass
//===------------------------------------------------------------------------------------------------------------===//

struct SimplifyPass : impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted()) {
      module.emitError("simplify runs after gradients are expanded: merging ops would change the order of their sums");
      return signalPassFailure();
    }
    RewritePatternSet patterns(&getContext());
    patterns
        .add<RemoveIdentity<ReshapeOp>, RemoveIdentity<BroadcastToOp>, RemoveIdentity<CastOp>,
             RemoveIdentity<StopGradientOp>, MergeWithSame<ReshapeOp>, MergeWithSame<BroadcastToOp>, SimplifyTranspose,
             FoldTransposeIntoMatmul, RemoveFullSlice, RemoveConcatOfOne, RemoveTwice<NegOp>, RemoveTwice<LogicalNotOp>, RemoveSameWhere,
             RemoveNeutral<AddOp>, RemoveNeutral<SubOp>, RemoveNeutral<MulOp>, RemoveNeutral<DivOp>>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(module);
    eliminateCommonSubExpressions(rewriter, dominance, module);
  }
};

} // namespace
} // namespace mlir::ferrule
