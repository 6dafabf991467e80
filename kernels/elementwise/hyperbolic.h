// sinh, cosh and the inverse hyperbolic functions for one scalar or 16 lanes. f32 computes in f64 and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_HYPERBOLIC_H_
#define FERRULE_KERNELS_ELEMENTWISE_HYPERBOLIC_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// With h = exp(|x|) / 2, which overflows only where the result does: h - 1/(4h). That cancels for small x, where
// e = expm1(|x|) gives (e + e/(e + 1)) / 2.
template <typename V>
FERRULE_INLINE V sinh_f64(V x) {
  const V one = constant<V>(1.0), magnitude = absolute(x);
  const V e = expm1(select(magnitude > one, one, magnitude));
  const V near = constant<V>(0.5) * (e + e / (e + one));
  const V half = scaled_exponential<1>(magnitude, V{});
  const V far = half - constant<V>(0.25) / half;
  return copy_sign(select(magnitude < one, near, far), x);
}
template <typename V>
FERRULE_INLINE V cosh_f64(V x) {
  const V half = scaled_exponential<1>(absolute(x), V{});
  return half + constant<V>(0.25) / half;
}

// Beyond this bound x^2 + 1 and x^2 - 1 round to x^2, and the inverses are log(2x).
inline constexpr double kSquareAlone = 0x1p28;

// log(x + sqrt(x^2 + 1)) = log1p(x + x^2/(1 + sqrt(x^2 + 1)))
template <typename V>
FERRULE_INLINE V asinh_f64(V x) {
  const V one = constant<V>(1.0), bound = constant<V>(kSquareAlone), magnitude = absolute(x);
  const auto far = magnitude > bound;
  const V a = select(far, bound, magnitude), square = a * a;
  const V near = log1p(a + square / (one + square_root(square + one)));
  return copy_sign(select(far, log(magnitude) + constant<V>(0x1.62e42fefa39efp-1), near), x);
}

// log(x + sqrt(x^2 - 1)), t = x - 1
template <typename V>
FERRULE_INLINE V acosh_f64(V x) {
  const V one = constant<V>(1.0), bound = constant<V>(kSquareAlone);
  const auto far = x > bound;
  const V a = select(far, bound, x), t = a - one;
  const V near = log1p(t + square_root(t * (a + one)));
  const V y = select(far, log(x) + constant<V>(0x1.62e42fefa39efp-1), near);
  return select(x >= one, y, constant<V>(__builtin_nan("")));
}

template <typename V>
FERRULE_INLINE V atanh_f64(V x) {
  const V magnitude = absolute(x);
  const V y = log1p((magnitude + magnitude) / (constant<V>(1.0) - magnitude));
  return copy_sign(constant<V>(0.5) * y, x);
}

#define FERRULE_IN_F64(name)                                          \
  template <typename V>                                               \
  FERRULE_INLINE V name(V x) {                                        \
    return convert_to<V>(name##_f64(convert_to<DoubleOf<V>>(x)));     \
  }
FERRULE_IN_F64(sinh)
FERRULE_IN_F64(cosh)
FERRULE_IN_F64(asinh)
FERRULE_IN_F64(acosh)
FERRULE_IN_F64(atanh)
#undef FERRULE_IN_F64

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_HYPERBOLIC_H_
