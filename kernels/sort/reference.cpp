#include "kernels/sort/reference.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ferrule::kernels {
namespace {

// a < b where NaN is the largest.
template <typename T>
bool precedes(T a, T b) {
  if (b != b) return a == a;
  return a < b;
}

}  // namespace

template <typename T>
void reference_argsort(const T* x, int64_t outer, int64_t n, int64_t inner, int64_t k, bool descending, int32_t* y) {
  std::vector<int32_t> order(n);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = 0; c < inner; ++c) {
      const auto at = [&](int32_t i) { return x[(o * n + i) * inner + c]; };
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
        return descending ? precedes(at(b), at(a)) : precedes(at(a), at(b));
      });
      for (int64_t i = 0; i < k; ++i) y[(o * k + i) * inner + c] = order[i];
    }
  }
}

template <typename T>
void reference_searchsorted(const T* sorted, const T* v, int64_t outer, int64_t n, int64_t m, bool right, int32_t* y) {
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t j = 0; j < m; ++j) {
      const T value = v[o * m + j];
      int32_t count = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T element = sorted[o * n + i];
        count += right ? !precedes(value, element) : precedes(element, value);
      }
      y[o * m + j] = count;
    }
  }
}

#define FERRULE_INSTANCES(T)                                                                              \
  template void reference_argsort(const T*, int64_t, int64_t, int64_t, int64_t, bool, int32_t*);          \
  template void reference_searchsorted(const T*, const T*, int64_t, int64_t, int64_t, bool, int32_t*);
FERRULE_INSTANCES(float)
FERRULE_INSTANCES(double)
FERRULE_INSTANCES(int32_t)
FERRULE_INSTANCES(int64_t)
#undef FERRULE_INSTANCES

}  // namespace ferrule::kernels
