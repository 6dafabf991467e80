// The transcendental functions and the divisions on 16 lanes.
#include "kernels/base/define.h"
#include "kernels/elementwise/arctangent.h"
#include "kernels/elementwise/division.h"
#include "kernels/elementwise/error_function.h"
#include "kernels/elementwise/hyperbolic.h"
#include "kernels/elementwise/power.h"
#include "kernels/elementwise/root.h"
#include "kernels/elementwise/rounding.h"
#include "kernels/elementwise/trigonometry.h"

#define FERRULE_UNARY_AS(name, S, T)                                                      \
  FERRULE_DEFINE(void, ferrule_##name##_##S)(const void* x, void* y) {                    \
    using namespace ferrule::kernels;                                                     \
    store(static_cast<T*>(y), ferrule::kernels::name(load(static_cast<const T*>(x))));    \
  }
#define FERRULE_UNARY(name)          \
  FERRULE_UNARY_AS(name, f32, float) \
  FERRULE_UNARY_AS(name, f64, double)
FERRULE_UNARY(exp)
FERRULE_UNARY(log)
FERRULE_UNARY(log1p)
FERRULE_UNARY(expm1)
FERRULE_UNARY(tanh)
FERRULE_UNARY(sigmoid)
FERRULE_UNARY(erf)
FERRULE_UNARY(sin)
FERRULE_UNARY(cos)
FERRULE_UNARY(exp2)
FERRULE_UNARY(log2)
FERRULE_UNARY(log10)
FERRULE_UNARY(cbrt)
FERRULE_UNARY(erfc)
FERRULE_UNARY(tan)
FERRULE_UNARY(asin)
FERRULE_UNARY(acos)
FERRULE_UNARY(atan)
FERRULE_UNARY(sinh)
FERRULE_UNARY(cosh)
FERRULE_UNARY(asinh)
FERRULE_UNARY(acosh)
FERRULE_UNARY(atanh)

#define FERRULE_BINARY(name, S, T)                                                                      \
  FERRULE_DEFINE(void, ferrule_##name##_##S)(const void* x, const void* y, void* out) {                 \
    using namespace ferrule::kernels;                                                                   \
    store(static_cast<T*>(out),                                                                         \
          ferrule::kernels::name(load(static_cast<const T*>(x)), load(static_cast<const T*>(y))));      \
  }
#define FERRULE_DIVISIONS(S, T)   \
  FERRULE_BINARY(floor_div, S, T) \
  FERRULE_BINARY(mod, S, T)       \
  FERRULE_BINARY(fmod, S, T)
FERRULE_BINARY(pow, f32, float)
FERRULE_BINARY(pow, f64, double)
FERRULE_BINARY(atan2, f32, float)
FERRULE_BINARY(atan2, f64, double)
FERRULE_BINARY(hypot, f32, float)
FERRULE_BINARY(hypot, f64, double)
FERRULE_DIVISIONS(f32, float)
FERRULE_DIVISIONS(f64, double)
FERRULE_DIVISIONS(i32, int32_t)
FERRULE_DIVISIONS(i64, int64_t)
FERRULE_DIVISIONS(u64, uint64_t)

FERRULE_DEFINE(void, ferrule_round_to_odd_f64)(const void* x, void* y) {
  using namespace ferrule::kernels;
  store(static_cast<float*>(y), round_to_odd(load(static_cast<const double*>(x))));
}
FERRULE_DEFINE(void, ferrule_bfloat16_bits_f32)(const void* x, void* y) {
  using namespace ferrule::kernels;
  store(static_cast<int16_t*>(y), bfloat16_bits(load(static_cast<const float*>(x))));
}
