// Canonical forms and common subexpressions. Every rewrite keeps every bit of every result, zero's sign included; NaN
// equals NaN whatever its sign and payload.
#include "ir/graph/Elementwise.h"
#include "ir/graph/Gradient.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Inference.h"
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
// Sums of concatenations
//===------------------------------------------------------------------------------------------------------------===//

bool isPositiveZero(Value value) { return isZero(getSplat(value), /*negative=*/false); }

/// The parts of a sum of two concatenations, from the front: what stands beside each other is added, zeros may be cut.
class SumOfParts {
public:
  SumOfParts(GraphBuilder &b, ConcatOp x, ConcatOp y)
      : b(b), axis(x.getAxis()), xs(x.getXs().begin(), x.getXs().end()), ys(y.getXs().begin(), y.getXs().end()) {}

  /// Whether the parts meet at the same places where neither is zero.
  bool canPair() const {
    unsigned pairs = 0;
    return walk([&](Value, Value, const DimExpr &) { ++pairs; }) && pairs > 1;
  }

  SmallVector<Value> getSums() const {
    SmallVector<Value> sums;
    walk([&](Value x, Value y, const DimExpr &size) { sums.push_back(add(x, y, size)); });
    return sums;
  }

private:
  DimExpr sizeOf(Value part) const { return getDims(part)[axis]; }

  /// Calls `visit` with the parts that overlap, null for zeros, and their size; false where something but zeros would
  /// have to be cut.
  bool walk(llvm::function_ref<void(Value, Value, const DimExpr &)> visit) const {
    size_t i = 0, j = 0;
    DimExpr left = sizeOf(xs[0]), right = sizeOf(ys[0]);
    while (i < xs.size() && j < ys.size()) {
      bool xIsZero = isPositiveZero(xs[i]), yIsZero = isPositiveZero(ys[j]);
      DimExpr size = left;
      if (left != right) {
        std::optional<int64_t> leftSize = left.getConstant(), rightSize = right.getConstant();
        if (!leftSize || !rightSize || !(*leftSize > *rightSize ? xIsZero : yIsZero))
          return false;
        size = DimExpr(std::min(*leftSize, *rightSize));
      }
      visit(xIsZero ? Value() : xs[i], yIsZero ? Value() : ys[j], size);
      bool xEnds = left == size, yEnds = right == size;
      if (xEnds && ++i < xs.size())
        left = sizeOf(xs[i]);
      else if (!xEnds)
        left = left - size;
      if (yEnds && ++j < ys.size())
        right = sizeOf(ys[j]);
      else if (!yEnds)
        right = right - size;
    }
    return i == xs.size() && j == ys.size();
  }

  /// x + y. Adding zero still turns -0 into +0, but only once.
  Value add(Value x, Value y, const DimExpr &size) const {
    Value part = x ? x : y;
    if (x && y)
      return b.add(x, y);
    Dims dims = getDims(xs[0]);
    dims[axis] = size;
    Value zeros = b.full(getElementType(xs[0]), dims, 0.0);
    auto sum = part ? part.getDefiningOp<AddOp>() : AddOp();
    bool added = sum && (isPositiveZero(sum.getX()) || isPositiveZero(sum.getY()));
    return !part ? zeros : added ? part : b.add(part, zeros);
  }

  GraphBuilder &b;
  int64_t axis;
  SmallVector<Value> xs, ys;
};

/// concat(a, 0) + concat(0, b), as the gradients of the parts of a value add up: concat(a + 0, 0 + b), whose parts are
/// read once, and without what is only zero.
struct AddParts : OpRewritePattern<AddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AddOp op, PatternRewriter &rewriter) const override {
    auto x = op.getX().getDefiningOp<ConcatOp>(), y = op.getY().getDefiningOp<ConcatOp>();
    if (!x || !y || x.getAxis() != y.getAxis() || !x->hasOneUse() || !y->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no sum of two concatenations along one axis that nobody else reads");
    if (llvm::none_of(x.getXs(), isPositiveZero) && llvm::none_of(y.getXs(), isPositiveZero))
      return rewriter.notifyMatchFailure(op, "no part is zero");
    GraphBuilder b(rewriter, op.getLoc());
    SumOfParts sum(b, x, y);
    if (!sum.canPair())
      return rewriter.notifyMatchFailure(op, "the parts begin at different places");
    rewriter.replaceOp(op, b.concat(sum.getSums(), x.getAxis()));
    return success();
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
             FoldTransposeIntoMatmul, RemoveFullSlice, RemoveConcatOfOne, RemoveTwice<NegOp>, RemoveTwice<LogicalNotOp>,
             RemoveSameWhere, RemoveNeutral<AddOp>, RemoveNeutral<SubOp>, RemoveNeutral<MulOp>, RemoveNeutral<DivOp>,
             AddParts>(&getContext());
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
