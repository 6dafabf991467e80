// Callbacks over plain row-major arrays, as the simplest generated code would be.
#ifndef FERRULE_KERNELS_TESTING_MATRIX_STORE_H_
#define FERRULE_KERNELS_TESTING_MATRIX_STORE_H_

#include <cstdint>
#include <cstring>

namespace ferrule::kernels {

// ctx of store_matrix and fetch_matrix: rows of `columns` elements.
template <typename T>
struct Matrix {
  T* data;
  int64_t columns;
  // How often each element was named by fetch_matrix.
  uint8_t* asked = nullptr;
};

template <typename T>
void store_matrix(void* ctx, int64_t row, int64_t col, int64_t count, const void* in) {
  const auto* matrix = static_cast<const Matrix<T>*>(ctx);
  std::memcpy(matrix->data + row * matrix->columns + col, in, count * sizeof(T));
}

template <typename T>
void fetch_matrix(void* ctx, int64_t row, int64_t col) {
  const auto* matrix = static_cast<const Matrix<T>*>(ctx);
  ++matrix->asked[row * matrix->columns + col];
}

// ctx of load_tensor and store_results: a tensor [outer, n, inner] to reduce, results [outer, inner], `results` of them.
template <typename T, typename Out = T>
struct Reduction {
  const T* data;
  int64_t n, inner;
  Out* out[4];
  int results;
};

// Input j of a load is the element plus j, so that several sums in one pass differ.
template <typename T, typename Out = T, int INPUTS = 1>
void load_tensor(void* ctx, int64_t outer, int64_t i, int64_t col, int64_t count, void* out) {
  const auto* r = static_cast<const Reduction<T, Out>*>(ctx);
  T* lanes = static_cast<T*>(out);
  for (int j = 0; j < INPUTS; ++j) {
    for (int64_t lane = 0; lane < 16; ++lane) {
      // Along rows (inner = 1) lanes are elements, along columns they are columns.
      const int64_t at = r->inner == 1 ? outer * r->n + i + lane : (outer * r->n + i) * r->inner + col + lane;
      lanes[j * 16 + lane] = lane >= count ? T(0) : j == 0 ? r->data[at] : static_cast<T>(r->data[at] + static_cast<T>(j));
    }
  }
}

template <typename T, typename Out = T>
void store_results(void* ctx, int64_t row, int64_t col, int64_t count, const void* in) {
  const auto* r = static_cast<const Reduction<T, Out>*>(ctx);
  for (int j = 0; j < r->results; ++j) {
    std::memcpy(r->out[j] + row * r->inner + col, static_cast<const Out*>(in) + j * 16, count * sizeof(Out));
  }
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_MATRIX_STORE_H_
