#include "kernels/reduce/reference.h"

#include <cmath>
#include <limits>
#include <type_traits>

namespace ferrule::kernels {
namespace {

template <typename T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a + b;
  else return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
}
template <typename T>
T wrapping_mul(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  else return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) * static_cast<std::make_unsigned_t<T>>(b));
}

// NaN wins; of two zeros the maximum is +0 and the minimum -0.
template <typename T>
T extremum(bool max, T a, T b) {
  if (a != a) return a;
  if (b != b) return b;
  if (a == b) return std::signbit(static_cast<double>(a)) == max ? b : a;
  return (a > b) == max ? a : b;
}

// Products in the order of rule (c), starting from 1.
template <typename T>
T product(const T* x, int64_t n, int64_t stride) {
  T total = 1;
  for (int64_t block = 0; block < n; block += 4096) {
    T lanes[16];
    for (T& lane : lanes) lane = 1;
    for (int64_t i = block; i < n && i < block + 4096; ++i) lanes[i % 16] = wrapping_mul(lanes[i % 16], x[i * stride]);
    for (int half = 8; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) lanes[i] = wrapping_mul(lanes[i], lanes[i + half]);
    total = wrapping_mul(total, lanes[0]);
  }
  return total;
}

// Calls column(first element, index of the result).
template <typename T, typename Column>
void each_column(const T* x, int64_t outer, int64_t n, int64_t inner, Column column) {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t c = 0; c < inner; ++c) column(x + o * n * inner + c, o * inner + c);
}

template <typename T>
bool ranks_before(bool max, T a, T b) {
  if (a != a || b != b) return max ? a != a && b == b : b != b && a == a;
  return max ? a > b : a < b;
}

}  // namespace

template <typename T>
void LaneSum<T>::add_to_lane(T x) {
  lanes_[i_ % 16] = wrapping_add(lanes_[i_ % 16], x);
  advance();
}

template <typename T>
void LaneSum<T>::add_product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) lanes_[i_ % 16] = std::fma(a, b, lanes_[i_ % 16]);
  else lanes_[i_ % 16] = wrapping_add(lanes_[i_ % 16], wrapping_mul(a, b));
  advance();
}

template <typename T>
void LaneSum<T>::skip() {
  advance();
}

template <typename T>
void LaneSum<T>::advance() {
  if (++i_ % 4096 == 0) total_ = wrapping_add(total_, fold());
}

template <typename T>
T LaneSum<T>::fold() {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lanes_[i] = wrapping_add(lanes_[i], lanes_[i + half]);
  const T sum = lanes_[0];
  for (T& lane : lanes_) lane = 0;
  return sum;
}

template <typename T>
T LaneSum<T>::finish() {
  return i_ % 4096 == 0 ? total_ : wrapping_add(total_, fold());
}

template <typename T>
bool reference_reduce(std::string_view op, const T* x, int64_t outer, int64_t n, int64_t inner, T* out) {
  if (op != "sum" && op != "max" && op != "min" && op != "prod") return false;
  each_column(x, outer, n, inner, [&](const T* column, int64_t result) {
    if (op == "sum") {
      LaneSum<T> sum;
      for (int64_t i = 0; i < n; ++i) sum.add(column[i * inner]);
      out[result] = sum.finish();
    } else if (op == "prod") {
      out[result] = product(column, n, inner);
    } else {
      T best = column[0];
      for (int64_t i = 1; i < n; ++i) best = extremum(op == "max", best, column[i * inner]);
      out[result] = best;
    }
  });
  return true;
}

template <typename T>
bool reference_arg(std::string_view op, const T* x, int64_t outer, int64_t n, int64_t inner, int32_t* out) {
  if (op != "argmax" && op != "argmin") return false;
  each_column(x, outer, n, inner, [&](const T* column, int64_t result) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i) {
      if (ranks_before(op == "argmax", column[i * inner], column[best * inner])) best = i;
    }
    out[result] = static_cast<int32_t>(best);
  });
  return true;
}

template <typename T>
void reference_moments(const T* x, int64_t outer, int64_t n, int64_t inner, double eps, T* mean, T* variance, T* rstd) {
  each_column(x, outer, n, inner, [&](const T* column, int64_t result) {
    double origin = static_cast<double>(column[0]);
    if (sizeof(T) == 8) {
      LaneSum<double> sum;
      for (int64_t i = 0; i < n; ++i) sum.add(column[i * inner]);
      origin = sum.finish() / static_cast<double>(n);
    }
    LaneSum<double> sum, squares;
    for (int64_t i = 0; i < n; ++i) {
      const double d = static_cast<double>(column[i * inner]) - origin;
      sum.add(d);
      squares.add_product(d, d);
    }
    const double count = static_cast<double>(n), s1 = sizeof(T) == 8 ? 0 : sum.finish();
    double v = (squares.finish() - s1 * s1 / count) / count;
    if (v < 0) v = 0;
    mean[result] = static_cast<T>(origin + s1 / count);
    variance[result] = static_cast<T>(v);
    rstd[result] = static_cast<T>(1 / std::sqrt(v + eps));
  });
}

#define FERRULE_INSTANTIATE(T)                                                                         \
  template class LaneSum<T>;                                                                           \
  template bool reference_reduce<T>(std::string_view, const T*, int64_t, int64_t, int64_t, T*);        \
  template bool reference_arg<T>(std::string_view, const T*, int64_t, int64_t, int64_t, int32_t*);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)
FERRULE_INSTANTIATE(int32_t)
FERRULE_INSTANTIATE(int64_t)
template void reference_moments<float>(const float*, int64_t, int64_t, int64_t, double, float*, float*, float*);
template void reference_moments<double>(const double*, int64_t, int64_t, int64_t, double, double*, double*, double*);

}  // namespace ferrule::kernels
