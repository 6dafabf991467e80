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

/// `swapped`: columns come before rows in `end`, as place() has it.
std::optional<Placed> placeThrough(Value end, ArrayRef<Operation *> chain, bool swapped) {
  StridedView view = StridedView::contiguous(end);
  for (Operation *op : llvm::reverse(chain)) {
    if (auto transpose = dyn_cast<TransposeOp>(op))
      view.invertPermutation(transpose.getPattern());
    else if (!view.reshape(getDims(op->getOperand(0))))
      return std::nullopt;
  }
  return place(view, swapped, /*dense=*/true);
}

/// Nothing if the result's columns lie side by side nowhere.
std::optional<Destination> findDestination(Value result, bool swapped = false) {
  std::optional<Destination> found;
  if (std::optional<Placed> placed = placeThrough(result, {}, swapped))
    found = {result, *placed};
  SmallVector<Operation *> chain;
  for (Value value = result; value.hasOneUse();) {
    Operation *user = *value.user_begin();
    if (!isa<TransposeOp, ReshapeOp>(user) || user->getBlock() != result.getParentBlock())
      break;
    chain.push_back(user);
    value = user->getResult(0);
    if (!isa<TransposeOp>(user))
      continue;
    if (std::optional<Placed> placed = placeThrough(value, chain, swapped))
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

/// Operands and results of the op to be, as the kernel sees them.
class Tensors {
public:
  explicit Tensors(const WeightsMatch &match) : match(match) {}

  /// False if an operand is none that the kernel reads.
  bool add(std::optional<Placed> tensor) {
    if (tensor)
      tensors.push_back(*tensor);
    return bool(tensor);
  }
  /// Mask and bias, if there are such.
  bool addOthers() {
    firstOther = tensors.size();
    otherCount = bool(match.mask) + bool(match.bias);
    return llvm::all_of(ArrayRef<Value>{match.mask, match.bias},
                        [&](Value other) { return !other || add(placeOperand(other)); });
  }

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

  const Placed &operator[](unsigned number) const { return tensors[number]; }
  unsigned size() const { return tensors.size(); }

  DimsAttr getStrides(unsigned number) const {
    const Placed &tensor = tensors[number];
    SmallVector<DimExpr> numbers{tensor.offset};
    for (const StridedAxis &axis : tensor.batch)
      numbers.push_back(axis.stride);
    numbers.append({tensor.row.stride, tensor.column.stride});
    return DimsAttr::get(getContext(), numbers);
  }

  DimsAttr getSizes(const DimExpr &columns) const {
    SmallVector<DimExpr> sizes;
    for (const StridedAxis &axis : tensors[0].batch)
      sizes.push_back(axis.size);
    MatmulOp product = match.scores;
    Dims scores = getDims(product.getResult());
    sizes.append({scores[scores.size() - 2], scores.back(), product.getInnerSize(), columns});
    return DimsAttr::get(getContext(), sizes);
  }

  SmallVector<Value> getOthers() const {
    SmallVector<Value> others;
    for (const Placed &other : ArrayRef(tensors).slice(firstOther, otherCount))
      others.push_back(other.base);
    return others;
  }
  DimsAttr getMaskStrides() const { return match.mask ? getStrides(firstOther) : DimsAttr(); }
  DimsAttr getBiasStrides() const { return match.bias ? getStrides(firstOther + otherCount - 1) : DimsAttr(); }

private:
  MLIRContext *getContext() const { return match.k.getContext(); }

  const WeightsMatch &match;
  SmallVector<Placed, 0> tensors;
  unsigned firstOther = 0, otherCount = 0;
};

bool isComputed(const WeightsMatch &match) {
  MatmulOp scores = match.scores;
  Type element = getElementType(scores.getResult());
  return element.isF32() || element.isF64();
}

/// What says how scores are made: the last attributes of both ops.
template <typename Op, typename... Args>
Op createWith(GraphBuilder &b, OpBuilder &builder, const WeightsMatch &match, const Tensors &tensors, Args &&...args) {
  return b.create<Op>(std::forward<Args>(args)..., tensors.getMaskStrides(), tensors.getBiasStrides(),
                      builder.getF64FloatAttr(match.scale), builder.getF64FloatAttr(match.fill),
                      builder.getBoolAttr(match.divides), builder.getBoolAttr(match.masksFirst),
                      builder.getBoolAttr(match.fillsTrue), builder.getBoolAttr(match.absent),
                      builder.getBoolAttr(match.causal));
}

void fuse(AttentionMatch match) {
  std::optional<Destination> destination = findDestination(match.result);
  if (!isComputed(match) || !destination)
    return;
  Tensors tensors(match);
  if (!tensors.add(placeOperand(match.scores.getA(), match.scores.getTransposeA())) ||
      !tensors.add(placeOperand(match.k, !match.scores.getTransposeB())) ||
      !tensors.add(placeOperand(match.v, match.product.getTransposeB(), /*dense=*/true)) ||
      !tensors.add(destination->placed) || !tensors.addOthers() || !tensors.alignBatches())
    return;
  Value replaced = destination->value;
  Operation *last = replaced.getDefiningOp();
  OpBuilder builder(last);
  GraphBuilder b(builder, match.product.getLoc());
  auto op = createWith<AttentionOp>(b, builder, match, tensors, replaced.getType(), tensors[0].base, tensors[1].base,
                                    tensors[2].base, tensors.getOthers(),
                                    tensors.getSizes(getDims(match.product.getResult()).back()), tensors.getStrides(0),
                                    tensors.getStrides(1), tensors.getStrides(2), tensors.getStrides(3));
  replaced.replaceAllUsesWith(op.getResult());
  eraseDead(last);
}

/// Whether all operands stand before the op: the gradient of one does not wait for the others.
bool areBefore(Operation *op, const Tensors &tensors) {
  for (unsigned number = 0; number < tensors.size(); ++number)
    if (Operation *maker = tensors[number].base.getDefiningOp();
        maker && maker->getBlock() == op->getBlock() && !maker->isBeforeInBlock(op))
      return false;
  return true;
}

void fuse(AttentionGradientMatch match) {
  std::optional<Destination> destinations[] = {findDestination(match.qGradient),
                                               findDestination(match.kGradient.op, match.kGradient.swapped),
                                               findDestination(match.vGradient.op, match.vGradient.swapped)};
  if (!isComputed(match) || !llvm::all_of(destinations, [](const auto &destination) { return bool(destination); }))
    return;
  Tensors tensors(match);
  if (!tensors.add(placeOperand(match.scores.getA(), /*swapped=*/false, /*dense=*/true)) ||
      !tensors.add(placeOperand(match.k, !match.scores.getTransposeB())) ||
      !tensors.add(placeOperand(match.v, !match.slopes.getTransposeB(), /*dense=*/true)) ||
      !tensors.add(placeOperand(match.slopes.getA(), /*swapped=*/false, /*dense=*/true)) || !tensors.addOthers())
    return;
  Operation *first = match.qGradient;
  for (Operation *op : {match.kGradient.op.getOperation(), match.vGradient.op.getOperation()}) {
    if (op->getBlock() != first->getBlock())
      return;
    if (op->isBeforeInBlock(first))
      first = op;
  }
  if (!areBefore(first, tensors))
    return;
  unsigned operands = tensors.size();
  for (const std::optional<Destination> &destination : destinations)
    tensors.add(destination->placed);
  if (!tensors.alignBatches())
    return;

  OpBuilder builder(first);
  GraphBuilder b(builder, match.qGradient.getLoc());
  auto op = createWith<AttentionGradientOp>(
      b, builder, match, tensors, destinations[0]->value.getType(), destinations[1]->value.getType(),
      destinations[2]->value.getType(), tensors[0].base, tensors[1].base, tensors[2].base, tensors[3].base,
      tensors.getOthers(), tensors.getSizes(getDims(match.slopes.getA()).back()), tensors.getStrides(0),
      tensors.getStrides(1), tensors.getStrides(2), tensors.getStrides(3), tensors.getStrides(operands),
      tensors.getStrides(operands + 1), tensors.getStrides(operands + 2));
  for (auto [destination, result] : llvm::zip_equal(destinations, op->getResults())) {
    Operation *last = destination->value.getDefiningOp();
    destination->value.replaceAllUsesWith(result);
    eraseDead(last);
  }
}

struct FuseAttentionPass : impl::FuseAttentionPassBase<FuseAttentionPass> {
  void runOnOperation() override {
    // Gradients first: what they read of an attention, its own match must not find. Fusing one erases no product of another
    // that is in the list, but may replace what that one reads.
    SmallVector<MatmulOp> products;
    getOperation().walk([&](MatmulOp op) {
      if (matchAttentionGradient(op))
        products.push_back(op);
    });
    for (MatmulOp op : products)
      if (std::optional<AttentionGradientMatch> match = matchAttentionGradient(op))
        fuse(*match);

    SmallVector<Operation *> last;
    getOperation().walk([&](Operation *op) {
      if (matchAttention(op))
        last.push_back(op);
    });
    // In program order: fusing one erases no op that ends a later one, but may replace what that one reads.
    for (Operation *op : last)
      if (std::optional<AttentionMatch> match = matchAttention(op))
        fuse(*match);
  }
};

} // namespace
} // namespace mlir::ferrule
