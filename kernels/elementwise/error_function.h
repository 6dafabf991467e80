// erf for one scalar or 16 lanes. f32 computes in f64, with shorter polynomials, and rounds once.
#ifndef FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_
#define FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// |x| < 1: the Maclaurin series, (-1)^n / (n! (2n + 1)). Else 1 - exp(-x^2) g(u) / (x + 5/2), u = (x - 5/2)/(x + 5/2),
// g interpolated at Chebyshev nodes for 1 <= x <= 6.25; beyond 6 the result is 1.
template <bool SHORT, typename V>
FERRULE_INLINE V erf_f64(V x) {
  constexpr double kSeries[] = {
      1.0 / 236887827111936000.0, -1.0 / 12449059983360000.0, 1.0 / 690452066304000.0, -1.0 / 40537905408000.0,
      1.0 / 2528170444800.0,      -1.0 / 168129561600.0,      1.0 / 11975040000.0,     -1.0 / 918086400.0,
      1.0 / 76204800.0,           -1.0 / 6894720.0,           1.0 / 685440.0,          -1.0 / 75600.0,
      1.0 / 9360.0,               -1.0 / 1320.0,              1.0 / 216.0,             -1.0 / 42.0,
      1.0 / 10.0,                 -1.0 / 3.0,                 1.0};
  constexpr double kShortSeries[] = {
      -1.0 / 918086400.0, 1.0 / 76204800.0, -1.0 / 6894720.0, 1.0 / 685440.0, -1.0 / 75600.0, 1.0 / 9360.0,
      -1.0 / 1320.0,      1.0 / 216.0,      -1.0 / 42.0,      1.0 / 10.0,     -1.0 / 3.0,     1.0};
  constexpr double kTail[] = {
      -0x1.7f3ceb5150e51p-25, -0x1.fdf47718a073bp-25, 0x1.2749b7dcfc7a5p-23,  0x1.d6958cf7267a3p-22,
      -0x1.167090b3f05b5p-27, -0x1.06bc5aef44174p-19, -0x1.38d628c01bcb7p-19, 0x1.c52a9bbb25786p-18,
      0x1.3214ad3612c63p-16,  -0x1.47b117a2fafdfp-16, -0x1.d84c628de207bp-14, 0x1.e91f0590787c6p-15,
      0x1.7069f3e07e18fp-11,  -0x1.cc8b124e78d5ep-12, -0x1.3bcdce38c4af6p-8,  0x1.1305f56587fa5p-7,
      0x1.d0acf691f31fdp-6,   -0x1.5eb8eba1dfe3ep-3,  0x1.d0cedcb8c904dp-2,   -0x1.9bfb53c4039d7p-1,
      0x1.0dd50785280a5p+0};
  constexpr double kShortTail[] = {
      0x1.a51eabb021d2dp-15, 0x1.56931198fe298p-11, -0x1.cb38ceb185306p-12, -0x1.3b4af74d99efap-8,
      0x1.130546874de98p-7,  0x1.d0aad518d613ap-6,  -0x1.5eb8eb6212c3ap-3,  0x1.d0cedd8087bb0p-2,
      -0x1.9bfb53c412986p-1, 0x1.0dd50784f91bbp+0};
  const V magnitude = absolute(x);
  const V z = x * x;
  V near, g;
  const V capped = select(magnitude > constant<V>(6.25), constant<V>(6.25), magnitude);
  const V shift = constant<V>(2.5);
  const V u = (capped - shift) / (capped + shift);
  if constexpr (SHORT) {
    near = polynomial(z, kShortSeries);
    g = polynomial(u, kShortTail);
  } else {
    near = polynomial(z, kSeries);
    g = polynomial(u, kTail);
  }
  near = (constant<V>(0x1.20dd750429b6dp+0) * near) * magnitude;
  const V far = constant<V>(1.0) - exp(-(capped * capped)) * (g / (capped + shift));
  const V y = select(magnitude < constant<V>(1.0), near, far);
  return copy_sign(y, x);
}

template <typename V>
FERRULE_INLINE V erf(V x) {
  const V y = convert_to<V>(erf_f64<sizeof(ScalarOf<V>) == 4>(convert_to<DoubleOf<V>>(x)));
  return select(x == x, y, x);
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_
