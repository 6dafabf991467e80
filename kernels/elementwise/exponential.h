// exp and what is built on it, for one scalar or 16 lanes.
//
// exp(x) = 2^n * (1 + r), n = round(x / ln 2), r = expm1(x - n ln 2) by a polynomial. Every step is one rounding and is
// written as fused where it is fused, so scalar and vector results are the same bits.
#ifndef FERRULE_KERNELS_ELEMENTWISE_EXPONENTIAL_H_
#define FERRULE_KERNELS_ELEMENTWISE_EXPONENTIAL_H_

#include "kernels/base/vector.h"

namespace ferrule::kernels {

// Adding and subtracting 1.5 * 2^mantissa rounds to an integer, half to even, and leaves the integer in the low bits:
// no conversion to an integer type, which would be undefined for NaN.
template <typename T>
inline constexpr T kRoundingMagic = static_cast<T>(1.5) * static_cast<T>(int64_t{1} << LaneTraits<T>::kMantissa);

template <typename V>
using ScalarOf = typename LaneOf<V>::Type;
template <typename V>
using BitsOf = typename Rebind<V, typename LaneTraits<ScalarOf<V>>::Bits>::Type;

template <typename V>
FERRULE_INLINE V constant(ScalarOf<V> value) {
  return (V)value;
}
template <typename V>
FERRULE_INLINE V absolute(V x) {
  using T = ScalarOf<V>;
  using B = typename LaneTraits<T>::Bits;
  const B mask = static_cast<B>(~typename LaneTraits<T>::Unsigned(0) >> 1);
  return bits_as<V>(static_cast<BitsOf<V>>(bits_as<BitsOf<V>>(x) & mask));
}
// The magnitude of `x` with the sign bit of `sign`.
template <typename V>
FERRULE_INLINE V copy_sign(V x, V sign) {
  using T = ScalarOf<V>;
  using B = typename LaneTraits<T>::Bits;
  const B mask = static_cast<B>(~typename LaneTraits<T>::Unsigned(0) >> 1);
  const auto magnitude = bits_as<BitsOf<V>>(x) & mask;
  return bits_as<V>(static_cast<BitsOf<V>>(magnitude | (bits_as<BitsOf<V>>(sign) & ~mask)));
}
// 2^k for k within the normal exponents.
template <typename V>
FERRULE_INLINE V power_of_two(BitsOf<V> k) {
  using T = ScalarOf<V>;
  using B = typename LaneTraits<T>::Bits;
  return bits_as<V>(static_cast<BitsOf<V>>((k + B(LaneTraits<T>::kBias)) << LaneTraits<T>::kMantissa));
}

template <typename V>
struct ReducedExponential {
  V r;         // expm1 of the remainder, |remainder| <= ln(2)/2
  BitsOf<V> n;
};

// Horner's scheme, highest power first, one fused step a coefficient.
template <typename V, int N>
FERRULE_INLINE V polynomial(V x, const ScalarOf<V> (&coefficients)[N]) {
  V sum = constant<V>(coefficients[0]);
#pragma GCC unroll 32
  for (int i = 1; i < N; ++i) sum = fused(sum, x, constant<V>(coefficients[i]));
  return sum;
}

// `x` must lie within a few hundred times ln 2 of what the type can hold; NaN gives NaN. `tail` is added to the
// remainder, for callers that carry x in two parts.
template <typename V>
FERRULE_INLINE ReducedExponential<V> reduce_exponential(V x, V tail) {
  using T = ScalarOf<V>;
  const V magic = constant<V>(kRoundingMagic<T>);
  const V shifted = fused(x, constant<V>(T(1.4426950408889634)), magic);
  const V n = shifted - magic;
  const BitsOf<V> k = bits_as<BitsOf<V>>(shifted) - bits_as<typename LaneTraits<T>::Bits>(kRoundingMagic<T>);
  if constexpr (sizeof(T) == 4) {
    // ln 2 = 0.693359375 - 2.12194440e-4, the first part short enough for exact products. Fit: 1.03 ULP for exp.
    V t = fused(n, constant<V>(-0.693359375f), x);
    t = fused(n, constant<V>(2.12194440e-4f), t) + tail;
    constexpr T kQ[] = {0.0013814539415761828f, 0.008368746377527714f, 0.04166838899254799f, 0.1666651964187622f,
                        0.4999999403953552f};
    return {fused(polynomial(t, kQ) * t, t, t), k};
  } else {
    // 1/13! ... 1/2!: the series itself; its remainder is below 2^-57 for |t| <= ln(2)/2.
    V t = fused(n, constant<V>(-0x1.62e42fee00000p-1), x);
    t = fused(n, constant<V>(-0x1.a39ef35793c76p-33), t) + tail;
    constexpr T kQ[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                        1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
    return {fused(polynomial(t, kQ) * t, t, t), k};
  }
}

// y * 2^n for y not far from 1. Two factors, because 2^n alone may lie outside the normal numbers.
template <typename V>
FERRULE_INLINE V scale_by_power(V y, BitsOf<V> n) {
  const BitsOf<V> half = n >> 1;
  return y * power_of_two<V>(half) * power_of_two<V>(n - half);
}

// (1 + r) * 2^n.
template <typename V>
FERRULE_INLINE V scale_exponential(V r, BitsOf<V> n) {
  return scale_by_power(constant<V>(ScalarOf<V>(1)) + r, n);
}

// exp(x + tail) / 2^DOWN, |tail| far below |x|. Overflow gives infinity; a denormal result is rounded once.
template <int DOWN, typename V>
FERRULE_INLINE V scaled_exponential(V x, V tail) {
  using T = ScalarOf<V>;
  const V low = constant<V>(sizeof(T) == 4 ? T(-104) : T(-746));
  const V high = constant<V>(T(DOWN) + (sizeof(T) == 4 ? T(89) : T(710)));
  x = select(x < low, low, x);
  x = select(x > high, high, x);
  const ReducedExponential<V> e = reduce_exponential(x, tail);
  return scale_exponential(e.r, e.n - typename LaneTraits<T>::Bits(DOWN));
}
template <typename V>
FERRULE_INLINE V exponential(V x, V tail) {
  return scaled_exponential<0>(x, tail);
}

template <typename V>
FERRULE_INLINE V exp(V x) {
  return exponential(x, V{});
}

// exp(x) - 1, exact in sign and relative error near zero.
template <typename V>
FERRULE_INLINE V expm1(V x) {
  using T = ScalarOf<V>;
  const V low = constant<V>(sizeof(T) == 4 ? T(-20) : T(-40));
  const V high = constant<V>(sizeof(T) == 4 ? T(89) : T(710));
  V clamped = select(x < low, low, x);
  clamped = select(clamped > high, high, clamped);
  const ReducedExponential<V> e = reduce_exponential(clamped, V{});
  // 2 * (2^(n-1) * r + (2^(n-1) - 1/2)): half the result never overflows before it must.
  const V half = power_of_two<V>(e.n - typename LaneTraits<T>::Bits(1));
  const V y = constant<V>(T(2)) * fused(half, e.r, half - constant<V>(T(0.5)));
  return select(x == V{}, x, y);
}

template <typename V>
FERRULE_INLINE V tanh(V x) {
  using T = ScalarOf<V>;
  // Beyond the bound the result rounds to 1.
  const V bound = constant<V>(sizeof(T) == 4 ? T(10) : T(20));
  V magnitude = absolute(x);
  magnitude = select(magnitude > bound, bound, magnitude);
  const V e = expm1(magnitude + magnitude);
  return copy_sign(e / (e + constant<V>(T(2))), x);
}

// 1 / (1 + exp(-x)), from exp(-|x|) so that nothing cancels or overflows.
template <typename V>
FERRULE_INLINE V sigmoid(V x) {
  using T = ScalarOf<V>;
  const V one = constant<V>(T(1));
  const V e = exp(-absolute(x));
  const V y = select(x < V{}, e, one) / (one + e);
  return select(x == x, y, x);
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_EXPONENTIAL_H_
