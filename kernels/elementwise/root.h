// cbrt and hypot for one scalar or 16 lanes. f32 computes in f64 and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_ROOT_H_
#define FERRULE_KERNELS_ELEMENTWISE_ROOT_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// exp(log(x) / 3), and one step of Newton's method with the residual y^3 - x taken exactly.
template <typename V>
FERRULE_INLINE V cbrt_f64(V x) {
  const V magnitude = absolute(x);
  const auto small = magnitude < constant<V>(LaneTraits<double>::kMin);
  const V a = select(small, magnitude * constant<V>(0x1p54), magnitude);
  const V y = exp(log(a) * constant<V>(1.0 / 3));
  const V square = y * y, square_low = fused(y, y, -square);
  const V residual = fused(y, square, -a) + y * square_low;
  V root = y - residual / (constant<V>(3.0) * square);
  root = select(small, root * constant<V>(0x1p-18), root);
  const auto itself = (magnitude == V{}) | (magnitude == constant<V>(LaneTraits<double>::kInfinity)) | (x != x);
  return select(itself, x, copy_sign(root, x));
}
template <typename V>
FERRULE_INLINE V cbrt(V x) {
  return convert_to<V>(cbrt_f64(convert_to<DoubleOf<V>>(x)));
}

// sqrt(x^2 + y^2), scaled by a power of two where a square would leave the range. Infinite if either is, even with NaN.
template <typename V>
FERRULE_INLINE V hypot_f64(V x, V y) {
  const V infinity = constant<V>(LaneTraits<double>::kInfinity), one = constant<V>(1.0);
  const V a = absolute(x), b = absolute(y);
  V larger = select(a > b, a, b), smaller = select(a > b, b, a);
  const auto huge = larger > constant<V>(0x1p510), tiny = larger < constant<V>(0x1p-450);
  const V scale = select(huge, constant<V>(0x1p-600), select(tiny, constant<V>(0x1p600), one));
  const V back = select(huge, constant<V>(0x1p600), select(tiny, constant<V>(0x1p-600), one));
  larger = larger * scale;
  smaller = smaller * scale;
  const V length = square_root(fused(larger, larger, smaller * smaller)) * back;
  return select((a == infinity) | (b == infinity), infinity, length);
}
template <typename V>
FERRULE_INLINE V hypot(V x, V y) {
  return convert_to<V>(hypot_f64(convert_to<DoubleOf<V>>(x), convert_to<DoubleOf<V>>(y)));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_ROOT_H_
