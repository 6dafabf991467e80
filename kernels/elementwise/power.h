// pow, with the special cases of IEEE 754 pow, exp2 and log10 for one scalar or 16 lanes.
#ifndef FERRULE_KERNELS_ELEMENTWISE_POWER_H_
#define FERRULE_KERNELS_ELEMENTWISE_POWER_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// A value as the sum of two, the second below half an ULP of the first.
template <typename V>
struct TwoPart {
  V high, low;
};

// log(x) to about 2^-65 for finite normal x > 0: what f64 pow needs, since y log(x) may reach 745.
template <typename V>
FERRULE_INLINE TwoPart<V> log_two_part(V f, V n) {
  constexpr double kQ[] = {2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15,
                           2.0 / 13, 2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5};
  const V two = constant<V>(2.0);
  // s = f / (2 + f)
  const V d = two + f, d_low = f - (d - two);
  const V s = f / d;
  const V s_low = fused(-s, d_low, fused(-s, d, f)) / d;
  const V z = s * s, z_low = fused(two * s, s_low, fused(s, s, -z));
  // w = 2/3 + z Q(z)
  const V rest = z * polynomial(z, kQ), third = constant<V>(0x1.5555555555555p-1);
  const V w = third + rest, w_low = ((third - w) + rest) + constant<V>(0x1.5555555555555p-55);
  // p = s z w
  const V sz = s * z, sz_low = fused(s_low, z, fused(s, z_low, fused(s, z, -sz)));
  const V p = sz * w, p_low = fused(sz_low, w, fused(sz, w_low, fused(sz, w, -p)));
  // n ln 2 + 2 s + p, largest first
  const V a = n * constant<V>(LogTraits<double>::kHigh), b = two * s;
  const V h1 = a + b, l1 = (a - h1) + b;
  const V h2 = h1 + p, l2 = (h1 - h2) + p;
  const V low = (l1 + l2) + fused(n, constant<V>(LogTraits<double>::kLow), fused(two, s_low, p_low));
  const V high = h2 + low;
  return {high, (h2 - high) + low};
}

// |x|^y in f64; infinities and zeros included, y = 0 and |x| = 1 left to the caller.
template <typename V>
FERRULE_INLINE V power_of_magnitude(V magnitude, V y) {
  const V infinity = constant<V>(LaneTraits<double>::kInfinity);
  const SplitNumber<V> split = split_any(magnitude);
  TwoPart<V> log = log_two_part(split.f, split.n);
  log.high = select(magnitude == V{}, -infinity, select(magnitude == infinity, infinity, log.high));
  const V product = y * log.high;
  const V low = fused(y, log.low, fused(y, log.high, -product));
  // Far outside, exp is 0 or infinite whatever the low part is, and the low part may be infinite or NaN.
  return exponential(product, select(absolute(product) < constant<V>(1000.0), low, V{}));
}

template <typename V>
FERRULE_INLINE V pow_f64(V x, V y) {
  const V zero = V{}, one = constant<V>(1.0), infinity = constant<V>(LaneTraits<double>::kInfinity);
  const V magnitude = absolute(x);
  V result = power_of_magnitude(magnitude, y);
  // |x| = 1 gives 1 for every y but NaN, infinite ones included.
  result = select((magnitude == one) & (y == y), one, result);
  const V half = constant<V>(0.5) * y;
  const auto integer = round_to_zero(y) == y;
  const auto odd = integer & (round_to_zero(half) != half);
  const auto sign = bits_as<BitsOf<V>>(x) < 0;
  result = select(sign & odd, -result, result);
  // A negative finite base needs an integer exponent.
  const auto invalid = (x < zero) & (magnitude < infinity) & (y == y) & (round_to_zero(y) != y);
  result = select(invalid, constant<V>(__builtin_nan("")), result);
  result = select((x != x) | (y != y), x + y, result);
  return select((y == zero) | (x == one), one, result);
}

template <typename V>
FERRULE_INLINE V pow(V x, V y) {
  return convert_to<V>(pow_f64(convert_to<DoubleOf<V>>(x), convert_to<DoubleOf<V>>(y)));
}

// 2^n * exp(r ln 2), n = round(x), so that integers are exact.
template <typename V>
FERRULE_INLINE V exp2_f64(V x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
  const V low = constant<V>(-1080.0), high = constant<V>(1030.0);
  x = select(x < low, low, x);
  x = select(x > high, high, x);
  const V n = round_even(x), r = x - n;
  const V t = r * constant<V>(kLn2);
  const V tail = fused(r, constant<V>(kLn2Rest), fused(r, constant<V>(kLn2), -t));
  const ReducedExponential<V> e = reduce_exponential(t, tail);
  const V magic = constant<V>(kRoundingMagic<double>);
  const BitsOf<V> whole = bits_as<BitsOf<V>>(n + magic) - bits_as<int64_t>(kRoundingMagic<double>);
  return scale_exponential(e.r, e.n + whole);
}
template <typename V>
FERRULE_INLINE V exp2(V x) {
  return convert_to<V>(exp2_f64(convert_to<DoubleOf<V>>(x)));
}

// log(x) / ln 10 with both in two parts: powers of ten come out exact.
template <typename V>
FERRULE_INLINE V log10_f64(V x) {
  const SplitNumber<V> split = split_any(x);
  const TwoPart<V> log = log_two_part(split.f, split.n);
  const V factor = constant<V>(0x1.bcb7b1526e50ep-2), factor_low = constant<V>(0x1.95355baaafad3p-57);
  const V product = log.high * factor;
  const V rest = fused(log.high, factor_low, fused(log.low, factor, fused(log.high, factor, -product)));
  return finish_log(x, product + rest);
}
template <typename V>
FERRULE_INLINE V log10(V x) {
  return convert_to<V>(log10_f64(convert_to<DoubleOf<V>>(x)));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_POWER_H_
