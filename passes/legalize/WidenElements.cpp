// Gives every op a dtype that has a kernel: op(x) becomes narrow(op(widen(x))).
#include "ir/graph/Elementwise.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Inference.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "passes/Passes.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_WIDENELEMENTSPASS
#include "passes/Passes.h.inc"

namespace {

/// How an op computes elements of one dtype.
struct Computation {
  Type type;
  /// uint64 as int64 with the top bit flipped, which keeps the order.
  bool flipsTopBit = false;
};

bool is16BitFloat(Type type) { return type.isF16() || type.isBF16(); }

/// The signed integer type that holds every value of the narrow integer type; uint64 keeps only its bits.
Type getKernelInteger(IntegerType type) {
  unsigned width = type.getWidth();
  return IntegerType::get(type.getContext(), width < 32 ? 32 : type.isUnsigned() ? 64 : width);
}

/// What a reduction computes in. Sums and products of integers wrap, so the low bits of a wider result are right.
Computation chooseForReduction(Operation *op, IntegerType type) {
  bool isOrder = !isa<ReduceSumOp, ReduceProdOp>(op);
  return {getKernelInteger(type), isOrder && type.isUnsigned() && type.getWidth() == 64};
}

/// The dtype in which the kernel of `op` takes an operand of dtype `type`.
Computation chooseComputation(FerruleOpInterface op, Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  Type computed = is16BitFloat(type) ? Type(Float32Type::get(type.getContext())) : type;
  switch (op.getLoweringKind()) {
  case LoweringKind::Elementwise:
    if (isa<CastOp, WhereOp, StopGradientOp>(op)) // These look at no value.
      return {type};
    if (isa<FloorDivOp, ModOp, FmodOp>(op) && integer && !type.isUnsignedInteger(64))
      return {getKernelInteger(integer)};
    return {computed};
  case LoweringKind::Shape:
  case LoweringKind::Constant:
  case LoweringKind::Panels:
  case LoweringKind::State:
  case LoweringKind::Library: // Their type rules take what their kernels know.
    return {type};
  case LoweringKind::Reduction:
  case LoweringKind::ArgReduction:
    return integer ? chooseForReduction(op, integer) : Computation{computed};
  default:
    return {computed};
  }
}

class Widening {
public:
  explicit Widening(FerruleOpInterface op) : op(op), builder(op), b(builder, op.getLoc()) {}

  bool isNeeded() {
    if (auto iota = dyn_cast<IotaOp>(*op))
      return is16BitFloat(iota.getDtype());
    // Control flow passes values on; what its regions compute is looked at op by op.
    if (op->getNumRegions() != 0 || !isa<InferTypeOpInterface>(*op))
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return isa<RankedTensorType>(operand.getType()) &&
             chooseComputation(op, getElementType(operand)).type != getElementType(operand);
    });
  }

  void run() {
    if (auto iota = dyn_cast<IotaOp>(*op))
      return replace(b.create<IotaOp>(iota.getShapeAttr(), iota.getAxisAttr(), TypeAttr::get(builder.getF32Type())));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(widen(operand));
    Operation *wide = builder.clone(*op);
    wide->setOperands(operands);
    SmallVector<Type> types;
    // The narrow op passed its type rule; the wide one differs in dtypes alone.
    LogicalResult inferred = cast<InferTypeOpInterface>(wide).inferReturnTypes(
        wide->getContext(), wide->getLoc(), operands, wide->getAttrDictionary(), wide->getPropertiesStorage(),
        wide->getRegions(), types);
    assert(succeeded(inferred) && "a type rule that refuses wider elements");
    (void)inferred;
    for (auto [result, type] : llvm::zip(wide->getResults(), types))
      result.setType(type);
    replace(wide);
  }

private:
  Value topBit(Value model) {
    int64_t least = std::numeric_limits<int64_t>::min();
    auto type = RankedTensorType::get({}, builder.getI64Type());
    return b.broadcastTo(b.create<ConstantOp>(DenseElementsAttr::get(type, least)), getDims(model));
  }

  Value widen(Value operand) {
    Computation computation = chooseComputation(op, getElementType(operand));
    flips |= computation.flipsTopBit;
    Value wide = b.cast(operand, computation.type);
    return computation.flipsTopBit ? b.create<BitwiseXorOp>(wide, topBit(wide)) : wide;
  }

  void replace(Operation *wide) {
    for (auto [result, value] : llvm::zip(op->getResults(), wide->getResults())) {
      Type type = getElementType(result);
      Value narrow = value;
      if (flips && getElementType(value).isInteger(64))
        narrow = b.create<BitwiseXorOp>(narrow, topBit(narrow));
      result.replaceAllUsesWith(b.cast(narrow, type));
    }
    op->erase();
  }

  FerruleOpInterface op;
  OpBuilder builder;
  GraphBuilder b;
  bool flips = false;
};

struct WidenElementsPass : impl::WidenElementsPassBase<WidenElementsPass> {
  void runOnOperation() override {
    SmallVector<FerruleOpInterface> ops;
    getOperation().walk([&](FerruleOpInterface op) { ops.push_back(op); });
    for (FerruleOpInterface op : ops)
      if (Widening widening(op); widening.isNeeded())
        widening.run();
  }
};

} // namespace
} // namespace mlir::ferrule
