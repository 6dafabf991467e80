// erf and erfc for one scalar or 16 lanes.
#ifndef FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_
#define FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_

#include "kernels/elementwise/logarithm.h"

namespace ferrule::kernels {

// |x| < 1: the Maclaurin series, (-1)^n / (n! (2n + 1)). Else 1 - exp(-x^2) g(u) / (x + 5/2), u = (x - 5/2)/(x + 5/2),
// g interpolated at Chebyshev nodes for 1 <= x <= 6.25; beyond 6 the result is 1.
template <typename V>
FERRULE_INLINE V erf_f64(V x) {
  constexpr double kSeries[] = {
      1.0 / 236887827111936000.0, -1.0 / 12449059983360000.0, 1.0 / 690452066304000.0, -1.0 / 40537905408000.0,
      1.0 / 2528170444800.0,      -1.0 / 168129561600.0,      1.0 / 11975040000.0,     -1.0 / 918086400.0,
      1.0 / 76204800.0,           -1.0 / 6894720.0,           1.0 / 685440.0,          -1.0 / 75600.0,
      1.0 / 9360.0,               -1.0 / 1320.0,              1.0 / 216.0,             -1.0 / 42.0,
      1.0 / 10.0,                 -1.0 / 3.0,                 1.0};
  constexpr double kTail[] = {
      -0x1.7f3ceb5150e51p-25, -0x1.fdf47718a073bp-25, 0x1.2749b7dcfc7a5p-23,  0x1.d6958cf7267a3p-22,
      -0x1.167090b3f05b5p-27, -0x1.06bc5aef44174p-19, -0x1.38d628c01bcb7p-19, 0x1.c52a9bbb25786p-18,
      0x1.3214ad3612c63p-16,  -0x1.47b117a2fafdfp-16, -0x1.d84c628de207bp-14, 0x1.e91f0590787c6p-15,
      0x1.7069f3e07e18fp-11,  -0x1.cc8b124e78d5ep-12, -0x1.3bcdce38c4af6p-8,  0x1.1305f56587fa5p-7,
      0x1.d0acf691f31fdp-6,   -0x1.5eb8eba1dfe3ep-3,  0x1.d0cedcb8c904dp-2,   -0x1.9bfb53c4039d7p-1,
      0x1.0dd50785280a5p+0};
  const V magnitude = absolute(x);
  const V z = x * x;
  const V capped = select(magnitude > constant<V>(6.25), constant<V>(6.25), magnitude);
  const V shift = constant<V>(2.5);
  const V u = (capped - shift) / (capped + shift);
  const V g = polynomial(u, kTail);
  const V near = (constant<V>(0x1.20dd750429b6dp+0) * polynomial(z, kSeries)) * magnitude;
  const V far = constant<V>(1.0) - exp(-(capped * capped)) * (g / (capped + shift));
  const V y = select(magnitude < constant<V>(1.0), near, far);
  return copy_sign(y, x);
}

// erf of a magnitude below 0.9277: x + x q(x^2).
template <typename V>
FERRULE_INLINE V erf_near_zero(V magnitude) {
  constexpr float kNear[] = {0x1.5d76dcp-14f, -0x1.aa6fbcp-11f, 0x1.54cd60p-8f, -0x1.b80f1ep-6f,
                             0x1.ce2e10p-4f,  -0x1.812742p-2f,  0x1.06eba8p-3f};
  return fused(polynomial(magnitude * magnitude, kNear), magnitude, magnitude);
}

// From 0.9277 on 1 - exp(|x| p(|x|)), p close to log(erfc(x)) / x up to 3.95, from where on the result is 1. p and q are
// fitted for the least largest relative error (Lawson's iteration); 1.2 ULP.
template <typename V>
FERRULE_INLINE V erf_f32(V x) {
  constexpr float kFar[] = {-0x1.82bf06p-17f, 0x1.55944ap-12f, -0x1.deffb4p-9f, 0x1.85bbfcp-6f,
                            -0x1.b3446ep-4f,  -0x1.453036p-1f, -0x1.20ef66p+0f};
  const V magnitude = absolute(x);
  const V near = erf_near_zero(magnitude);
  const V capped = select(magnitude > constant<V>(3.95f), constant<V>(3.95f), magnitude);
  const V far = constant<V>(1.0f) - exp(capped * polynomial(capped, kFar));
  return copy_sign(select(magnitude < constant<V>(0.9277f), near, far), x);
}

template <typename V>
FERRULE_INLINE V erf(V x) {
  V y;
  if constexpr (sizeof(ScalarOf<V>) == 4) {
    y = erf_f32(x);
  } else {
    y = erf_f64(x);
  }
  return select(x == x, y, x);
}

// |x| < 1/2: 1 - erf(x). Up to 6: exp(-x^2) g(u) / (|x| + 2), u = (|x| - 2)/(|x| + 2); beyond, exp(-x^2) h(1/x^2) / |x|, and
// 0 from 28 on. g and h are interpolated at Chebyshev nodes of 0.48 .. 6.05 and 5.95 .. 28.5 with errors below 2^-60. What
// roundings in the squares and quotients lose is carried along: the absolute error of x^2 is the relative one of its
// exponential.
template <typename V>
FERRULE_INLINE V erfc_f64(V x) {
  constexpr double kG[] = {
      -0x1.9da1c5ffeab42p-23, -0x1.1bcb5ba81edd5p-21, -0x1.2fe238a40cd52p-24, 0x1.085c0cad1e8a2p-19,
      0x1.ec4287c89dcc7p-19, -0x1.2b032e5d77752p-20, -0x1.0e8cc42afc4e1p-16, -0x1.6c0b34491a56dp-16,
      0x1.1e77cc2525894p-15, 0x1.2efa515e071bfp-13, 0x1.2053f0b002fe6p-15, -0x1.5ba4390efeb14p-11,
      -0x1.b6fbf97c75fffp-11, 0x1.9517bb729fa4cp-9, 0x1.a89eaff84eeb1p-8, -0x1.606e41552b383p-6,
      -0x1.2a88e6107d48bp-5, 0x1.1e2deea6b1177p-2};
  constexpr double kG1 = -0x1.5fd386754eff9p-1, kG0 = 0x1.058671b52c776p+0;
  constexpr double kH[] = {
      -0x1.504bd1564bcefp+19, 0x1.80e0a9cd7e7dep+17, -0x1.f292604259511p+14, 0x1.0d669b5947bd4p+12,
      -0x1.286573105c688p+9, 0x1.6e66fed496605p+6, -0x1.0a93122668aa0p+4, 0x1.d9eb442c771a9p+1,
      -0x1.0ecf9d94d88a7p+0, 0x1.b14c2f85f4f80p-2, -0x1.20dd7504299fap-2, 0x1.20dd750429b6dp-1};
  const V magnitude = absolute(x), one = constant<V>(1.0), two = constant<V>(2.0);
  const V capped = select(magnitude > constant<V>(28.0), constant<V>(28.0), magnitude);
  const V square = capped * capped, square_low = fused(capped, capped, -square);
  const auto far = capped > constant<V>(6.0);
  const V sum = capped + two, sum_low = capped - (sum - two);
  const V n = capped - two, n_low = capped - (n + two);
  const V u = n / sum, u_low = (fused(-u, sum, n) + fused(-u, sum_low, n_low)) / sum;
  // The last two steps of Horner's scheme take the low part of u along.
  const V p = polynomial(u, kG);
  const V q = fused(u, p, constant<V>(kG1)) + u_low * p;
  const V g = fused(u, q, constant<V>(kG0)) + u_low * q;
  const V numerator = select(far, polynomial(one / square, kH), g);
  const V d = select(far, capped, sum), d_low = select(far, V{}, sum_low);
  const V quotient = numerator / d, quotient_low = fused(-quotient, d_low, fused(-quotient, d, numerator)) / d;
  const V e = exponential(-square, -square_low);
  const V tail = fused(e, quotient_low, e * quotient);
  const V y = select(magnitude < constant<V>(0.5), one - erf_f64(x), select(x < V{}, two - tail, tail));
  return select(x == x, y, x);
}
// |x| < 0.6: 1 - erf(x). Else exp(-x^2) g(u) / (2 |x| + 1), u = (|x| - 4)/(|x| + 4), g fitted for 0.45 .. 10.2, from where
// on the result is 0. What roundings lose is carried along as in erfc_f64, so that both quotients may come from one
// division; the power of two comes last, so that a denormal result is rounded once. 2.9 ULP.
template <typename V>
FERRULE_INLINE V erfc_f32(V x) {
  constexpr float kG[] = {0x1.5708d0p-8f, -0x1.107816p-6f, 0x1.2f0188p-5f, -0x1.0f526cp-4f,
                          0x1.801812p-4f, -0x1.9de370p-4f, 0x1.16e9a8p-4f, 0x1.f7f824p-7f};
  constexpr float kG1 = -0x1.1df1a4p-3f, kG0 = 0x1.3ba592p+0f;
  const V magnitude = absolute(x), one = constant<V>(1.0f), four = constant<V>(4.0f);
  const V capped = select(magnitude > constant<V>(10.2f), constant<V>(10.2f), magnitude);
  const V square = capped * capped, square_low = fused(capped, capped, -square);
  const V sum = capped + four, sum_low = capped - (sum - four);
  const V n = capped - four, n_low = capped - (n + four);
  const V twice = capped + capped, d = twice + one, d_low = twice - (d - one);
  const V both = one / (sum * d), by_sum = both * d, by_d = both * sum;
  const V u = n * by_sum, u_low = fused(-u, sum_low, fused(-u, sum, n) + n_low) * by_sum;
  const V p = polynomial(u, kG);
  const V q = fused(u_low, p, fused(u, p, constant<V>(kG1)));
  const V g = fused(u, q, constant<V>(kG0)), g_low = fused(u_low, q, fused(u, q, constant<V>(kG0) - g));
  const V quotient = g * by_d;
  const V quotient_low = (fused(-quotient, d_low, fused(-quotient, d, g)) + g_low) * by_d;
  const ReducedExponential<V> e = reduce_exponential(-square, -square_low);
  const V tail = scale_by_power(quotient + fused(quotient, e.r, quotient_low), e.n);
  const V near = one - copy_sign(erf_near_zero(magnitude), x);
  return select(magnitude < constant<V>(0.6f), near, select(x < V{}, constant<V>(2.0f) - tail, tail));
}

template <typename V>
FERRULE_INLINE V erfc(V x) {
  if constexpr (sizeof(ScalarOf<V>) == 4) {
    return select(x == x, erfc_f32(x), x);
  } else {
    return erfc_f64(x);
  }
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_ERROR_FUNCTION_H_
