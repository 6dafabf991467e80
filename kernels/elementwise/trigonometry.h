// sin, cos and tan for one scalar or 16 lanes, all finite arguments. f32 computes in f64 and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_TRIGONOMETRY_H_
#define FERRULE_KERNELS_ELEMENTWISE_TRIGONOMETRY_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// Up to here three parts of pi/2 reduce an argument without loss; beyond, the product with 2/pi is taken to 192 bits.
inline constexpr double kReductionLimit = 0x1p20;
inline constexpr double kHalfPi[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};

struct LargeReduction {
  double r;
  int64_t quadrant;
};

// x = quadrant * pi/2 + r for a finite x >= kReductionLimit, the quadrant modulo 4.
FERRULE_INLINE LargeReduction reduce_large(double x) {
  // 64 zero bits, then 2/pi after the binary point, as many bits as the largest exponent needs.
  static constexpr uint64_t kTwoOverPi[] = {
      0,
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
      0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
      0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
      0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};
  using Wide = unsigned __int128;
  const uint64_t bits = bits_as<uint64_t>(x);
  const uint64_t mantissa = (bits & 0xfffffffffffff) | 0x10000000000000;
  const int64_t exponent = static_cast<int64_t>(bits >> 52) - 1023 - 52;
  // x * 2/pi = mantissa * 2^exponent * 2/pi. Bits of 2/pi worth 4 or more after the scaling only add whole turns.
  const int64_t first = exponent - 2 + 64;
  const int64_t word = first / 64, shift = first % 64;
  uint64_t window[3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i) {
    const uint64_t high = kTwoOverPi[word + i], low = kTwoOverPi[word + i + 1];
    window[i] = shift == 0 ? high : (high << shift) | (low >> (64 - shift));
  }
  // A fraction of a whole turn of four quadrants, in 192 bits.
  const Wide p0 = static_cast<Wide>(mantissa) * window[2];
  const Wide p1 = static_cast<Wide>(mantissa) * window[1] + static_cast<uint64_t>(p0 >> 64);
  const uint64_t high = mantissa * window[0] + static_cast<uint64_t>(p1 >> 64);
  const uint64_t middle = static_cast<uint64_t>(p1), low = static_cast<uint64_t>(p0);
  int64_t quadrant = static_cast<int64_t>(high >> 62);
  uint64_t f1 = (high << 2) | (middle >> 62), f0 = (middle << 2) | (low >> 62);
  // The nearest quadrant, so that |r| <= pi/4.
  const bool negative = (f1 >> 63) != 0;
  if (negative) {
    f0 = ~f0 + 1;
    f1 = ~f1 + (f0 == 0 ? 1 : 0);
    ++quadrant;
  }
  double fraction = static_cast<double>(static_cast<int64_t>(f1 >> 1)) * 0x1p-63;
  fraction = fraction + static_cast<double>(static_cast<int64_t>((f1 & 1) << 62 | f0 >> 2)) * 0x1p-126;
  const double r = fused(fraction, kHalfPi[0], fraction * kHalfPi[1]);
  return {negative ? -r : r, quadrant & 3};
}

// Replaces r and quadrant where |x| is large; `magnitude` is |x|.
FERRULE_INLINE void reduce_where_large(double x, double magnitude, double* r, int64_t* quadrant) {
  if (magnitude >= kReductionLimit && magnitude < LaneTraits<double>::kInfinity) {
    const LargeReduction large = reduce_large(magnitude);
    *r = x < 0 ? -large.r : large.r;
    *quadrant = x < 0 ? -large.quadrant : large.quadrant;
  }
}
#ifdef __clang__
FERRULE_INLINE void reduce_where_large(Vec<double> x, Vec<double> magnitude, Vec<double>* r, Vec<int64_t>* quadrant) {
  if (!any((magnitude >= splat(kReductionLimit)) & (magnitude < splat(LaneTraits<double>::kInfinity)))) return;
  double values[kLanes], magnitudes[kLanes], remainders[kLanes];
  int64_t quadrants[kLanes];
  store(values, x);
  store(magnitudes, magnitude);
  store(remainders, *r);
  store(quadrants, *quadrant);
#pragma clang loop unroll(disable)
  for (int i = 0; i < kLanes; ++i) reduce_where_large(values[i], magnitudes[i], &remainders[i], &quadrants[i]);
  *r = load(remainders);
  *quadrant = load(quadrants);
}
#endif

// x = quadrant * pi/2 + remainder, |remainder| <= pi/4 and a little; the quadrant counts in its two lowest bits.
template <typename V>
struct Circle {
  V remainder;
  BitsOf<V> quadrant;
};
template <typename V>
FERRULE_INLINE Circle<V> reduce_angle(V x) {
  const V magic = constant<V>(kRoundingMagic<double>);
  const V shifted = fused(x, constant<V>(0x1.45f306dc9c883p-1), magic);
  const V n = shifted - magic;
  V r = fused(n, constant<V>(-kHalfPi[0]), x);
  r = fused(n, constant<V>(-kHalfPi[1]), r);
  r = fused(n, constant<V>(-kHalfPi[2]), r);
  BitsOf<V> quadrant = bits_as<BitsOf<V>>(shifted);
  reduce_where_large(x, absolute(x), &r, &quadrant);
  return {r, quadrant};
}

// The series of sin and cos, cut where the rest is below 2^-57 for |r| <= pi/4.
template <typename V>
struct SineCosine {
  V sine, cosine;
};
template <typename V>
FERRULE_INLINE SineCosine<V> sine_and_cosine(V r) {
  constexpr double kSin[] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                             1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
  constexpr double kCos[] = {-1.0 / 6402373705728000, 1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600,
                             -1.0 / 3628800,          1.0 / 40320,          -1.0 / 720,         1.0 / 24};
  const V z = r * r;
  const V sine = fused(polynomial(z, kSin) * z, r, r);
  const V half = constant<V>(0.5) * z, one = constant<V>(1.0);
  const V w = one - half;
  return {sine, w + fused(z * z, polynomial(z, kCos), (one - w) - half)};
}

// sin(x + quadrants * pi/2).
template <typename V>
FERRULE_INLINE V sine_f64(V x, int64_t quadrants) {
  const Circle<V> circle = reduce_angle(x);
  const SineCosine<V> value = sine_and_cosine(circle.remainder);
  const BitsOf<V> quadrant = circle.quadrant + quadrants;
  const auto odd = (quadrant & 1) != 0, negative = (quadrant & 2) != 0;
  const V y = select(odd, value.cosine, value.sine);
  return select(negative, -y, y);
}

template <typename V>
FERRULE_INLINE V tangent_f64(V x) {
  const Circle<V> circle = reduce_angle(x);
  const SineCosine<V> value = sine_and_cosine(circle.remainder);
  const auto odd = (circle.quadrant & 1) != 0;
  return select(odd, -value.cosine, value.sine) / select(odd, value.sine, value.cosine);
}

template <typename V>
FERRULE_INLINE V sin(V x) {
  return select(x == V{}, x, convert_to<V>(sine_f64(convert_to<DoubleOf<V>>(x), 0)));
}
template <typename V>
FERRULE_INLINE V cos(V x) {
  return convert_to<V>(sine_f64(convert_to<DoubleOf<V>>(x), 1));
}
template <typename V>
FERRULE_INLINE V tan(V x) {
  return select(x == V{}, x, convert_to<V>(tangent_f64(convert_to<DoubleOf<V>>(x))));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_TRIGONOMETRY_H_
