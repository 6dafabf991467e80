// Sorting and searching, by comparisons: the definition of the order. kernels.inc says what the shapes are.
#ifndef FERRULE_KERNELS_SORT_REFERENCE_H_
#define FERRULE_KERNELS_SORT_REFERENCE_H_

#include <cstdint>

namespace ferrule::kernels {

template <typename T>
void reference_argsort(const T* x, int64_t outer, int64_t n, int64_t inner, int64_t k, bool descending, int32_t* y);

template <typename T>
void reference_searchsorted(const T* sorted, const T* v, int64_t outer, int64_t n, int64_t m, bool right, int32_t* y);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_SORT_REFERENCE_H_
