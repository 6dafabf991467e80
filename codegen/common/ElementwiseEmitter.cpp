//===- ElementwiseEmitter.cpp - Graph ops on 16 lanes ---------------------===//

#include "codegen/common/ElementwiseEmitter.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

class Emission {
public:
  Emission(FunctionEmitter &emitter, Operation *op, ValueRange operands)
      : emitter(emitter), b(emitter.builder()), loc(UnknownLoc::get(op->getContext())), op(op), operands(operands),
        element(getElement(op->getOperand(0))), result(getElement(op->getResult(0))) {}

  Value run();

private:
  static Type getElement(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

  bool isFloat() const { return isa<FloatType>(element); }
  bool isUnsigned() const { return element.isUnsignedInteger(); }
  VectorType vector(Type type) { return emitter.vectorOf(type.isInteger(1) ? type : emitter.memoryType(type)); }
  Value x(unsigned i = 0) { return operands[i]; }

  template <typename OpType, typename... Args> Value make(Args &&...args) {
    return OpType::create(b, loc, std::forward<Args>(args)...);
  }
  Value zero() { return make<LLVM::ZeroOp>(vector(element)); }
  Value constant(double value) {
    Type type = emitter.memoryType(element);
    TypedAttr attribute = isFloat() ? TypedAttr(b.getFloatAttr(type, value))
                                    : TypedAttr(b.getIntegerAttr(type, int64_t(value)));
    return emitter.splatConstant(type, attribute);
  }
  /// Float, signed integer or unsigned integer form of a two-operand op.
  template <typename FloatOp, typename IntegerOp> Value arithmetic() {
    return isFloat() ? make<FloatOp>(x(0), x(1)) : make<IntegerOp>(x(0), x(1));
  }
  Value compare(LLVM::FCmpPredicate ordered, LLVM::ICmpPredicate signedPredicate,
                LLVM::ICmpPredicate unsignedPredicate, Value left, Value right) {
    if (isFloat())
      return make<LLVM::FCmpOp>(ordered, left, right);
    return make<LLVM::ICmpOp>(isUnsigned() || element.isInteger(1) ? unsignedPredicate : signedPredicate, left,
                              right);
  }
  Value less(Value left, Value right) {
    return compare(LLVM::FCmpPredicate::olt, LLVM::ICmpPredicate::slt, LLVM::ICmpPredicate::ult, left, right);
  }
  Value select(Value mask, Value yes, Value no) { return make<LLVM::SelectOp>(mask, yes, no); }
  Value convert(Type target);
  Value callFamily(StringRef name);
  Value extremum(bool largest);
  Value emitUnary();
  Value emitBinary();

  FunctionEmitter &emitter;
  OpBuilder &b;
  Location loc;
  Operation *op;
  ValueRange operands;
  Type element, result;
};

/// A function of the kernel families: vectors by pointer.
Value Emission::callFamily(StringRef name) {
  if (!element.isF32() && !element.isF64() && !element.isInteger(32) && !element.isInteger(64)) {
    op->emitError() << op->getName().stripDialect() << " has no kernel for " << describe(element);
    return nullptr;
  }
  std::string suffix = (isFloat() ? "_f" : "_i") + std::to_string(element.getIntOrFloatBitWidth());
  SmallVector<Value> pointers;
  for (Value operand : operands) {
    pointers.push_back(emitter.stackVectors(1));
    emitter.store(operand, pointers.back(), 64);
  }
  Value out = emitter.stackVectors(1);
  pointers.push_back(out);
  emitter.call(("ferrule_" + name + suffix).str(), pointers);
  return emitter.load(vector(result), out, 64);
}

/// NaN wins, +0 above -0: IEEE 754-2019 maximum and minimum.
Value Emission::extremum(bool largest) {
  if (isFloat())
    return largest ? make<LLVM::MaximumOp>(x(0), x(1)) : make<LLVM::MinimumOp>(x(0), x(1));
  bool isSigned = !isUnsigned() && !element.isInteger(1);
  if (largest)
    return isSigned ? make<LLVM::SMaxOp>(x(0), x(1)) : make<LLVM::UMaxOp>(x(0), x(1));
  return isSigned ? make<LLVM::SMinOp>(x(0), x(1)) : make<LLVM::UMinOp>(x(0), x(1));
}

/// Float to integer saturates and takes NaN to 0; integers truncate or extend; to bool is "not zero".
Value Emission::convert(Type target) {
  if (element == target)
    return x();
  VectorType type = vector(target);
  if (target.isInteger(1))
    return isFloat() ? make<LLVM::FCmpOp>(LLVM::FCmpPredicate::une, x(), zero())
                     : make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, x(), zero());
  if (auto floating = dyn_cast<FloatType>(target)) {
    if (!isFloat())
      return isUnsigned() || element.isInteger(1) ? make<LLVM::UIToFPOp>(type, x()) : make<LLVM::SIToFPOp>(type, x());
    unsigned from = element.getIntOrFloatBitWidth(), to = floating.getWidth();
    return from < to ? make<LLVM::FPExtOp>(type, x()) : make<LLVM::FPTruncOp>(type, x());
  }
  if (isFloat())
    return LLVM::CallIntrinsicOp::create(
               b, loc, type, b.getStringAttr(target.isUnsignedInteger() ? "llvm.fptoui.sat" : "llvm.fptosi.sat"),
               ValueRange{x()})
        .getResult(0);
  unsigned from = element.getIntOrFloatBitWidth(), to = target.getIntOrFloatBitWidth();
  if (from == to)
    return x();
  if (from > to)
    return make<LLVM::TruncOp>(type, x());
  return isUnsigned() || element.isInteger(1) ? make<LLVM::ZExtOp>(type, x()) : make<LLVM::SExtOp>(type, x());
}

Value Emission::emitUnary() {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](NegOp) { return isFloat() ? make<LLVM::FNegOp>(x()) : make<LLVM::SubOp>(zero(), x()); })
      .Case([&](AbsOp) {
        if (isFloat())
          return make<LLVM::FAbsOp>(x());
        return isUnsigned() ? x() : select(less(x(), zero()), make<LLVM::SubOp>(zero(), x()), x());
      })
      .Case([&](SignOp) {
        // Zeros and NaN pass through.
        Value negative = isUnsigned() ? x() : select(less(x(), zero()), constant(-1), x());
        return select(less(zero(), x()), constant(1), negative);
      })
      .Case([&](FloorOp) { return make<LLVM::FFloorOp>(x()); })
      .Case([&](CeilOp) { return make<LLVM::FCeilOp>(x()); })
      .Case([&](RoundOp) { return make<LLVM::RoundEvenOp>(x()); })
      .Case([&](SqrtOp) { return make<LLVM::SqrtOp>(x()); })
      .Case([&](ReluOp) { return select(less(x(), zero()), zero(), x()); })
      .Case([&](LogicalNotOp) {
        return make<LLVM::XOrOp>(x(), emitter.splatConstant(b.getI1Type(), b.getBoolAttr(true)));
      })
      .Case([&](CastOp) { return convert(result); })
      .Case([&](StopGradientOp) { return x(); })
      .Case<ExpOp, LogOp, Log1pOp, Expm1Op, TanhOp, SigmoidOp, ErfOp, SinOp, CosOp>(
          [&](Operation *) { return callFamily(op->getName().stripDialect()); })
      .Default([](Operation *) { return Value(); });
}

Value Emission::emitBinary() {
  using F = LLVM::FCmpPredicate;
  using I = LLVM::ICmpPredicate;
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return arithmetic<LLVM::FAddOp, LLVM::AddOp>(); })
      .Case([&](SubOp) { return arithmetic<LLVM::FSubOp, LLVM::SubOp>(); })
      .Case([&](MulOp) { return arithmetic<LLVM::FMulOp, LLVM::MulOp>(); })
      .Case([&](DivOp) { return isFloat() ? make<LLVM::FDivOp>(x(0), x(1)) : Value(); })
      .Case<FloorDivOp, ModOp, PowOp>([&](Operation *) { return callFamily(op->getName().stripDialect()); })
      .Case([&](MaximumOp) { return extremum(true); })
      .Case([&](MinimumOp) { return extremum(false); })
      .Case([&](EqualOp) { return compare(F::oeq, I::eq, I::eq, x(0), x(1)); })
      .Case([&](NotEqualOp) { return compare(F::une, I::ne, I::ne, x(0), x(1)); })
      .Case([&](LessOp) { return compare(F::olt, I::slt, I::ult, x(0), x(1)); })
      .Case([&](LessEqualOp) { return compare(F::ole, I::sle, I::ule, x(0), x(1)); })
      .Case([&](GreaterOp) { return compare(F::ogt, I::sgt, I::ugt, x(0), x(1)); })
      .Case([&](GreaterEqualOp) { return compare(F::oge, I::sge, I::uge, x(0), x(1)); })
      .Case([&](LogicalAndOp) { return make<LLVM::AndOp>(x(0), x(1)); })
      .Case([&](LogicalOrOp) { return make<LLVM::OrOp>(x(0), x(1)); })
      .Case([&](LogicalXorOp) { return make<LLVM::XOrOp>(x(0), x(1)); })
      .Default([](Operation *) { return Value(); });
}

Value Emission::run() {
  if (isa<WhereOp>(op))
    return select(x(0), x(1), x(2));
  Value value;
  if (isa<FmaOp>(op))
    value = isFloat() ? make<LLVM::FMAOp>(x(0), x(1), x(2)) : Value();
  else
    value = operands.size() == 1 ? emitUnary() : emitBinary();
  if (!value)
    op->emitError() << "'" << op->getName().stripDialect() << "' has no kernel for " << describe(element);
  return value;
}

} // namespace

Value mlir::ferrule::emitElementwise(FunctionEmitter &emitter, Operation *op, ValueRange operands) {
  return Emission(emitter, op, operands).run();
}
