// Attention as the ops that it stands for, one element at a time: the definition of the bits.
#ifndef FERRULE_KERNELS_ATTENTION_REFERENCE_H_
#define FERRULE_KERNELS_ATTENTION_REFERENCE_H_

#include <cstdint>

#include "kernels/attention/shape.h"

namespace ferrule::kernels {

// The arguments of ferrule_attention, _bias, _mask and _mask_bias (kernels.inc); bias and mask may be null. T = float,
// double.
template <typename T>
void reference_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                         const AttentionShape& shape, T scale, T fill);

// Those of _present, _present_bias and, without a mask, _causal.
template <typename T>
void reference_masked_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                                const AttentionShape& shape, T scale);

// The gradients for q, k and v, given that of the result, g: the arguments of ferrule_attention_gradient, _bias, _mask and
// _mask_bias; then those of _present, _present_bias and, without a mask, _causal.
template <typename T>
void reference_attention_gradient(T* q_gradient, T* k_gradient, T* v_gradient, const T* q, const T* k, const T* v,
                                  const T* g, const T* bias, const uint8_t* mask, const AttentionGradientShape& shape,
                                  T scale, T fill);
template <typename T>
void reference_masked_attention_gradient(T* q_gradient, T* k_gradient, T* v_gradient, const T* q, const T* k,
                                         const T* v, const T* g, const T* bias, const uint8_t* mask,
                                         const AttentionGradientShape& shape, T scale);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ATTENTION_REFERENCE_H_
