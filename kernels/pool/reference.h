// Pooling and its gradients, one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_POOL_REFERENCE_H_
#define FERRULE_KERNELS_POOL_REFERENCE_H_

#include "kernels/conv/shape.h"

namespace ferrule::kernels {

// Images are channels-last; out_c = in_c, groups = 1; stride 0 is an axis with adaptive windows. T = float, double.
template <typename T>
void reference_max_pool(const T* x, const ConvShape& shape, T* y);
template <typename T>
void reference_max_pool_gradient(const T* x, const T* dy, const ConvShape& shape, T* dx);
template <typename T>
void reference_max_pool_select(const T* x, const T* v, const ConvShape& shape, T* y);
template <typename T>
void reference_avg_pool(const T* x, const ConvShape& shape, bool count_include_pad, T* y);
template <typename T>
void reference_avg_pool_gradient(const T* dy, const ConvShape& shape, bool count_include_pad, T* dx);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_POOL_REFERENCE_H_
