#include "kernels/matmul/reference.h"

#include <cmath>

namespace ferrule::kernels {

template <typename T>
void ContractionSum<T>::add(T a, T b) {
  acc_ = std::fma(a, b, acc_);
  advance();
}

template <typename T>
void ContractionSum<T>::skip() {
  advance();
}

template <typename T>
void ContractionSum<T>::advance() {
  ++k_;
  if (k_ % 4096 == 0) {
    total_ = total_ + acc_;
    acc_ = 0;
  }
}

template <typename T>
T ContractionSum<T>::finish() {
  return total_ + acc_;
}

template <typename T>
void reference_matmul(const T* a, int64_t a_row_stride, int64_t a_k_stride, const T* b, int64_t b_panel_stride,
                      int64_t b_k_stride, int64_t M, int64_t N, int64_t K, T* out) {
  for (int64_t r = 0; r < M; ++r) {
    for (int64_t c = 0; c < N; ++c) {
      ContractionSum<T> sum;
      for (int64_t k = 0; k < K; ++k) {
        sum.add(a[r * a_row_stride + k * a_k_stride], b[c / 16 * b_panel_stride + k * b_k_stride + c % 16]);
      }
      out[r * N + c] = sum.finish();
    }
  }
}

#define FERRULE_INSTANTIATE(T)                                                                                     \
  template class ContractionSum<T>;                                                                                \
  template void reference_matmul<T>(const T*, int64_t, int64_t, const T*, int64_t, int64_t, int64_t, int64_t,      \
                                    int64_t, T*);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
