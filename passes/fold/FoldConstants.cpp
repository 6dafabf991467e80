// Evaluates constant subgraphs in one walk: program order brings operands before their users.
#include "ir/graph/Elementwise.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"
#include "kernels/elementwise/reference.h"
#include "passes/Passes.h"
#include "passes/fold/ConstantTensor.h"

#include <cstring>

namespace mlir::ferrule {

#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "passes/Passes.h.inc"

namespace {

/// The constant that a value is, looking at its defining op only.
std::optional<ConstantTensor> readConstant(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? ConstantTensor::read(constant.getValue()) : std::nullopt;
}

RankedTensorType getResultType(Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()); }

SmallVector<int64_t> getStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

/// result[index] = x[offset + sum of index[axis] * strides[axis]], row-major.
ConstantTensor gather(const ConstantTensor &x, RankedTensorType type, int64_t offset, ArrayRef<int64_t> strides) {
  ConstantTensor result(type, /*isSplat=*/false);
  int64_t rank = type.getRank();
  SmallVector<int64_t> index(rank, 0);
  for (int64_t i = 0, count = result.getCount(); i < count; ++i) {
    std::memcpy(result.at(i), x.at(offset), x.getElementSize());
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      offset += strides[axis];
      if (++index[axis] < type.getDimSize(axis))
        break;
      offset -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return result;
}

/// An op that only moves elements, applied to a constant.
std::optional<ConstantTensor> moveElements(Operation *op, const ConstantTensor &x) {
  RankedTensorType type = getResultType(op);
  if (x.isSplat || isa<ReshapeOp>(op)) {
    ConstantTensor result = x;
    result.type = type;
    return result;
  }
  SmallVector<int64_t> strides = getStrides(x.type.getShape());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<int64_t> moved;
    for (int64_t axis : transpose.getPattern())
      moved.push_back(strides[axis]);
    return gather(x, type, 0, moved);
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    int64_t offset = 0;
    for (auto [axis, start] : llvm::enumerate(slice.getStarts().getDims())) {
      if (!start.isConstant())
        return std::nullopt;
      offset += *start.getConstant() * strides[axis];
      strides[axis] *= slice.getSteps()[axis];
    }
    return gather(x, type, offset, strides);
  }
  return std::nullopt;
}

ConstantTensor concatenate(ConcatOp op, ArrayRef<ConstantTensor> xs) {
  RankedTensorType type = getResultType(op);
  ConstantTensor result(type, /*isSplat=*/false);
  int64_t axis = op.getAxis(), inner = 1, outer = 1, offset = 0;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= type.getDimSize(i);
  for (const ConstantTensor &x : xs) {
    int64_t run = x.type.getDimSize(axis) * inner;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < run; ++i)
        std::memcpy(result.at(o * type.getDimSize(axis) * inner + offset + i), x.at(o * run + i), x.getElementSize());
    offset += run;
  }
  return result;
}

/// Runs the scalar reference of the op; false if there is none for the dtype.
bool runReference(Operation *op, ArrayRef<ConstantTensor> x, ConstantTensor &result) {
  namespace kernels = ::ferrule::kernels;
  StringRef name = op->getName().stripDialect();
  std::string_view reference(name.data(), name.size());
  void *out = result.bytes.data();
  int64_t count = result.getCount();
  if (isa<StopGradientOp>(op)) {
    result.bytes = x[0].bytes;
    return true;
  }
  if (isa<CastOp>(op))
    return kernels::reference_cast(x[0].dataType, result.dataType, x[0].bytes.data(), out, count);
  if (isa<WhereOp>(op))
    return kernels::reference_where(result.dataType, x[0].bytes.data(), x[1].bytes.data(), x[2].bytes.data(), out,
                                    count);
  if (isa<FmaOp>(op))
    return kernels::reference_fma(result.dataType, x[0].bytes.data(), x[1].bytes.data(), x[2].bytes.data(), out, count);
  if (x.size() == 1)
    return kernels::reference_unary(reference, x[0].dataType, x[0].bytes.data(), out, count);
  return x.size() == 2 &&
         kernels::reference_binary(reference, x[0].dataType, x[0].bytes.data(), x[1].bytes.data(), out, count);
}

std::optional<ConstantTensor> evaluateElementwise(Operation *op, MutableArrayRef<ConstantTensor> operands) {
  RankedTensorType type = getResultType(op);
  if (!getReferenceType(type.getElementType()))
    return std::nullopt;
  bool isSplat = llvm::all_of(operands, [](const ConstantTensor &x) { return x.isSplat; });
  if (!isSplat)
    for (ConstantTensor &operand : operands)
      if (operand.isSplat)
        operand = operand.expand();
  ConstantTensor result(type, isSplat);
  return runReference(op, operands, result) ? std::optional(std::move(result)) : std::nullopt;
}

bool isElementwise(Operation *op) {
  auto interface = dyn_cast<FerruleOpInterface>(op);
  return interface && interface.getLoweringKind() == LoweringKind::Elementwise;
}

class ConstantFolder {
public:
  explicit ConstantFolder(int64_t maxBytes) : maxBytes(maxBytes) {}

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (op.getNumResults() == 1 && !isa<ConstantOp>(op))
        visit(&op);
  }

private:
  void visit(Operation *op) {
    if (!foldToConstant(op))
      moveBeforeBroadcast(op);
  }

  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  bool foldToConstant(Operation *op) {
    std::optional<ConstantTensor> result = evaluate(op);
    if (!result)
      return false;
    OpBuilder builder(op);
    replace(op, ConstantOp::create(builder, op->getLoc(), result->write()));
    return true;
  }

  std::optional<ConstantTensor> evaluate(Operation *op) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() == 0)
      return std::nullopt;
    if (auto dim = dyn_cast<DimOp>(op)) {
      std::optional<int64_t> value = dim.getExpr().getDims()[0].getConstant();
      if (!value)
        return std::nullopt;
      ConstantTensor result(type, /*isSplat=*/true);
      std::memcpy(result.at(0), &*value, sizeof(int64_t));
      return result;
    }
    // Broadcasts stay: one scalar in the artifact instead of many copies.
    bool movesElements = isa<ReshapeOp, TransposeOp, SliceOp, ConcatOp>(op);
    if (op->getNumOperands() == 0 || (!movesElements && !isElementwise(op)) ||
        *getByteCount(type).getConstant() > maxBytes)
      return std::nullopt;
    SmallVector<ConstantTensor> operands;
    for (Value operand : op->getOperands()) {
      std::optional<ConstantTensor> constant = readConstant(operand);
      if (!constant)
        return std::nullopt;
      operands.push_back(std::move(*constant));
    }
    if (auto concat = dyn_cast<ConcatOp>(op))
      return concatenate(concat, operands);
    return movesElements ? moveElements(op, operands.front()) : evaluateElementwise(op, operands);
  }

  /// The rank-0 value that all elements equal, made a constant of its own if need be; null if there is none.
  Value findScalar(Value value, OpBuilder &builder, Location location) {
    if (auto broadcast = value.getDefiningOp<BroadcastToOp>())
      return getDims(broadcast.getX()).empty() ? broadcast.getX() : Value();
    std::optional<ConstantTensor> constant = readConstant(value);
    if (!constant || !constant->isSplat)
      return {};
    constant->type = RankedTensorType::get({}, constant->type.getElementType());
    return ConstantOp::create(builder, location, constant->write());
  }

  /// op(broadcast a, broadcast b) = broadcast(op(a, b)) for scalars a and b.
  void moveBeforeBroadcast(Operation *op) {
    if (!isElementwise(op) || getDims(op->getResult(0)).empty())
      return;
    OpBuilder builder(op);
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      scalars.push_back(findScalar(operand, builder, op->getLoc()));
      if (!scalars.back())
        return;
    }
    Operation *scalarOp = builder.clone(*op);
    scalarOp->setOperands(scalars);
    scalarOp->getResult(0).setType(RankedTensorType::get({}, getResultType(op).getElementType()));
    GraphBuilder b(builder, op->getLoc());
    replace(op, b.broadcastTo(scalarOp->getResult(0), getDims(op->getResult(0))));
    foldToConstant(scalarOp);
  }

  int64_t maxBytes;
};

struct FoldConstantsPass : impl::FoldConstantsPassBase<FoldConstantsPass> {
  using FoldConstantsPassBase::FoldConstantsPassBase;

  void runOnOperation() override {
    for (Operation &function : getOperation().getOps())
      for (Region &region : function.getRegions())
        for (Block &block : region)
          ConstantFolder(maxBytes).run(block);
  }
};

} // namespace
} // namespace mlir::ferrule
