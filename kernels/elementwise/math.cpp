// The transcendental functions and the divisions on 16 lanes.
#include "kernels/base/define.h"
#include "kernels/elementwise/division.h"
#include "kernels/elementwise/error_function.h"
#include "kernels/elementwise/power.h"
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

#define FERRULE_BINARY(name, S, T)                                                                      \
  FERRULE_DEFINE(void, ferrule_##name##_##S)(const void* x, const void* y, void* out) {                 \
    using namespace ferrule::kernels;                                                                   \
    store(static_cast<T*>(out),                                                                         \
          ferrule::kernels::name(load(static_cast<const T*>(x)), load(static_cast<const T*>(y))));      \
  }
#define FERRULE_DIVISIONS(S, T)   \
  FERRULE_BINARY(floor_div, S, T) \
  FERRULE_BINARY(mod, S, T)
FERRULE_BINARY(pow, f32, float)
FERRULE_BINARY(pow, f64, double)
FERRULE_DIVISIONS(f32, float)
FERRULE_DIVISIONS(f64, double)
FERRULE_DIVISIONS(i32, int32_t)
FERRULE_DIVISIONS(i64, int64_t)
