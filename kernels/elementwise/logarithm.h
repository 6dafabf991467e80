// log and log1p for one scalar or 16 lanes. f32 computes in f64 and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_
#define FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_

#include "kernels/elementwise/exponential.h"

namespace ferrule::kernels {

// The type with f64 lanes that belongs to V.
template <typename V>
using DoubleOf = typename Rebind<V, double>::Type;

inline constexpr double kLn2High = 0x1.62e42fee00000p-1;  // 32 bits: products with exponents are exact
inline constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
template <typename V>
struct SplitNumber {
  V f, n;
};

// `x` positive, finite and normal; other values give garbage that the caller replaces.
template <typename V>
FERRULE_INLINE SplitNumber<V> split_number(V x) {
  using B = BitsOf<V>;
  constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const B bits = bits_as<B>(x);
  const B exponent = (bits - kSqrtHalf) >> 52;
  const V m = bits_as<V>(static_cast<B>(bits - (exponent << 52)));
  // The exponent becomes a number through the low bits of 1.5 * 2^52.
  const V n = bits_as<V>(static_cast<B>(exponent + bits_as<int64_t>(kRoundingMagic<double>))) -
              constant<V>(kRoundingMagic<double>);
  return {m - constant<V>(1.0), n};
}

// n ln 2 + log(1 + f) + correction. With s = f / (2 + f): log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R),
// R = 2/3 s^2 + 2/5 s^4 + ..., cut where the rest is below 2^-60 for |s| <= 0.1716.
template <typename V>
FERRULE_INLINE V log_of_split(V f, V n, V correction) {
  constexpr double kR[] = {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                           2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
  const V s = f / (constant<V>(2.0) + f);
  const V z = s * s;
  const V r = z * polynomial(z, kR);
  const V half_square = constant<V>(0.5) * f * f;
  const V low = fused(n, constant<V>(kLn2Low), s * (half_square + r)) + correction;
  return n * constant<V>(kLn2High) - ((half_square - low) - f);
}

// As split_number, denormals included: they are scaled by 2^54 first.
template <typename V>
FERRULE_INLINE SplitNumber<V> split_any(V x) {
  const auto small = x < constant<V>(LaneTraits<double>::kMin);
  const SplitNumber<V> split = split_number(select(small, x * constant<V>(0x1p54), x));
  return {split.f, select(small, split.n - constant<V>(54.0), split.n)};
}

// A logarithm's value where x is not positive and finite; `y` elsewhere.
template <typename V>
FERRULE_INLINE V finish_log(V x, V y) {
  const V infinity = constant<V>(LaneTraits<double>::kInfinity);
  y = select(x == infinity, infinity, y);
  y = select(x == V{}, -infinity, y);
  return select(x >= V{}, y, constant<V>(__builtin_nan("")));
}

template <typename V>
FERRULE_INLINE V log_f64(V x) {
  const SplitNumber<V> split = split_any(x);
  return finish_log(x, log_of_split(split.f, split.n, V{}));
}

template <typename V>
FERRULE_INLINE V log1p_f64(V x) {
  const V one = constant<V>(1.0), infinity = constant<V>(LaneTraits<double>::kInfinity);
  const V u = one + x;
  const SplitNumber<V> split = split_number(u);
  // What 1 + x lost, relative to it. Where no exponent was taken out, x itself is f.
  const V lost = select(x > one, one - (u - x), x - (u - one)) / u;
  const auto near = split.n == V{};
  V y = log_of_split(select(near, x, split.f), split.n, select(near, V{}, lost));
  y = select(x == infinity, infinity, y);
  y = select(x == -one, -infinity, y);
  y = select(x == V{}, x, y);
  return select(x >= -one, y, constant<V>(__builtin_nan("")));
}

// n + log(1 + f) / ln 2: a power of two has f = 0.
template <typename V>
FERRULE_INLINE V log2_f64(V x) {
  const SplitNumber<V> split = split_any(x);
  return finish_log(x, fused(log_of_split(split.f, V{}, V{}), constant<V>(0x1.71547652b82fep+0), split.n));
}

template <typename V>
FERRULE_INLINE V log(V x) {
  return convert_to<V>(log_f64(convert_to<DoubleOf<V>>(x)));
}
template <typename V>
FERRULE_INLINE V log1p(V x) {
  return convert_to<V>(log1p_f64(convert_to<DoubleOf<V>>(x)));
}
template <typename V>
FERRULE_INLINE V log2(V x) {
  return convert_to<V>(log2_f64(convert_to<DoubleOf<V>>(x)));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_
