// Callbacks over plain row-major arrays, as the simplest generated code would be.
#ifndef FERRULE_KERNELS_TESTING_MATRIX_STORE_H_
#define FERRULE_KERNELS_TESTING_MATRIX_STORE_H_

#include <cstdint>
#include <cstring>

namespace ferrule::kernels {

// ctx of store_matrix: rows of `columns` elements.
template <typename T>
struct Matrix {
  T* data;
  int64_t columns;
};

template <typename T>
void store_matrix(void* ctx, int64_t row, int64_t col, int64_t count, const void* in) {
  const auto* matrix = static_cast<const Matrix<T>*>(ctx);
  std::memcpy(matrix->data + row * matrix->columns + col, in, count * sizeof(T));
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_MATRIX_STORE_H_
