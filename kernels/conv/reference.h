// Convolution and its gradients, one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_CONV_REFERENCE_H_
#define FERRULE_KERNELS_CONV_REFERENCE_H_

#include "kernels/conv/shape.h"

namespace ferrule::kernels {

// Layouts as skeletons.inc states them: images channels-last, weights in panels of 16 columns. T = float, double.

// y [batch, out_d, out_h, out_w, out_c] from x and weights [g][out_c/g/16][kd][kh][kw][in_c/g][16].
template <typename T>
void reference_conv(const T* x, const T* weights, const ConvShape& shape, T* y);

// dx [batch, in_d, in_h, in_w, in_c] from dy and transposed weights [g][in_c/g/16][kd][kh][kw][out_c/g][16].
template <typename T>
void reference_conv_input_gradient(const T* dy, const T* weights, const ConvShape& shape, T* dx);

// dw [g][out_c/g/16][kd][kh][kw][in_c/g][16] from x and dy, padding lanes +0.
template <typename T>
void reference_conv_weight_gradient(const T* x, const T* dy, const ConvShape& shape, T* dw);

// [g][n/16][taps][k][16] -> [g][k/16][taps][n][16], padding lanes +0.
template <typename T>
void reference_transpose_panels(const T* src, T* dst, int64_t groups, int64_t n, int64_t taps, int64_t k);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_CONV_REFERENCE_H_
