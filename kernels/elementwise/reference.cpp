#include "kernels/elementwise/reference.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernels/elementwise/arctangent.h"
#include "kernels/elementwise/division.h"
#include "kernels/elementwise/error_function.h"
#include "kernels/elementwise/hyperbolic.h"
#include "kernels/elementwise/power.h"
#include "kernels/elementwise/root.h"
#include "kernels/elementwise/rounding.h"
#include "kernels/elementwise/trigonometry.h"

namespace ferrule::kernels {
namespace {

// Integer arithmetic wraps: it is done on the unsigned type, at least as wide as unsigned int so that no promotion to
// a signed type happens on the way.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

template <typename T>
T neg(T x) {
  if constexpr (std::is_floating_point_v<T>) return -x;
  else return static_cast<T>(Wrapping<T>(0) - static_cast<Wrapping<T>>(x));
}
template <typename T>
T abs(T x) {
  if constexpr (std::is_floating_point_v<T>) return absolute(x);
  else return x < 0 ? neg(x) : x;
}
template <typename T>
T sign(T x) {
  if (x != x) return x;
  return x > 0 ? T(1) : x < 0 ? neg(T(1)) : x;
}
template <typename T>
T complement(T x) {
  return static_cast<T>(~x);
}
template <typename T>
T relu(T x) {
  return x < 0 ? T(0) : x;
}
template <typename T>
T maximum(T x, T y) {
  if (x != x) return x;
  if (y != y) return y;
  if (x == y) return std::signbit(static_cast<double>(x)) ? y : x;  // +0 before -0
  return x > y ? x : y;
}
template <typename T>
T minimum(T x, T y) {
  if (x != x) return x;
  if (y != y) return y;
  if (x == y) return std::signbit(static_cast<double>(x)) ? x : y;
  return x < y ? x : y;
}

template <typename T>
T add(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x + y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) + static_cast<Wrapping<T>>(y));
}
template <typename T>
T sub(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x - y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) - static_cast<Wrapping<T>>(y));
}
template <typename T>
T mul(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return x * y;
  else return static_cast<T>(static_cast<Wrapping<T>>(x) * static_cast<Wrapping<T>>(y));
}

// Narrow integers divide as i64, where nothing wraps but what must.
template <typename T>
T any_floor_div(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return floor_div(x, y);
  else if constexpr (std::is_same_v<T, uint64_t>) return floor_div(x, y);
  else return static_cast<T>(floor_div(static_cast<int64_t>(x), static_cast<int64_t>(y)));
}
template <typename T>
T any_mod(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return mod(x, y);
  else if constexpr (std::is_same_v<T, uint64_t>) return mod(x, y);
  else return static_cast<T>(mod(static_cast<int64_t>(x), static_cast<int64_t>(y)));
}

template <typename T>
T any_fmod(T x, T y) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, uint64_t>) return kernels::fmod(x, y);
  else return static_cast<T>(kernels::fmod(static_cast<int64_t>(x), static_cast<int64_t>(y)));
}

// A distance that is negative or not below the width shifts every bit out.
template <typename T>
T left_shift(T x, T y) {
  const auto distance = static_cast<std::make_unsigned_t<T>>(y);
  return distance < sizeof(T) * 8 ? static_cast<T>(static_cast<Wrapping<T>>(x) << distance) : T(0);
}
template <typename T>
T right_shift(T x, T y) {
  const auto distance = static_cast<std::make_unsigned_t<T>>(y);
  return distance < sizeof(T) * 8 ? static_cast<T>(x >> distance) : static_cast<T>(x < 0 ? -1 : 0);
}

// 16-bit floats exist in casts alone: all other ops compute them as f32.
struct Half {
  uint16_t bits;
  explicit operator float() const { return half_value(bits); }
  static Half round(float x) { return {half_bits(x)}; }
};
struct BFloat16 {
  uint16_t bits;
  explicit operator float() const { return bfloat16_value(bits); }
  static BFloat16 round(float x) { return {static_cast<uint16_t>(bfloat16_bits(x))}; }
};
template <typename T>
constexpr bool kIs16BitFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

template <typename To, typename From>
To cast(From x) {
  if constexpr (kIs16BitFloat<From>) {
    return cast<To>(static_cast<float>(x));
  } else if constexpr (kIs16BitFloat<To>) {
    if constexpr (std::is_same_v<From, double>) return To::round(round_to_odd(x));
    else return To::round(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (x != x) return 0;
    // Both bounds are powers of two (or 0), so they are exact.
    const From low = static_cast<From>(std::numeric_limits<To>::min());
    const From high = std::ldexp(From(1), std::numeric_limits<To>::digits);
    if (x < low) return std::numeric_limits<To>::min();
    if (x >= high) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename Out, typename In, typename Function>
bool each(const void* in, void* out, int64_t count, Function function) {
  const In* x = static_cast<const In*>(in);
  Out* y = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) y[i] = function(x[i]);
  return true;
}
template <typename Out, typename In, typename Function>
bool each(const void* in, const void* in2, void* out, int64_t count, Function function) {
  const In *x = static_cast<const In*>(in), *y = static_cast<const In*>(in2);
  Out* z = static_cast<Out*>(out);
  for (int64_t i = 0; i < count; ++i) z[i] = function(x[i], y[i]);
  return true;
}

// Calls function(T{}) with the C++ type of a number type; false for bool and 16-bit floats.
template <typename Function>
bool with_number(DataType type, Function function) {
  switch (type) {
    case DataType::kI8: return function(int8_t{});
    case DataType::kI16: return function(int16_t{});
    case DataType::kI32: return function(int32_t{});
    case DataType::kI64: return function(int64_t{});
    case DataType::kU8: return function(uint8_t{});
    case DataType::kU16: return function(uint16_t{});
    case DataType::kU32: return function(uint32_t{});
    case DataType::kU64: return function(uint64_t{});
    case DataType::kF32: return function(float{});
    case DataType::kF64: return function(double{});
    case DataType::kF16:
    case DataType::kBF16:
    case DataType::kBool: return false;
  }
  return false;
}
template <typename Function>
bool with_castable(DataType type, Function function) {
  if (type == DataType::kF16) return function(Half{});
  if (type == DataType::kBF16) return function(BFloat16{});
  return with_number(type == DataType::kBool ? DataType::kU8 : type, function);
}

#define FERRULE_IF_UNARY(name, function) \
  if (op == name) return each<T, T>(in, out, count, [](T x) -> T { return function(x); })
#define FERRULE_IF_BINARY(name, expression) \
  if (op == name) return each<T, T>(x, y, out, count, [](T a, T b) -> T { return expression; })
#define FERRULE_IF_COMPARISON(name, expression) \
  if (op == name) return each<uint8_t, T>(x, y, out, count, [](T a, T b) -> uint8_t { return expression; })

template <typename T>
bool float_unary(std::string_view op, const void* in, void* out, int64_t count) {
  FERRULE_IF_UNARY("floor", round_down);
  FERRULE_IF_UNARY("ceil", std::ceil);
  FERRULE_IF_UNARY("round", round_even);
  FERRULE_IF_UNARY("trunc", round_to_zero);
  FERRULE_IF_UNARY("exp", kernels::exp);
  FERRULE_IF_UNARY("log", kernels::log);
  FERRULE_IF_UNARY("log1p", kernels::log1p);
  FERRULE_IF_UNARY("expm1", kernels::expm1);
  FERRULE_IF_UNARY("sqrt", square_root);
  FERRULE_IF_UNARY("tanh", kernels::tanh);
  FERRULE_IF_UNARY("sigmoid", kernels::sigmoid);
  FERRULE_IF_UNARY("erf", kernels::erf);
  FERRULE_IF_UNARY("sin", kernels::sin);
  FERRULE_IF_UNARY("cos", kernels::cos);
  FERRULE_IF_UNARY("exp2", kernels::exp2);
  FERRULE_IF_UNARY("log2", kernels::log2);
  FERRULE_IF_UNARY("log10", kernels::log10);
  FERRULE_IF_UNARY("cbrt", kernels::cbrt);
  FERRULE_IF_UNARY("erfc", kernels::erfc);
  FERRULE_IF_UNARY("tan", kernels::tan);
  FERRULE_IF_UNARY("asin", kernels::asin);
  FERRULE_IF_UNARY("acos", kernels::acos);
  FERRULE_IF_UNARY("atan", kernels::atan);
  FERRULE_IF_UNARY("sinh", kernels::sinh);
  FERRULE_IF_UNARY("cosh", kernels::cosh);
  FERRULE_IF_UNARY("asinh", kernels::asinh);
  FERRULE_IF_UNARY("acosh", kernels::acosh);
  FERRULE_IF_UNARY("atanh", kernels::atanh);
  return false;
}

template <typename T>
bool compare(std::string_view op, const void* x, const void* y, void* out, int64_t count) {
  FERRULE_IF_COMPARISON("equal", a == b);
  FERRULE_IF_COMPARISON("not_equal", a != b);
  FERRULE_IF_COMPARISON("less", a < b);
  FERRULE_IF_COMPARISON("less_equal", a <= b);
  FERRULE_IF_COMPARISON("greater", a > b);
  FERRULE_IF_COMPARISON("greater_equal", a >= b);
  return false;
}

}  // namespace

bool reference_unary(std::string_view op, DataType type, const void* in, void* out, int64_t count) {
  if (type == DataType::kBool) {
    if (op != "logical_not") return false;
    return each<uint8_t, uint8_t>(in, out, count, [](uint8_t x) -> uint8_t { return x == 0; });
  }
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    FERRULE_IF_UNARY("neg", neg);
    FERRULE_IF_UNARY("abs", kernels::abs);
    FERRULE_IF_UNARY("sign", sign);
    FERRULE_IF_UNARY("relu", relu);
    if constexpr (std::is_floating_point_v<T>) {
      return float_unary<T>(op, in, out, count);
    } else {
      FERRULE_IF_UNARY("bitwise_not", complement);
      if (op != "floor" && op != "ceil" && op != "round" && op != "trunc") return false;
      std::memmove(out, in, count * sizeof(T));
      return true;
    }
  });
}

bool reference_binary(std::string_view op, DataType type, const void* x, const void* y, void* out, int64_t count) {
  if (type == DataType::kBool) {
    using T = uint8_t;
    FERRULE_IF_BINARY("logical_and", a & b);
    FERRULE_IF_BINARY("logical_or", a | b);
    FERRULE_IF_BINARY("logical_xor", a ^ b);
    return compare<T>(op, x, y, out, count);
  }
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    FERRULE_IF_BINARY("add", add(a, b));
    FERRULE_IF_BINARY("sub", sub(a, b));
    FERRULE_IF_BINARY("mul", mul(a, b));
    FERRULE_IF_BINARY("maximum", maximum(a, b));
    FERRULE_IF_BINARY("minimum", minimum(a, b));
    FERRULE_IF_BINARY("floor_div", any_floor_div(a, b));
    FERRULE_IF_BINARY("mod", any_mod(a, b));
    FERRULE_IF_BINARY("fmod", any_fmod(a, b));
    if constexpr (std::is_floating_point_v<T>) {
      FERRULE_IF_BINARY("div", a / b);
      FERRULE_IF_BINARY("pow", kernels::pow(a, b));
      FERRULE_IF_BINARY("atan2", kernels::atan2(a, b));
      FERRULE_IF_BINARY("hypot", kernels::hypot(a, b));
      FERRULE_IF_BINARY("copysign", copy_sign(a, b));
    } else {
      FERRULE_IF_BINARY("bitwise_and", a & b);
      FERRULE_IF_BINARY("bitwise_or", a | b);
      FERRULE_IF_BINARY("bitwise_xor", a ^ b);
      FERRULE_IF_BINARY("left_shift", left_shift(a, b));
      FERRULE_IF_BINARY("right_shift", right_shift(a, b));
    }
    return compare<T>(op, x, y, out, count);
  });
}

bool reference_where(DataType type, const void* mask, const void* x, const void* y, void* out, int64_t count) {
  const auto* choose = static_cast<const uint8_t*>(mask);
  const size_t size = static_cast<size_t>(size_of(type));
  for (int64_t i = 0; i < count; ++i) {
    const void* from = choose[i] != 0 ? x : y;
    std::memcpy(static_cast<char*>(out) + i * size, static_cast<const char*>(from) + i * size, size);
  }
  return true;
}

bool reference_fma(DataType type, const void* a, const void* b, const void* c, void* out, int64_t count) {
  const auto run = [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < count; ++i) {
      static_cast<T*>(out)[i] =
          std::fma(static_cast<const T*>(a)[i], static_cast<const T*>(b)[i], static_cast<const T*>(c)[i]);
    }
    return true;
  };
  if (type == DataType::kF32) return run(float{});
  if (type == DataType::kF64) return run(double{});
  return false;
}

bool reference_cast(DataType from, DataType to, const void* in, void* out, int64_t count) {
  return with_castable(from, [&](auto from_zero) {
    using From = decltype(from_zero);
    if (to == DataType::kBool) {
      return each<uint8_t, From>(in, out, count, [](From x) -> uint8_t {
        if constexpr (kIs16BitFloat<From>) return static_cast<float>(x) != 0;
        else return x != 0;
      });
    }
    return with_castable(to, [&](auto to_zero) {
      using To = decltype(to_zero);
      return each<To, From>(in, out, count, [](From x) -> To { return cast<To>(x); });
    });
  });
}

}  // namespace ferrule::kernels
