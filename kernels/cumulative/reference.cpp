#include "kernels/cumulative/reference.h"

#include <cmath>
#include <type_traits>

namespace ferrule::kernels {
namespace {

template <typename T>
bool is_nan(T value) {
  return value != value;
}

// Whether a replaces the best so far: strictly larger (or smaller), a NaN anything but a NaN.
template <typename T>
bool ranks_before(T a, T best, bool largest) {
  if (is_nan(a) || is_nan(best)) return is_nan(a) && !is_nan(best);
  return largest ? a > best : a < best;
}

// maximum and minimum where -0 < +0 and NaN wins.
template <typename T>
T extremum(T a, T b, bool largest) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) ? a : b;
  if constexpr (std::is_floating_point_v<T>) {
    if (a == b) return std::signbit(a) == largest ? b : a;
  }
  return (largest ? a > b : a < b) ? a : b;
}

// Calls visit(index of the element, step) along each run.
template <typename Visit>
void for_each_run(const RunShape& shape, bool reverse, Visit visit) {
  for (int64_t o = 0; o < shape.outer; ++o) {
    for (int64_t c = 0; c < shape.inner; ++c) {
      for (int64_t step = 0; step < shape.n; ++step) {
        const int64_t i = reverse ? shape.n - 1 - step : step;
        visit((o * shape.n + i) * shape.inner + c, step);
      }
    }
  }
}

}  // namespace

template <typename T>
bool reference_cumulative(std::string_view op, const T* x, const RunShape& shape, bool reverse, bool exclusive, T* y) {
  const bool sum = op == "cumsum", product = op == "cumprod", largest = op == "cummax";
  if (!sum && !product && !largest && op != "cummin") return false;
  T total{};
  for_each_run(shape, reverse, [&](int64_t at, int64_t step) {
    if (step == 0) total = product ? T(1) : sum ? T(0) : x[at];
    const T before = total;
    total = sum ? total + x[at] : product ? total * x[at] : extremum(total, x[at], largest);
    y[at] = exclusive ? before : total;
  });
  return true;
}

template <typename T>
bool reference_cumulative_arg(std::string_view op, const T* x, const RunShape& shape, int32_t* y) {
  const bool largest = op == "cumargmax";
  if (!largest && op != "cumargmin") return false;
  T best{};
  int32_t index = 0;
  for_each_run(shape, false, [&](int64_t at, int64_t step) {
    if (step == 0 || ranks_before(x[at], best, largest)) {
      best = x[at];
      index = static_cast<int32_t>(step);
    }
    y[at] = index;
  });
  return true;
}

template <typename T>
void reference_linear_recurrence(const T* a, const T* b, const RunShape& shape, bool reverse, bool exclusive,
                                 bool lagged, T* y) {
  T value{}, factor{};
  for_each_run(shape, reverse, [&](int64_t at, int64_t step) {
    const T before = step == 0 ? T(0) : value;
    value = step == 0 ? b[at] : std::fma(lagged ? factor : a[at], value, b[at]);
    factor = a[at];
    y[at] = exclusive ? before : value;
  });
}

#define FERRULE_INSTANCES(T)                                                                                    \
  template bool reference_cumulative(std::string_view, const T*, const RunShape&, bool, bool, T*);              \
  template bool reference_cumulative_arg(std::string_view, const T*, const RunShape&, int32_t*);
FERRULE_INSTANCES(float)
FERRULE_INSTANCES(double)
FERRULE_INSTANCES(int32_t)
FERRULE_INSTANCES(int64_t)
#undef FERRULE_INSTANCES
template void reference_linear_recurrence(const float*, const float*, const RunShape&, bool, bool, bool, float*);
template void reference_linear_recurrence(const double*, const double*, const RunShape&, bool, bool, bool, double*);

}  // namespace ferrule::kernels
