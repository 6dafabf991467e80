// Softmax and cross entropy by rows, one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_SOFTMAX_REFERENCE_H_
#define FERRULE_KERNELS_SOFTMAX_REFERENCE_H_

#include <cstdint>
#include <optional>

namespace ferrule::kernels {

// y [rows, n] from x [rows, n]; T = float, double.
template <typename T>
void reference_softmax(const T* x, int64_t rows, int64_t n, T* y);
template <typename T>
void reference_log_softmax(const T* x, int64_t rows, int64_t n, T* y);

// loss [rows]; false if a label that is not ignored lies outside [0, n): its loss is NaN.
template <typename T>
bool reference_cross_entropy_rows(const T* logits, const int32_t* labels, int64_t rows, int64_t n,
                                  std::optional<int64_t> ignore_index, double label_smooth, T* loss);

// out [rows, n]; ignored rows, and rows with a label outside [0, n), are +0.
template <typename T>
void reference_cross_entropy_rows_gradient(const T* logits, const int32_t* labels, const T* g, int64_t rows, int64_t n,
                                           std::optional<int64_t> ignore_index, double label_smooth, T* out);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_SOFTMAX_REFERENCE_H_
