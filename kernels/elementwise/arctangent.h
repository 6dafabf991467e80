// atan, atan2, asin and acos for one scalar or 16 lanes: all are the angle of a point. f32 computes in f64 and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_ARCTANGENT_H_
#define FERRULE_KERNELS_ELEMENTWISE_ARCTANGENT_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// The angle of (x, y) in the first quadrant, x, y >= 0. With n <= d the smaller and the larger of the two it is
// atan(c) + atan(t), t = (n - c d) / (d + c n), c = 0, 1/2 or 1 so that |t| <= 1/4, or pi/2 minus that.
template <typename V>
FERRULE_INLINE V angle(V y, V x) {
  constexpr double kAtan[] = {-1.0 / 27, 1.0 / 25, -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17, -1.0 / 15,
                              1.0 / 13,  -1.0 / 11, 1.0 / 9,  -1.0 / 7, 1.0 / 5,   -1.0 / 3};
  const V zero = V{}, one = constant<V>(1.0), infinity = constant<V>(LaneTraits<double>::kInfinity);
  const auto steep = y > x;
  V n = select(steep, x, y), d = select(steep, y, x);
  // Directions that infinities and the origin stand for.
  n = select(d == infinity, select(n == infinity, one, zero), n);
  d = select((d == infinity) | (d == zero), one, d);
  // Powers of two that keep d + c n from overflow and denormal inputs from losing bits.
  const V scale = select(d > constant<V>(0x1p1000), constant<V>(0x1p-10),
                         select(d < constant<V>(0x1p-900), constant<V>(0x1p100), one));
  n = n * scale;
  d = d * scale;
  const auto second = n > constant<V>(0.25) * d, third = n > constant<V>(0.75) * d;
  const V c = select(third, one, select(second, constant<V>(0.5), zero));
  const V t = fused(-c, d, n) / fused(c, n, d);
  const V z = t * t;
  const V series = fused(t * z, polynomial(z, kAtan), t);
  // atan(c), or pi/2 - atan(c), in two parts.
  const V near_high = select(third, constant<V>(0x1.921fb54442d18p-1), select(second, constant<V>(0x1.dac670561bb4fp-2), zero));
  const V near_low = select(third, constant<V>(0x1.1a62633145c07p-55), select(second, constant<V>(0x1.a2b7f222f65e2p-56), zero));
  const V steep_high = select(third, constant<V>(0x1.921fb54442d18p-1), select(second, constant<V>(0x1.1b6e192ebbe44p+0), constant<V>(0x1.921fb54442d18p+0)));
  const V steep_low = select(third, constant<V>(0x1.1a62633145c07p-55), select(second, constant<V>(0x1.b1b466a88828ep-54), constant<V>(0x1.1a62633145c07p-54)));
  return select(steep, steep_high - (series - steep_low), near_high + (series + near_low));
}

// pi - angle
template <typename V>
FERRULE_INLINE V supplement(V angle) {
  return constant<V>(0x1.921fb54442d18p+1) - (angle - constant<V>(0x1.1a62633145c07p-53));
}

template <typename V>
FERRULE_INLINE V atan_f64(V x) {
  return copy_sign(angle(absolute(x), constant<V>(1.0)), x);
}
template <typename V>
FERRULE_INLINE V atan2_f64(V y, V x) {
  const V first = angle(absolute(y), absolute(x));
  const auto behind = bits_as<BitsOf<V>>(x) < 0;
  const V result = copy_sign(select(behind, supplement(first), first), y);
  return select((x == x) & (y == y), result, constant<V>(__builtin_nan("")));
}

// The other coordinate on the unit circle; NaN for |x| > 1.
template <typename V>
FERRULE_INLINE V coordinate_on_circle(V magnitude) {
  const V one = constant<V>(1.0);
  return square_root((one - magnitude) * (one + magnitude));
}
template <typename V>
FERRULE_INLINE V asin_f64(V x) {
  const V magnitude = absolute(x);
  return copy_sign(angle(magnitude, coordinate_on_circle(magnitude)), x);
}
template <typename V>
FERRULE_INLINE V acos_f64(V x) {
  const V magnitude = absolute(x);
  const V first = angle(coordinate_on_circle(magnitude), magnitude);
  const V result = select(x < V{}, supplement(first), first);
  return select(magnitude <= constant<V>(1.0), result, constant<V>(__builtin_nan("")));
}

template <typename V>
FERRULE_INLINE V atan(V x) {
  return convert_to<V>(atan_f64(convert_to<DoubleOf<V>>(x)));
}
template <typename V>
FERRULE_INLINE V atan2(V y, V x) {
  return convert_to<V>(atan2_f64(convert_to<DoubleOf<V>>(y), convert_to<DoubleOf<V>>(x)));
}
template <typename V>
FERRULE_INLINE V asin(V x) {
  return convert_to<V>(asin_f64(convert_to<DoubleOf<V>>(x)));
}
template <typename V>
FERRULE_INLINE V acos(V x) {
  return convert_to<V>(acos_f64(convert_to<DoubleOf<V>>(x)));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_ARCTANGENT_H_
