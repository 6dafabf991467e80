// One rounding per operation: the file is built with -ffp-contract=off, and every function here is exact or correctly
// rounded by IEEE 754, so the host gives the bits of every target.
#include "passes/fold/ElementwiseReferences.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

namespace mlir::ferrule {
namespace {

template <typename T> T get(const Scalar &scalar) {
  if constexpr (std::is_same_v<T, float>)
    return scalar.f32;
  else if constexpr (std::is_same_v<T, double>)
    return scalar.f64;
  else
    return static_cast<T>(scalar.integer);
}

template <typename T> Scalar make(T value) {
  Scalar scalar;
  scalar.integer = 0;
  if constexpr (std::is_same_v<T, float>)
    scalar.f32 = value;
  else if constexpr (std::is_same_v<T, double>)
    scalar.f64 = value;
  else
    scalar.integer = static_cast<int64_t>(value);
  return scalar;
}

//===------------------------------------------------------------------------------------------------------------===//
// Floats
//===------------------------------------------------------------------------------------------------------------===//

template <typename T> T maximum(T x, T y) {
  if (std::isnan(x) || std::isnan(y))
    return std::numeric_limits<T>::quiet_NaN();
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}
template <typename T> T minimum(T x, T y) { return -maximum(-x, -y); }
template <typename T> T sign(T x) { return x > 0 ? T(1) : x < 0 ? T(-1) : x; }
template <typename T> T relu(T x) { return x < 0 ? T(0) : x; }

template <typename T> using Unary = T (*)(T);
template <typename T> using Binary = T (*)(T, T);

template <typename T> Unary<T> findUnary(StringRef name) {
  return llvm::StringSwitch<Unary<T>>(name)
      .Case("neg", [](T x) { return -x; })
      .Case("abs", [](T x) { return std::fabs(x); })
      .Case("sign", sign<T>)
      .Case("floor", [](T x) { return std::floor(x); })
      .Case("ceil", [](T x) { return std::ceil(x); })
      .Case("round", [](T x) { return std::nearbyint(x); })
      .Case("sqrt", [](T x) { return std::sqrt(x); })
      .Case("relu", relu<T>)
      .Case("stop_gradient", [](T x) { return x; })
      .Default(nullptr);
}

template <typename T> Binary<T> findBinary(StringRef name) {
  return llvm::StringSwitch<Binary<T>>(name)
      .Case("add", [](T x, T y) { return x + y; })
      .Case("sub", [](T x, T y) { return x - y; })
      .Case("mul", [](T x, T y) { return x * y; })
      .Case("div", [](T x, T y) { return x / y; })
      .Case("maximum", maximum<T>)
      .Case("minimum", minimum<T>)
      .Default(nullptr);
}

template <typename T> using Comparison = bool (*)(T, T);
template <typename T> Comparison<T> findComparison(StringRef name) {
  return llvm::StringSwitch<Comparison<T>>(name)
      .Case("equal", [](T x, T y) { return x == y; })
      .Case("not_equal", [](T x, T y) { return x != y; })
      .Case("less", [](T x, T y) { return x < y; })
      .Case("less_equal", [](T x, T y) { return x <= y; })
      .Case("greater", [](T x, T y) { return x > y; })
      .Case("greater_equal", [](T x, T y) { return x >= y; })
      .Default(nullptr);
}

template <typename T> ScalarFunction findFloat(StringRef name) {
  if (Unary<T> function = findUnary<T>(name))
    return [function](ArrayRef<Scalar> x) { return make(function(get<T>(x[0]))); };
  if (Binary<T> function = findBinary<T>(name))
    return [function](ArrayRef<Scalar> x) { return make(function(get<T>(x[0]), get<T>(x[1]))); };
  if (name == "fma")
    return [](ArrayRef<Scalar> x) { return make(std::fma(get<T>(x[0]), get<T>(x[1]), get<T>(x[2]))); };
  return nullptr;
}

//===------------------------------------------------------------------------------------------------------------===//
// Integers and bools
//===------------------------------------------------------------------------------------------------------------===//

/// Floor division in T; by zero 0, and the least integer by -1 wraps to itself.
template <typename T> T floorDivide(T x, T y) {
  if (y == 0)
    return 0;
  if constexpr (std::is_signed_v<T>) {
    if (y == -1)
      return static_cast<T>(0 - static_cast<uint64_t>(x));
    return x / y - ((x % y != 0) && ((x < 0) != (y < 0)));
  }
  return x / y;
}

/// Arithmetic in 64 bits without traps; the caller wraps the result to the type's width, which is the same as computing
/// in that width. T is int64_t or uint64_t by the type's sign.
template <typename T> Binary<T> findIntegerBinary(StringRef name) {
  return llvm::StringSwitch<Binary<T>>(name)
      .Case("add", [](T x, T y) { return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y)); })
      .Case("sub", [](T x, T y) { return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y)); })
      .Case("mul", [](T x, T y) { return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y)); })
      .Case("maximum", [](T x, T y) { return x > y ? x : y; })
      .Case("minimum", [](T x, T y) { return x < y ? x : y; })
      .Case("floor_div", floorDivide<T>)
      .Case("mod", [](T x, T y) {
        uint64_t product = static_cast<uint64_t>(floorDivide(x, y)) * static_cast<uint64_t>(y);
        return y == 0 ? T(0) : static_cast<T>(static_cast<uint64_t>(x) - product);
      })
      .Default(nullptr);
}

template <typename T> Unary<T> findIntegerUnary(StringRef name) {
  return llvm::StringSwitch<Unary<T>>(name)
      .Case("neg", [](T x) { return static_cast<T>(0 - static_cast<uint64_t>(x)); })
      .Case("abs", [](T x) { return x < 0 ? static_cast<T>(0 - static_cast<uint64_t>(x)) : x; })
      .Case("sign", [](T x) { return static_cast<T>((x > 0) - (x < 0)); })
      .Case("relu", [](T x) { return x < 0 ? T(0) : x; })
      .Case("stop_gradient", [](T x) { return x; })
      .Default(nullptr);
}

template <typename T> ScalarFunction findInteger(StringRef name, IntegerType type) {
  if (Unary<T> function = findIntegerUnary<T>(name))
    return [=](ArrayRef<Scalar> x) { return make(wrapInteger(static_cast<int64_t>(function(get<T>(x[0]))), type)); };
  if (Binary<T> function = findIntegerBinary<T>(name))
    return [=](ArrayRef<Scalar> x) {
      return make(wrapInteger(static_cast<int64_t>(function(get<T>(x[0]), get<T>(x[1]))), type));
    };
  return nullptr;
}

ScalarFunction findBool(StringRef name) {
  if (name == "logical_not")
    return [](ArrayRef<Scalar> x) { return make(x[0].integer == 0); };
  if (name == "logical_and")
    return [](ArrayRef<Scalar> x) { return make(x[0].integer & x[1].integer); };
  if (name == "logical_or")
    return [](ArrayRef<Scalar> x) { return make(x[0].integer | x[1].integer); };
  if (name == "logical_xor")
    return [](ArrayRef<Scalar> x) { return make(x[0].integer ^ x[1].integer); };
  return nullptr;
}

//===------------------------------------------------------------------------------------------------------------===//
// Casts
//===------------------------------------------------------------------------------------------------------------===//

/// Truncates toward zero and saturates at the type's ends; NaN gives 0.
int64_t truncateToInteger(double value, IntegerType type) {
  if (std::isnan(value))
    return 0;
  unsigned width = type.getWidth();
  if (type.isUnsigned()) {
    if (value <= 0)
      return 0;
    if (value >= std::ldexp(1.0, width))
      return wrapInteger(-1, type);
    return static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  if (value <= -std::ldexp(1.0, width - 1))
    return static_cast<int64_t>(uint64_t(-1) << (width - 1));
  if (value >= std::ldexp(1.0, width - 1))
    return static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  return static_cast<int64_t>(value);
}

template <typename T> Scalar castTo(const Scalar &x, ScalarKind from) {
  switch (from) {
  case ScalarKind::Float32:
    return make(static_cast<T>(x.f32));
  case ScalarKind::Float64:
    return make(static_cast<T>(x.f64));
  case ScalarKind::Unsigned:
    return make(static_cast<T>(static_cast<uint64_t>(x.integer)));
  case ScalarKind::Signed:
  case ScalarKind::Bool:
    return make(static_cast<T>(x.integer));
  }
  return x;
}

ScalarFunction findCast(Type from, Type to) {
  std::optional<ScalarKind> fromKind = getScalarKind(from), toKind = getScalarKind(to);
  if (!fromKind || !toKind)
    return nullptr;
  ScalarKind source = *fromKind;
  if (*toKind == ScalarKind::Float32)
    return [=](ArrayRef<Scalar> x) { return castTo<float>(x[0], source); };
  if (*toKind == ScalarKind::Float64)
    return [=](ArrayRef<Scalar> x) { return castTo<double>(x[0], source); };
  bool fromFloat = source == ScalarKind::Float32 || source == ScalarKind::Float64;
  if (*toKind == ScalarKind::Bool)
    return [=](ArrayRef<Scalar> x) {
      return make(fromFloat ? castTo<double>(x[0], source).f64 != 0 : x[0].integer != 0);
    };
  auto type = cast<IntegerType>(to);
  if (fromFloat)
    return [=](ArrayRef<Scalar> x) { return make(truncateToInteger(castTo<double>(x[0], source).f64, type)); };
  return [=](ArrayRef<Scalar> x) { return make(wrapInteger(x[0].integer, type)); };
}

template <typename T> ScalarFunction wrapComparison(Comparison<T> function) {
  if (!function)
    return nullptr;
  return [function](ArrayRef<Scalar> x) { return make(function(get<T>(x[0]), get<T>(x[1]))); };
}

} // namespace

ScalarFunction findElementwiseReference(StringRef name, ArrayRef<Type> operandTypes, Type resultType) {
  if (name == "cast")
    return findCast(operandTypes[0], resultType);
  if (name == "where")
    return [](ArrayRef<Scalar> x) { return x[0].integer ? x[1] : x[2]; };
  std::optional<ScalarKind> kind = getScalarKind(operandTypes[0]);
  if (!kind)
    return nullptr;
  bool isComparison = bool(findComparison<float>(name));
  switch (*kind) {
  case ScalarKind::Float32:
    return isComparison ? wrapComparison(findComparison<float>(name)) : findFloat<float>(name);
  case ScalarKind::Float64:
    return isComparison ? wrapComparison(findComparison<double>(name)) : findFloat<double>(name);
  case ScalarKind::Signed:
    return isComparison ? wrapComparison(findComparison<int64_t>(name))
                        : findInteger<int64_t>(name, cast<IntegerType>(operandTypes[0]));
  case ScalarKind::Unsigned:
    return isComparison ? wrapComparison(findComparison<uint64_t>(name))
                        : findInteger<uint64_t>(name, cast<IntegerType>(operandTypes[0]));
  case ScalarKind::Bool:
    return isComparison ? wrapComparison(findComparison<int64_t>(name)) : findBool(name);
  }
  return nullptr;
}

} // namespace mlir::ferrule
