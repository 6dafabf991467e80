#include "kernels/softmax/reference.h"

#include <limits>
#include <vector>

#include "kernels/elementwise/logarithm.h"
#include "kernels/reduce/reference.h"

namespace ferrule::kernels {
namespace {

// What every function here needs of a row: its maximum, exp(x - maximum), and the sum of these.
template <typename T>
struct Row {
  Row(const T* x, int64_t n) : e(n) {
    reference_reduce("max", x, 1, n, 1, &maximum);
    for (int64_t i = 0; i < n; ++i) e[i] = exp(x[i] - maximum);
    reference_reduce("sum", e.data(), 1, n, 1, &sum);
  }
  std::vector<T> e;
  T maximum, sum;
};

}  // namespace

template <typename T>
void reference_softmax(const T* x, int64_t rows, int64_t n, T* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const Row<T> row(x + r * n, n);
    const T scale = T(1) / row.sum;
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = row.e[i] * scale;
  }
}

template <typename T>
void reference_log_softmax(const T* x, int64_t rows, int64_t n, T* y) {
  for (int64_t r = 0; r < rows; ++r) {
    const Row<T> row(x + r * n, n);
    const T log_sum = log(row.sum);
    for (int64_t i = 0; i < n; ++i) y[r * n + i] = (x[r * n + i] - row.maximum) - log_sum;
  }
}

template <typename T>
bool reference_cross_entropy_rows(const T* logits, const int32_t* labels, int64_t rows, int64_t n,
                                  std::optional<int64_t> ignore_index, double label_smooth, T* loss) {
  bool valid = true;
  for (int64_t r = 0; r < rows; ++r) {
    const T* x = logits + r * n;
    if (ignore_index && labels[r] == *ignore_index) {
      loss[r] = 0;
      continue;
    }
    if (labels[r] < 0 || labels[r] >= n) {
      loss[r] = std::numeric_limits<T>::quiet_NaN();
      valid = false;
      continue;
    }
    const Row<T> row(x, n);
    const T at_label = x[labels[r]] - row.maximum, log_sum = log(row.sum);
    if (label_smooth == 0) {
      loss[r] = log_sum - at_label;
      continue;
    }
    LaneSum<T> sum;
    for (int64_t i = 0; i < n; ++i) sum.add(x[i] - row.maximum);
    const T mean = sum.finish() / static_cast<T>(n);
    loss[r] = (log_sum - static_cast<T>(label_smooth) * mean) - static_cast<T>(1 - label_smooth) * at_label;
  }
  return valid;
}

template <typename T>
void reference_cross_entropy_rows_gradient(const T* logits, const int32_t* labels, const T* g, int64_t rows, int64_t n,
                                           std::optional<int64_t> ignore_index, double label_smooth, T* out) {
  for (int64_t r = 0; r < rows; ++r) {
    const bool counted = !(ignore_index && labels[r] == *ignore_index) && labels[r] >= 0 && labels[r] < n;
    const Row<T> row(logits + r * n, n);
    const T scale = T(1) / row.sum;
    const T off = label_smooth == 0 ? T(0) : static_cast<T>(label_smooth) / static_cast<T>(n);
    const T on = label_smooth == 0 ? T(1) : static_cast<T>(1 - label_smooth) + off;
    for (int64_t i = 0; i < n; ++i) {
      out[r * n + i] = counted ? (row.e[i] * scale - (i == labels[r] ? on : off)) * g[r] : T(0);
    }
  }
}

#define FERRULE_INSTANTIATE(T)                                                                                      \
  template void reference_softmax<T>(const T*, int64_t, int64_t, T*);                                               \
  template void reference_log_softmax<T>(const T*, int64_t, int64_t, T*);                                           \
  template bool reference_cross_entropy_rows<T>(const T*, const int32_t*, int64_t, int64_t, std::optional<int64_t>, \
                                                double, T*);                                                        \
  template void reference_cross_entropy_rows_gradient<T>(const T*, const int32_t*, const T*, int64_t, int64_t,      \
                                                         std::optional<int64_t>, double, T*);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
