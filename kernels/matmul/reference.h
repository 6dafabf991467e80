// Matrix product, one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_MATMUL_REFERENCE_H_
#define FERRULE_KERNELS_MATMUL_REFERENCE_H_

#include <cstdint>

namespace ferrule::kernels {

// The sum of rule (b): elements arrive in the order of k, absent ones only move the number on.
template <typename T>
class ContractionSum {
 public:
  void add(T a, T b);
  void skip();
  T finish();

 private:
  void advance();
  T acc_ = 0, total_ = 0;
  int64_t k_ = 0;
};

// out[M, N], row-major; the operands as ferrule_matmul takes them (skeletons.inc). T = float, double.
template <typename T>
void reference_matmul(const T* a, int64_t a_row_stride, int64_t a_k_stride, const T* b, int64_t b_panel_stride,
                      int64_t b_k_stride, int64_t M, int64_t N, int64_t K, T* out);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_MATMUL_REFERENCE_H_
