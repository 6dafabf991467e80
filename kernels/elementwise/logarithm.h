// log, log1p and log2 for one scalar or 16 lanes, each in its own type.
#ifndef FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_
#define FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_

#include "kernels/elementwise/exponential.h"

namespace ferrule::kernels {

// The type with f64 lanes that belongs to V.
template <typename V>
using DoubleOf = typename Rebind<V, double>::Type;

// `kHigh` of ln 2 ends in zeros: its products with exponents are exact. `kDenormalShift` makes a denormal normal.
template <typename T>
struct LogTraits;
template <>
struct LogTraits<float> {
  static constexpr int32_t kSqrtHalf = 0x3f3504f3;
  static constexpr float kHigh = 0x1.62e4p-1f, kLow = 0x1.7f7d1cp-20f, kInverse = 0x1.715476p+0f;
  static constexpr int kDenormalShift = 25;
};
template <>
struct LogTraits<double> {
  static constexpr int64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  static constexpr double kHigh = 0x1.62e42fee00000p-1, kLow = 0x1.a39ef35793c76p-33, kInverse = 0x1.71547652b82fep+0;
  static constexpr int kDenormalShift = 54;
};

// 2^n * (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
template <typename V>
struct SplitNumber {
  V f, n;
};

// `x` positive, finite and normal; other values give garbage that the caller replaces.
template <typename V>
FERRULE_INLINE SplitNumber<V> split_number(V x) {
  using T = ScalarOf<V>;
  using B = BitsOf<V>;
  const B bits = bits_as<B>(x);
  const B exponent = (bits - LogTraits<T>::kSqrtHalf) >> LaneTraits<T>::kMantissa;
  const V m = bits_as<V>(static_cast<B>(bits - (exponent << LaneTraits<T>::kMantissa)));
  // The exponent becomes a number through the low bits of 1.5 times the power of two whose unit is 1.
  const V n = bits_as<V>(static_cast<B>(exponent + bits_as<typename LaneTraits<T>::Bits>(kRoundingMagic<T>))) -
              constant<V>(kRoundingMagic<T>);
  return {m - constant<V>(T(1)), n};
}

// n ln 2 + log(1 + f) + correction.
// f64: with s = f / (2 + f), log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R), R = 2/3 s^2 + 2/5 s^4 + ..., cut
// where the rest is below 2^-60 for |s| <= 0.1716. f32: log(1 + f) = f - f^2/2 + f^3 P(f) without a division; P is the
// minimax polynomial for the relative error of the logarithm, 2^-28 with its coefficients rounded.
template <typename V>
FERRULE_INLINE V log_of_split(V f, V n, V correction) {
  using T = ScalarOf<V>;
  if constexpr (sizeof(T) == 4) {
    constexpr float kP[] = {0x1.1457a8p-4f,  -0x1.de3c16p-4f, 0x1.e6f06ap-4f,  -0x1.fc2208p-4f, 0x1.233768p-3f,
                            -0x1.555c4ep-3f, 0x1.99a4b6p-3f,  -0x1.000006p-2f, 0x1.555548p-2f};
    const V square = f * f;
    const V cubic = (square * f) * polynomial(f, kP);
    const V low = fused(square, constant<V>(-0.5f), fused(n, constant<V>(LogTraits<T>::kLow), cubic) + correction);
    return fused(n, constant<V>(LogTraits<T>::kHigh), f + low);
  } else {
    constexpr double kR[] = {2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                             2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5,  2.0 / 3};
    const V s = f / (constant<V>(2.0) + f);
    const V z = s * s;
    const V r = z * polynomial(z, kR);
    const V half_square = constant<V>(0.5) * f * f;
    const V low = fused(n, constant<V>(LogTraits<T>::kLow), s * (half_square + r)) + correction;
    return n * constant<V>(LogTraits<T>::kHigh) - ((half_square - low) - f);
  }
}

// As split_number, denormals included: they are scaled by a power of two first.
template <typename V>
FERRULE_INLINE SplitNumber<V> split_any(V x) {
  using T = ScalarOf<V>;
  constexpr int kShift = LogTraits<T>::kDenormalShift;
  const auto small = x < constant<V>(LaneTraits<T>::kMin);
  const SplitNumber<V> split = split_number(select(small, x * constant<V>(T(int64_t{1} << kShift)), x));
  return {split.f, select(small, split.n - constant<V>(T(kShift)), split.n)};
}

// A logarithm's value where x is not positive and finite; `y` elsewhere.
template <typename V>
FERRULE_INLINE V finish_log(V x, V y) {
  using T = ScalarOf<V>;
  const V infinity = constant<V>(LaneTraits<T>::kInfinity);
  y = select(x == infinity, infinity, y);
  y = select(x == V{}, -infinity, y);
  return select(x >= V{}, y, constant<V>(T(__builtin_nan(""))));
}

template <typename V>
FERRULE_INLINE V log(V x) {
  const SplitNumber<V> split = split_any(x);
  return finish_log(x, log_of_split(split.f, split.n, V{}));
}

template <typename V>
FERRULE_INLINE V log1p(V x) {
  using T = ScalarOf<V>;
  const V one = constant<V>(T(1)), infinity = constant<V>(LaneTraits<T>::kInfinity);
  const V u = one + x;
  const SplitNumber<V> split = split_number(u);
  // What 1 + x lost, relative to it. Where no exponent was taken out, x itself is f.
  const V lost = select(x > one, one - (u - x), x - (u - one)) / u;
  const auto near = split.n == V{};
  V y = log_of_split(select(near, x, split.f), split.n, select(near, V{}, lost));
  y = select(x == infinity, infinity, y);
  y = select(x == -one, -infinity, y);
  y = select(x == V{}, x, y);
  return select(x >= -one, y, constant<V>(T(__builtin_nan(""))));
}

// n + log(1 + f) / ln 2: a power of two has f = 0.
template <typename V>
FERRULE_INLINE V log2(V x) {
  const SplitNumber<V> split = split_any(x);
  const V y = log_of_split(split.f, V{}, V{});
  return finish_log(x, fused(y, constant<V>(LogTraits<ScalarOf<V>>::kInverse), split.n));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_LOGARITHM_H_
