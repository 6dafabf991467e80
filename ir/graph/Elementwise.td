// Elementwise ops: result element i reads element i of each operand. Operands have one shape; scalars and other shapes
// are broadcast by explicit ops before, and dtypes agree by explicit casts. Rounding and special values: docs/numerics.
#ifndef FERRULE_IR_GRAPH_ELEMENTWISE_TD
#define FERRULE_IR_GRAPH_ELEMENTWISE_TD

include "ir/graph/Base.td"

//===------------------------------------------------------------------------------------------------------------===//
// One operand
//===------------------------------------------------------------------------------------------------------------===//

/// `kind` names the allowed operand dtypes (ElementKind). A gradient body sees x, the result y and its cotangent g.
class Ferrule_Unary<string mnemonic, string kind, GradientSpec gradient, string flopsPerElement = "1">
    : Ferrule_TensorOp<mnemonic, gradient, "Elementwise",
                       "getElementCount(getY()) * ::ferrule::DimExpr(" # flopsPerElement # ")", [0]> {
  let arguments = (ins Ferrule_Tensor:$x);
  let results = (outs Ferrule_Tensor:$y);
  let infer = "inferUnary(location, \"" # mnemonic # "\", adaptor.getX(), ElementKind::" # kind # ", types)";
}

/// dx as one expression of x, y, g and the builder b.
class UnaryGradient<string dx, list<int> operands = [], list<int> results = []>
    : Gradient<[{
        ::mlir::Value x = getX(), y = getY(), g = cotangents[0];
        (void)x, (void)y;
        gradients[0] = }] # dx # ";", operands, results>;

def Ferrule_NegOp : Ferrule_Unary<"neg", "Number", UnaryGradient<"b.neg(g)">> {
  let summary = "-x; the sign bit flips, also of zero; integers wrap";
}
def Ferrule_AbsOp : Ferrule_Unary<"abs", "Number", UnaryGradient<"b.mul(g, b.sign(x))", [0]>> {
  let summary = "|x|; gradient 0 at 0; the least integer wraps to itself";
}
def Ferrule_SignOp : Ferrule_Unary<"sign", "Number", ZeroGradient> {
  let summary = "-1, 0 or 1; zeros keep their sign, NaN stays NaN";
}
def Ferrule_FloorOp : Ferrule_Unary<"floor", "Float", ZeroGradient> {
  let summary = "Largest integer not above x";
}
def Ferrule_CeilOp : Ferrule_Unary<"ceil", "Float", ZeroGradient> {
  let summary = "Smallest integer not below x";
}
def Ferrule_TruncOp : Ferrule_Unary<"trunc", "Float", ZeroGradient> {
  let summary = "The integer part: rounded towards zero";
}
def Ferrule_RoundOp : Ferrule_Unary<"round", "Float", ZeroGradient> {
  let summary = "Nearest integer, ties to even";
}
def Ferrule_ExpOp : Ferrule_Unary<"exp", "Float", UnaryGradient<"b.mul(g, y)", [], [0]>, "16"> {
  let summary = "e to the x";
}
def Ferrule_LogOp : Ferrule_Unary<"log", "Float", UnaryGradient<"b.div(g, x)", [0]>, "16"> {
  let summary = "Natural logarithm; NaN below zero, -inf at zero";
}
def Ferrule_Log1pOp : Ferrule_Unary<"log1p", "Float", UnaryGradient<"b.div(g, b.add(x, b.like(x, 1.0)))", [0]>, "16"> {
  let summary = "log(1 + x), accurate near zero";
}
def Ferrule_Expm1Op
    : Ferrule_Unary<"expm1", "Float", UnaryGradient<"b.mul(g, b.add(y, b.like(y, 1.0)))", [], [0]>, "16"> {
  let summary = "exp(x) - 1, accurate near zero";
}
def Ferrule_Exp2Op
    : Ferrule_Unary<"exp2", "Float",
                    UnaryGradient<"b.mul(g, b.mul(y, b.like(y, 0.6931471805599453)))", [], [0]>, "16"> {
  let summary = "2 to the x, exact for integers x";
}
def Ferrule_Log2Op
    : Ferrule_Unary<"log2", "Float",
                    UnaryGradient<"b.div(g, b.mul(x, b.like(x, 0.6931471805599453)))", [0]>, "16"> {
  let summary = "Logarithm to base 2, exact for powers of 2";
}
def Ferrule_Log10Op
    : Ferrule_Unary<"log10", "Float",
                    UnaryGradient<"b.div(g, b.mul(x, b.like(x, 2.302585092994046)))", [0]>, "20"> {
  let summary = "Logarithm to base 10, exact for powers of 10";
}
def Ferrule_CbrtOp
    : Ferrule_Unary<"cbrt", "Float",
                    UnaryGradient<"b.div(g, b.mul(b.like(y, 3.0), b.mul(y, y)))", [], [0]>, "20"> {
  let summary = "Cube root, with the sign of x";
}
def Ferrule_SqrtOp
    : Ferrule_Unary<"sqrt", "Float", UnaryGradient<"b.div(b.mul(g, b.like(g, 0.5)), y)", [], [0]>, "8"> {
  let summary = "Square root, correctly rounded";
}
def Ferrule_TanhOp
    : Ferrule_Unary<"tanh", "Float", UnaryGradient<"b.mul(g, b.sub(b.like(y, 1.0), b.mul(y, y)))", [], [0]>, "20"> {
  let summary = "Hyperbolic tangent";
}
def Ferrule_SigmoidOp
    : Ferrule_Unary<"sigmoid", "Float",
                    UnaryGradient<"b.mul(g, b.mul(y, b.sub(b.like(y, 1.0), y)))", [], [0]>, "20"> {
  let summary = "1 / (1 + exp(-x))";
}
def Ferrule_ErfOp
    : Ferrule_Unary<"erf", "Float",
        UnaryGradient<"b.mul(g, b.mul(b.like(x, 1.1283791670955126), b.exp(b.neg(b.mul(x, x)))))", [0]>, "20"> {
  let summary = "Error function";
}
def Ferrule_ErfcOp
    : Ferrule_Unary<"erfc", "Float",
        UnaryGradient<"b.mul(g, b.mul(b.like(x, -1.1283791670955126), b.exp(b.neg(b.mul(x, x)))))", [0]>, "40"> {
  let summary = "1 - erf(x), accurate where that is small";
}
def Ferrule_SinOp : Ferrule_Unary<"sin", "Float", UnaryGradient<"b.mul(g, b.cos(x))", [0]>, "20"> {
  let summary = "Sine of x in radians";
}
def Ferrule_CosOp : Ferrule_Unary<"cos", "Float", UnaryGradient<"b.neg(b.mul(g, b.sin(x)))", [0]>, "20"> {
  let summary = "Cosine of x in radians";
}
def Ferrule_TanOp
    : Ferrule_Unary<"tan", "Float", UnaryGradient<"b.mul(g, b.add(b.like(y, 1.0), b.mul(y, y)))", [], [0]>, "24"> {
  let summary = "Tangent of x in radians";
}
def Ferrule_AsinOp
    : Ferrule_Unary<"asin", "Float", UnaryGradient<"b.div(g, b.coordinateOnCircle(x))", [0]>, "24"> {
  let summary = "Arc sine, -pi/2 to pi/2; NaN outside -1 to 1";
}
def Ferrule_AcosOp
    : Ferrule_Unary<"acos", "Float", UnaryGradient<"b.neg(b.div(g, b.coordinateOnCircle(x)))", [0]>, "24"> {
  let summary = "Arc cosine, 0 to pi; NaN outside -1 to 1";
}
def Ferrule_AtanOp
    : Ferrule_Unary<"atan", "Float", UnaryGradient<"b.div(g, b.add(b.like(x, 1.0), b.mul(x, x)))", [0]>, "20"> {
  let summary = "Arc tangent, -pi/2 to pi/2";
}
def Ferrule_SinhOp : Ferrule_Unary<"sinh", "Float", UnaryGradient<"b.mul(g, b.create<CoshOp>(x))", [0]>, "20"> {
  let summary = "Hyperbolic sine";
}
def Ferrule_CoshOp : Ferrule_Unary<"cosh", "Float", UnaryGradient<"b.mul(g, b.create<SinhOp>(x))", [0]>, "20"> {
  let summary = "Hyperbolic cosine";
}
def Ferrule_AsinhOp
    : Ferrule_Unary<"asinh", "Float",
        UnaryGradient<"b.div(g, b.create<HypotOp>(x, b.like(x, 1.0)))", [0]>, "24"> {
  let summary = "Inverse of sinh";
}
def Ferrule_AcoshOp
    : Ferrule_Unary<"acosh", "Float",
        UnaryGradient<"b.div(g, b.mul(b.create<SqrtOp>(b.sub(x, b.like(x, 1.0))), "
                      "b.create<SqrtOp>(b.add(x, b.like(x, 1.0)))))", [0]>, "24"> {
  let summary = "Inverse of cosh, not negative; NaN below 1";
}
def Ferrule_AtanhOp
    : Ferrule_Unary<"atanh", "Float",
        UnaryGradient<"b.div(g, b.mul(b.sub(b.like(x, 1.0), x), b.add(b.like(x, 1.0), x)))", [0]>, "20"> {
  let summary = "Inverse of tanh; infinite at -1 and 1, NaN outside";
}
def Ferrule_ReluOp
    : Ferrule_Unary<"relu", "Number",
                    UnaryGradient<"b.where(b.greater(y, b.like(y, 0.0)), g, b.like(g, 0.0))", [], [0]>> {
  let summary = "x < 0 ? +0 : x; so relu(-0) = -0 and relu(NaN) = NaN; gradient 0 at 0";
}
def Ferrule_LogicalNotOp
    : Ferrule_Unary<"logical_not", "Bool", NonDifferentiable<"its result is a bool">> {
  let summary = "Negation of a bool";
}

def Ferrule_BitwiseNotOp
    : Ferrule_Unary<"bitwise_not", "Integer", NonDifferentiable<"its result is an integer">> {
  let summary = "Every bit flipped: -1 - x in two's complement";
}

def Ferrule_CastOp
    : Ferrule_TensorOp<"cast", Gradient<[{
        auto from = ::llvm::cast<::mlir::RankedTensorType>(getX().getType()).getElementType();
        if (::llvm::isa<::mlir::FloatType>(from) && ::llvm::isa<::mlir::FloatType>(getDtype()))
          gradients[0] = b.cast(cotangents[0], from);
      }]>, "Elementwise", "getElementCount(getY())", [0]> {
  let summary = "Conversion to another dtype";
  let description = [{
    Float to integer truncates toward zero and saturates, NaN gives 0; a wider float rounds to nearest even, once, also
    float64 to 16 bits; an integer becomes a 16-bit float by way of float32; anything to bool is `x != 0`; between
    integers the value wraps.
  }];
  let arguments = (ins Ferrule_Tensor:$x, TypeAttr:$dtype);
  let results = (outs Ferrule_Tensor:$y);
}
def Ferrule_StopGradientOp : Ferrule_Unary<"stop_gradient", "Any", ZeroGradient, "0"> {
  let summary = "x itself, as a constant to every gradient";
}

//===------------------------------------------------------------------------------------------------------------===//
// Two operands
//===------------------------------------------------------------------------------------------------------------===//

class Ferrule_Binary<string mnemonic, string kind, GradientSpec gradient, string flopsPerElement = "1">
    : Ferrule_TensorOp<mnemonic, gradient, "Elementwise",
                       "getElementCount(getResult()) * ::ferrule::DimExpr(" # flopsPerElement # ")", [0, 1]> {
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$y);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 2;
  let infer = "inferBinary(location, \"" # mnemonic # "\", adaptor.getX(), adaptor.getY(), ElementKind::" # kind #
              ", types)";
}

/// Both gradients as expressions of x, y, the result z, g and the builder b.
class BinaryGradient<string dx, string dy, list<int> operands = [], list<int> results = []>
    : Gradient<[{
        ::mlir::Value x = getX(), y = getY(), z = getResult(), g = cotangents[0];
        (void)x, (void)y, (void)z;
        gradients[0] = }] # dx # [{;
        gradients[1] = }] # dy # ";", operands, results>;

def Ferrule_AddOp : Ferrule_Binary<"add", "Number", BinaryGradient<"g", "g">> {
  let summary = "x + y; integers wrap";
}
def Ferrule_SubOp : Ferrule_Binary<"sub", "Number", BinaryGradient<"g", "b.neg(g)">> {
  let summary = "x - y; integers wrap";
}
def Ferrule_MulOp : Ferrule_Binary<"mul", "Number", BinaryGradient<"b.mul(g, y)", "b.mul(g, x)", [0, 1]>> {
  let summary = "x * y; integers wrap";
}
def Ferrule_DivOp
    : Ferrule_Binary<"div", "Float",
                     BinaryGradient<"b.div(g, y)", "b.neg(b.mul(g, b.div(z, y)))", [1], [0]>, "4"> {
  let summary = "x / y, correctly rounded";
}
def Ferrule_FloorDivOp : Ferrule_Binary<"floor_div", "Number", ZeroGradient, "8"> {
  let summary = "Python's x // y: exact floor of the quotient; an integer by zero gives 0, INT_MIN // -1 wraps";
}
def Ferrule_ModOp
    : Ferrule_Binary<"mod", "Number", BinaryGradient<"g", "b.neg(b.mul(g, b.floorDiv(x, y)))", [0, 1]>, "8"> {
  let summary = "Python's x % y, with the sign of y; an integer by zero gives 0";
}
def Ferrule_FmodOp : Ferrule_Binary<"fmod", "Number", BinaryGradient<
      "g", "b.neg(b.mul(g, b.create<TruncOp>(b.div(x, y))))", [0, 1]>, "8"> {
  let summary = "C's remainder, with the sign of x, exact; an integer by zero gives 0";
}
def Ferrule_PowOp : Ferrule_Binary<"pow", "Float", BinaryGradient<[{
      b.where(b.equal(y, b.like(y, 0.0)), b.like(g, 0.0),
              b.mul(g, b.mul(y, b.pow(x, b.sub(y, b.like(y, 1.0))))))}], [{
      b.where(b.logicalAnd(b.equal(x, b.like(x, 0.0)), b.greaterEqual(y, b.like(y, 0.0))), b.like(g, 0.0),
              b.mul(g, b.mul(z, b.log(x))))}], [0, 1], [0]>, "40"> {
  let summary = "x to the y; 0 ** 0 = 1";
}
def Ferrule_Atan2Op : Ferrule_Binary<"atan2", "Float", BinaryGradient<
      "b.mul(g, b.overSquaredNorm(y, x, y))", "b.neg(b.mul(g, b.overSquaredNorm(x, x, y)))", [0, 1]>, "24"> {
  let summary = "The angle of the point (y, x), that is atan2(ordinate, abscissa): -pi to pi, with C's signs of zero; "
                "gradient 0 at the origin";
}
def Ferrule_HypotOp : Ferrule_Binary<"hypot", "Float", BinaryGradient<
      "b.where(b.equal(z, b.like(z, 0.0)), b.like(g, 0.0), b.mul(g, b.div(x, z)))",
      "b.where(b.equal(z, b.like(z, 0.0)), b.like(g, 0.0), b.mul(g, b.div(y, z)))", [0, 1], [0]>, "12"> {
  let summary = "sqrt(x * x + y * y) without overflow; gradient 0 at the origin";
}
def Ferrule_CopysignOp : Ferrule_Binary<"copysign", "Float", BinaryGradient<
      "b.mul(g, b.mul(b.sign(x), b.sign(z)))", "b.like(g, 0.0)", [0], [0]>> {
  let summary = "|x| with the sign of y, also of zeros; gradient 0 at x = 0";
}
def Ferrule_MaximumOp : Ferrule_Binary<"maximum", "Number", BinaryGradient<
      "b.where(b.greater(x, y), g, b.where(b.equal(x, y), b.mul(g, b.like(g, 0.5)), b.like(g, 0.0)))",
      "b.where(b.less(x, y), g, b.where(b.equal(x, y), b.mul(g, b.like(g, 0.5)), b.like(g, 0.0)))", [0, 1]>> {
  let summary = "The larger; NaN wins, +0 over -0; at a tie each side gets half the gradient";
}
def Ferrule_MinimumOp : Ferrule_Binary<"minimum", "Number", BinaryGradient<
      "b.where(b.less(x, y), g, b.where(b.equal(x, y), b.mul(g, b.like(g, 0.5)), b.like(g, 0.0)))",
      "b.where(b.greater(x, y), g, b.where(b.equal(x, y), b.mul(g, b.like(g, 0.5)), b.like(g, 0.0)))", [0, 1]>> {
  let summary = "The smaller; NaN wins, -0 over +0; at a tie each side gets half the gradient";
}

class Ferrule_Comparison<string mnemonic, string kind>
    : Ferrule_Binary<mnemonic, kind, NonDifferentiable<"a comparison is constant wherever it has a derivative">> {
  let infer = "inferComparison(location, \"" # mnemonic # "\", adaptor.getX(), adaptor.getY(), ElementKind::" #
              kind # ", types)";
}
def Ferrule_EqualOp : Ferrule_Comparison<"equal", "Any"> { let summary = "x == y; false if either is NaN"; }
def Ferrule_NotEqualOp : Ferrule_Comparison<"not_equal", "Any"> { let summary = "x != y; true if either is NaN"; }
def Ferrule_LessOp : Ferrule_Comparison<"less", "Number"> { let summary = "x < y; false if either is NaN"; }
def Ferrule_LessEqualOp : Ferrule_Comparison<"less_equal", "Number"> { let summary = "x <= y; false for NaN"; }
def Ferrule_GreaterOp : Ferrule_Comparison<"greater", "Number"> { let summary = "x > y; false if either is NaN"; }
def Ferrule_GreaterEqualOp : Ferrule_Comparison<"greater_equal", "Number"> { let summary = "x >= y; false for NaN"; }

class Ferrule_Logical<string mnemonic>
    : Ferrule_Binary<mnemonic, "Bool", NonDifferentiable<"its result is a bool">>;
def Ferrule_LogicalAndOp : Ferrule_Logical<"logical_and"> { let summary = "Conjunction of bools"; }
def Ferrule_LogicalOrOp : Ferrule_Logical<"logical_or"> { let summary = "Disjunction of bools"; }
def Ferrule_LogicalXorOp : Ferrule_Logical<"logical_xor"> { let summary = "Exclusive or of bools"; }

class Ferrule_Bitwise<string mnemonic>
    : Ferrule_Binary<mnemonic, "Integer", NonDifferentiable<"its result is an integer">>;
def Ferrule_BitwiseAndOp : Ferrule_Bitwise<"bitwise_and"> { let summary = "Bits set in both"; }
def Ferrule_BitwiseOrOp : Ferrule_Bitwise<"bitwise_or"> { let summary = "Bits set in either"; }
def Ferrule_BitwiseXorOp : Ferrule_Bitwise<"bitwise_xor"> { let summary = "Bits set in exactly one"; }
def Ferrule_LeftShiftOp : Ferrule_Bitwise<"left_shift"> {
  let summary = "x * 2^y, wrapped; 0 where y is negative or not below the width";
}
def Ferrule_RightShiftOp : Ferrule_Bitwise<"right_shift"> {
  let summary = "floor(x / 2^y); where y is negative or not below the width, 0, or -1 for a negative x";
}

//===------------------------------------------------------------------------------------------------------------===//
// Three operands
//===------------------------------------------------------------------------------------------------------------===//

def Ferrule_WhereOp
    : Ferrule_TensorOp<"where", Gradient<[{
        ::mlir::Value g = cotangents[0], zero = b.like(g, 0.0);
        gradients[1] = b.where(getMask(), g, zero);
        gradients[2] = b.where(getMask(), zero, g);
      }], [0]>, "Elementwise", "getElementCount(getResult())", [1, 2]> {
  let summary = "x where the mask is true, else y";
  let arguments = (ins Ferrule_Tensor:$mask, Ferrule_Tensor:$x, Ferrule_Tensor:$y);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 3;
}
def Ferrule_FmaOp
    : Ferrule_TensorOp<"fma", Gradient<[{
        ::mlir::Value g = cotangents[0];
        gradients[0] = b.mul(g, getB());
        gradients[1] = b.mul(g, getA());
        gradients[2] = g;
      }], [0, 1]>, "Elementwise", "getElementCount(getResult()) * ::ferrule::DimExpr(2)", [0, 1, 2]> {
  let summary = "a * b + c with one rounding";
  let arguments = (ins Ferrule_Tensor:$a, Ferrule_Tensor:$b, Ferrule_Tensor:$c);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 3;
}

#endif // FERRULE_IR_GRAPH_ELEMENTWISE_TD
