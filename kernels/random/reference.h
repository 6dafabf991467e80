// Random numbers, one element at a time. kernels.inc says which words make an element.
#ifndef FERRULE_KERNELS_RANDOM_REFERENCE_H_
#define FERRULE_KERNELS_RANDOM_REFERENCE_H_

#include <array>
#include <cstdint>

namespace ferrule::kernels {

std::array<uint32_t, 4> reference_philox(const std::array<uint32_t, 4>& counter, uint32_t key0, uint32_t key1);

// T = int32_t, int64_t.
template <typename T>
void reference_random_bits(const int64_t* state, int64_t total, T* y);
// T = float, double.
template <typename T>
void reference_random_uniform(const int64_t* state, int64_t total, T* y);
template <typename T>
void reference_random_normal(const int64_t* state, int64_t total, T* y);
template <typename T>
void reference_random_gamma(const int64_t* state, const T* shape, int64_t total, T* y);
template <typename T>
void reference_random_poisson(const int64_t* state, const T* mean, int64_t total, T* y);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_RANDOM_REFERENCE_H_
