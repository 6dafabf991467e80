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
  bool isSignedInteger(Type type) { return !type.isUnsignedInteger() && !type.isInteger(1); }
  /// `value`, of graph type `from`, as a vector of `to`.
  Value convert(Value value, Type from, Type to);
  Value extend(Value value, Type to);
  Value convertFrom16Bits(Value value, Type from);
  Value convertTo16Bits(Value value, Type from, Type to);
  Value convertInteger(Value value, Type from, Type to);
  Value call(StringRef name, ValueRange vectors, Type resultElement);
  Value callFamily(StringRef name);
  Value shift(bool left);
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
Value Emission::call(StringRef name, ValueRange vectors, Type resultElement) {
  SmallVector<Value> pointers;
  for (Value vector : vectors) {
    pointers.push_back(emitter.stackVectors(1));
    emitter.store(vector, pointers.back(), 64);
  }
  Value out = emitter.stackVectors(1);
  pointers.push_back(out);
  emitter.call(name, pointers);
  return emitter.load(emitter.vectorOf(resultElement), out, 64);
}

/// The family's function for the op's dtype. Narrow integers are widened, and 16-bit floats computed in float32, before
/// code is generated; u64 has divisions alone.
Value Emission::callFamily(StringRef name) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (width < 32 || (isUnsigned() && width != 64)) {
    op->emitError() << "'" << op->getName().stripDialect() << "' has no CPU kernel for " << describe(element);
    return nullptr;
  }
  StringRef kind = isFloat() ? "_f" : isUnsigned() ? "_u" : "_i";
  return call(("ferrule_" + name + kind + Twine(width)).str(), operands, emitter.memoryType(result));
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

static bool is16BitFloat(Type type) { return type.isF16() || type.isBF16(); }

/// A wider float. The fence hides the conversion from LLVM's InstCombine, which would narrow comparisons of the result and
/// then, where both meet in a select (x < 0 ? 0 : x), turn `<` into `<=`: the sign of zero would be lost.
Value Emission::extend(Value value, Type to) {
  Value wide = make<LLVM::FPExtOp>(emitter.vectorOf(to), value);
  return LLVM::CallIntrinsicOp::create(b, loc, emitter.vectorOf(to), b.getStringAttr("llvm.arithmetic.fence"), wide)
      .getResult(0);
}

/// To float32, exactly.
Value Emission::convertFrom16Bits(Value value, Type from) {
  VectorType floats = emitter.vectorOf(b.getF32Type());
  if (from.isF16())
    return extend(make<LLVM::BitcastOp>(emitter.vectorOf(b.getF16Type()), value), b.getF32Type());
  VectorType words = emitter.vectorOf(b.getI32Type());
  Value sixteen = emitter.splatConstant(b.getI32Type(), b.getI32IntegerAttr(16));
  return make<LLVM::BitcastOp>(floats, make<LLVM::ShlOp>(make<LLVM::ZExtOp>(words, value), sixteen));
}

/// Half to even, once: float64 rounds to odd before. Integers pass through float32.
Value Emission::convertTo16Bits(Value value, Type from, Type to) {
  if (from.isF64())
    value = call("ferrule_round_to_odd_f64", value, b.getF32Type());
  else
    value = convert(value, from, b.getF32Type());
  if (to.isBF16())
    return call("ferrule_bfloat16_bits_f32", value, b.getI16Type());
  return make<LLVM::BitcastOp>(emitter.vectorOf(b.getI16Type()),
                               make<LLVM::FPTruncOp>(emitter.vectorOf(b.getF16Type()), value));
}

/// Integers and bools among each other: truncated or extended.
Value Emission::convertInteger(Value value, Type from, Type to) {
  unsigned width = from.getIntOrFloatBitWidth(), wanted = to.getIntOrFloatBitWidth();
  if (width == wanted)
    return value;
  if (width > wanted)
    return make<LLVM::TruncOp>(vector(to), value);
  return isSignedInteger(from) ? make<LLVM::SExtOp>(vector(to), value) : make<LLVM::ZExtOp>(vector(to), value);
}

/// Float to integer saturates and takes NaN to 0; integers truncate or extend; to bool is "not zero".
Value Emission::convert(Value value, Type from, Type to) {
  if (from == to)
    return value;
  if (is16BitFloat(from))
    return convert(convertFrom16Bits(value, from), b.getF32Type(), to);
  if (is16BitFloat(to))
    return convertTo16Bits(value, from, to);
  bool fromFloat = isa<FloatType>(from);
  if (to.isInteger(1)) {
    Value nothing = make<LLVM::ZeroOp>(vector(from));
    return fromFloat ? make<LLVM::FCmpOp>(LLVM::FCmpPredicate::une, value, nothing)
                     : make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ne, value, nothing);
  }
  if (isa<FloatType>(to)) {
    if (!fromFloat)
      return isSignedInteger(from) ? make<LLVM::SIToFPOp>(vector(to), value) : make<LLVM::UIToFPOp>(vector(to), value);
    return from.isF32() ? extend(value, to) : make<LLVM::FPTruncOp>(vector(to), value);
  }
  if (!fromFloat)
    return convertInteger(value, from, to);
  StringRef intrinsic = isSignedInteger(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat";
  return LLVM::CallIntrinsicOp::create(b, loc, vector(to), b.getStringAttr(intrinsic), value).getResult(0);
}

/// A distance outside the width, which the machine does not define, shifts every bit out.
Value Emission::shift(bool left) {
  Type type = emitter.memoryType(element);
  unsigned width = type.getIntOrFloatBitWidth();
  Value last = emitter.splatConstant(type, b.getIntegerAttr(type, width - 1));
  Value inside = make<LLVM::ICmpOp>(LLVM::ICmpPredicate::ule, x(1), last);
  Value distance = select(inside, x(1), left ? zero() : last);
  if (left)
    return select(inside, make<LLVM::ShlOp>(x(0), distance), zero());
  if (!isUnsigned())
    return make<LLVM::AShrOp>(x(0), distance);
  return select(inside, make<LLVM::LShrOp>(x(0), distance), zero());
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
      .Case([&](TruncOp) { return make<LLVM::FTruncOp>(x()); })
      .Case([&](RoundOp) { return make<LLVM::RoundEvenOp>(x()); })
      .Case([&](SqrtOp) { return make<LLVM::SqrtOp>(x()); })
      .Case([&](ReluOp) { return select(less(x(), zero()), zero(), x()); })
      .Case([&](LogicalNotOp) {
        return make<LLVM::XOrOp>(x(), emitter.splatConstant(b.getI1Type(), b.getBoolAttr(true)));
      })
      .Case([&](BitwiseNotOp) { return make<LLVM::XOrOp>(x(), constant(-1)); })
      .Case([&](CastOp) { return convert(x(), element, result); })
      .Case([&](StopGradientOp) { return x(); })
      .Case<ExpOp, Exp2Op, Expm1Op, LogOp, Log2Op, Log10Op, Log1pOp, CbrtOp, TanhOp, SigmoidOp, ErfOp, ErfcOp, SinOp,
            CosOp, TanOp, AsinOp, AcosOp, AtanOp, SinhOp, CoshOp, AsinhOp, AcoshOp, AtanhOp>(
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
      .Case([&](CopysignOp) { return make<LLVM::CopySignOp>(x(0), x(1)); })
      .Case<FloorDivOp, ModOp, FmodOp, PowOp, Atan2Op, HypotOp>([&](Operation *) { return callFamily(op->getName().stripDialect()); })
      .Case([&](MaximumOp) { return extremum(true); })
      .Case([&](MinimumOp) { return extremum(false); })
      .Case([&](EqualOp) { return compare(F::oeq, I::eq, I::eq, x(0), x(1)); })
      .Case([&](NotEqualOp) { return compare(F::une, I::ne, I::ne, x(0), x(1)); })
      .Case([&](LessOp) { return compare(F::olt, I::slt, I::ult, x(0), x(1)); })
      .Case([&](LessEqualOp) { return compare(F::ole, I::sle, I::ule, x(0), x(1)); })
      .Case([&](GreaterOp) { return compare(F::ogt, I::sgt, I::ugt, x(0), x(1)); })
      .Case([&](GreaterEqualOp) { return compare(F::oge, I::sge, I::uge, x(0), x(1)); })
      .Case<LogicalAndOp, BitwiseAndOp>([&](Operation *) { return make<LLVM::AndOp>(x(0), x(1)); })
      .Case<LogicalOrOp, BitwiseOrOp>([&](Operation *) { return make<LLVM::OrOp>(x(0), x(1)); })
      .Case<LogicalXorOp, BitwiseXorOp>([&](Operation *) { return make<LLVM::XOrOp>(x(0), x(1)); })
      .Case([&](LeftShiftOp) { return shift(true); })
      .Case([&](RightShiftOp) { return shift(false); })
      .Default([](Operation *) { return Value(); });
}

Value Emission::run() {
  if (isa<WhereOp>(op))
    return select(x(0), x(1), x(2));
  Value value;
  if (is16BitFloat(element) && !isa<CastOp, StopGradientOp>(op))
    value = nullptr; // A pass makes it float32 before.
  else if (isa<FmaOp>(op))
    value = isFloat() ? make<LLVM::FMAOp>(x(0), x(1), x(2)) : Value();
  else
    value = operands.size() == 1 ? emitUnary() : emitBinary();
  if (!value)
    op->emitError() << "'" << op->getName().stripDialect() << "' has no CPU kernel for " << describe(element);
  return value;
}

} // namespace

Value mlir::ferrule::emitElementwise(FunctionEmitter &emitter, Operation *op, ValueRange operands) {
  return Emission(emitter, op, operands).run();
}
