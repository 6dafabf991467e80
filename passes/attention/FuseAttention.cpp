#include "ir/graph/Attention.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"
#include "passes/Passes.h"
#include "passes/attention/MatchAttention.h"
#include "passes/attention/StridedView.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_FUSEATTENTIONPASS
#include "passes/Passes.h.inc"

namespace {

/// An operand as batch axes, rows and columns.
struct Placed {
  Value base;
  DimExpr offset;
  StridedAxes batch;
  StridedAxis row, column;
};

/// Nothing if rows or columns are no single run; with `dense`, also if neighbours in a row do not lie side by side.
std::optional<Placed> place(const StridedView &view, bool swapped, bool dense) {
  ArrayRef<StridedAxes> axes(view.axes);
  Placed placed{view.base, view.offset, {}, {}, {}};
  for (const StridedAxes &axis : axes.drop_back(2))
    placed.batch.append(axis);
  std::optional<StridedAxis> row = joinAxis(axes[axes.size() - 2]), column = joinAxis(axes.back());
  if (swapped)
    std::swap(row, column);
  if (!row || !column || (dense && column->size != DimExpr(1) && column->stride != DimExpr(1)))
    return std::nullopt;
  placed.row = *row;
  placed.column = *column;
  return placed;
}

/// The operand as a view of what it was made of, or where that is none that the kernel reads, as it is.
std::optional<Placed> placeOperand(Value value, bool swapped = false, bool dense = false) {
  if (std::optional<Placed> placed = place(StridedView::get(value), swapped, dense))
    return placed;
  return place(StridedView::contiguous(value), swapped, dense);
}

/// Where the result goes: through the reshapes and the transpose behind it, if nobody else reads the values in between.
struct Destination {
  Value value;
  Placed placed;
};

std::optional<Placed> placeThrough(Value end, ArrayRef<Operation *> chain) {
  StridedView view = StridedView::contiguous(end);
  for (Operation *op : llvm::reverse(chain)) {
    if (auto transpose = dyn_cast<TransposeOp>(op))
      view.invertPermutation(transpose.getPattern());
    else if (!view.reshape(getDims(op->getOperand(0))))
      return std::nullopt;
  }
  return place(view, /*swapped=*/false, /*dense=*/true);
}

Destination findDestination(Value result) {
  Destination found{result, *placeThrough(result, {})};
  SmallVector<Operation *> chain;
  for (Value value = result; value.hasOneUse();) {
    Operation *user = *value.user_begin();
    if (!isa<TransposeOp, ReshapeOp>(user) || user->getBlock() != result.getParentBlock())
      break;
    chain.push_back(user);
    value = user->getResult(0);
    if (!isa<TransposeOp>(user))
      continue;
    if (std::optional<Placed> placed = placeThrough(value, chain))
      found = {value, *placed};
  }
  return found;
}

/// What was only read by erased ops goes too; nobody prunes it if that pass is off.
void eraseDead(Operation *op) {
  SmallVector<Operation *> work{op};
  while (!work.empty()) {
    Operation *dead = work.pop_back_val();
    if (!isOpTriviallyDead(dead))
      continue;
    SmallVector<Operation *> makers;
    for (Value operand : dead->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !llvm::is_contained(makers, maker))
        makers.push_back(maker);
    llvm::erase(work, dead);
    dead->erase();
    for (Operation *maker : makers)
      if (!llvm::is_contained(work, maker))
        work.push_back(maker);
  }
}

class AttentionFusion {
public:
  explicit AttentionFusion(const AttentionMatch &match) : match(match) {}

  bool run() {
    MatmulOp scores = match.scores;
    Type element = getElementType(scores.getResult());
    if (!element.isF32() && !element.isF64())
      return false;
    Destination destination = findDestination(match.result);
    std::optional<Placed> q = placeOperand(scores.getA(), scores.getTransposeA());
    std::optional<Placed> k = placeOperand(match.k, !scores.getTransposeB());
    std::optional<Placed> v = placeOperand(match.v, match.product.getTransposeB(), /*dense=*/true);
    if (!q || !k || !v)
      return false;
    tensors = {*q, *k, *v, destination.placed};
    for (Value other : {match.mask, match.bias})
      if (other) {
        std::optional<Placed> placed = placeOperand(other);
        if (!placed)
          return false;
        tensors.push_back(*placed);
      }
    if (!alignBatches())
      return false;
    create(destination);
    return true;
  }

private:
  /// Three batch axes, the same for all.
  bool alignBatches() {
    SmallVector<StridedAxes> batches;
    for (const Placed &tensor : tensors)
      batches.push_back(tensor.batch);
    if (!alignAxes(batches) || batches.front().size() > 3)
      return false;
    for (auto [tensor, batch] : llvm::zip_equal(tensors, batches)) {
      batch.insert(batch.begin(), 3 - batch.size(), StridedAxis{1, 0});
      tensor.batch = batch;
    }
    return true;
  }

  DimsAttr getStrides(const Placed &tensor) {
    SmallVector<DimExpr> numbers{tensor.offset};
    for (const StridedAxis &axis : tensor.batch)
      numbers.push_back(axis.stride);
    numbers.append({tensor.row.stride, tensor.column.stride});
    return DimsAttr::get(match.product.getContext(), numbers);
  }

  DimsAttr getSizes() {
    SmallVector<DimExpr> sizes;
    for (const StridedAxis &axis : tensors[0].batch)
      sizes.push_back(axis.size);
    Dims scores = getDims(match.scores.getResult()), result = getDims(match.product.getResult());
    sizes.append({scores[scores.size() - 2], scores.back(), match.scores.getInnerSize(), result.back()});
    return DimsAttr::get(match.product.getContext(), sizes);
  }

  void create(const Destination &destination) {
    Operation *last = destination.value.getDefiningOp();
    OpBuilder builder(last);
    GraphBuilder b(builder, match.product.getLoc());
    SmallVector<Value> others;
    DimsAttr strides[2];
    auto *next = tensors.begin() + 4;
    for (auto [present, its] : {std::pair(bool(match.mask), &strides[0]), std::pair(bool(match.bias), &strides[1])})
      if (present) {
        *its = getStrides(*next);
        others.push_back((next++)->base);
      }
    auto op = b.create<AttentionOp>(
        destination.value.getType(), tensors[0].base, tensors[1].base, tensors[2].base, others, getSizes(),
        getStrides(tensors[0]), getStrides(tensors[1]), getStrides(tensors[2]), getStrides(tensors[3]), strides[0],
        strides[1], builder.getF64FloatAttr(match.scale), builder.getF64FloatAttr(match.fill),
        builder.getBoolAttr(match.divides), builder.getBoolAttr(match.masksFirst), builder.getBoolAttr(match.fillsTrue),
        builder.getBoolAttr(match.absent), builder.getBoolAttr(match.causal));
    Value replaced = destination.value;
    replaced.replaceAllUsesWith(op.getResult());
    eraseDead(last);
  }

  AttentionMatch match;
  /// q, k, v, the result, then the mask and the bias if there are such.
  SmallVector<Placed, 0> tensors;
};

struct FuseAttentionPass : impl::FuseAttentionPassBase<FuseAttentionPass> {
  void runOnOperation() override {
    SmallVector<Operation *> last;
    getOperation().walk([&](Operation *op) {
      if (matchAttention(op))
        last.push_back(op);
    });
    // In program order: fusing one erases no op that ends a later one, but may replace what that one reads.
    for (Operation *op : last)
      if (std::optional<AttentionMatch> match = matchAttention(op))
        AttentionFusion(*match).run();
  }
};

} // namespace
} // namespace mlir::ferrule
