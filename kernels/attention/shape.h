// Sizes and strides of an attention: the table that its kernels take. Shared with the compiler, which fills it.
#ifndef FERRULE_KERNELS_ATTENTION_SHAPE_H_
#define FERRULE_KERNELS_ATTENTION_SHAPE_H_

#include <stdint.h>

namespace ferrule::kernels {

// In elements; `offset` is where the first element lies. What an axis of size 1 or a broadcast repeats has the stride 0.
struct AttentionStrides {
  int64_t offset, batch[3], row, column;
};

// Heads and samples are batch axes: three, so that keys and values may be shared by neighbouring heads (stride 0 along
// the last). q [batch, rows, width], k [batch, keys, width], v [batch, keys, columns], out [batch, rows, columns], bias
// and mask [batch, rows, keys]. The last axis of v and of out is contiguous.
struct AttentionShape {
  int64_t batch[3], rows, keys, width, columns;
  AttentionStrides q, k, v, out, bias, mask;
  // Whether the product is divided by the scale; whether the mask applies before the bias is added; whether a true
  // element of the mask takes the fill value.
  int64_t divides, masks_first, fills_true;
};

// Those of the gradient for q, k and v, from the cotangent of the result, whose strides are attention.out. The last axes of q
// and of the three results are contiguous too. Heads that share keys and values each have a gradient for them.
struct AttentionGradientShape {
  AttentionShape attention;
  AttentionStrides q_gradient, k_gradient, v_gradient;
};

inline constexpr int64_t kAttentionTableSize = sizeof(AttentionShape) / sizeof(int64_t);
inline constexpr int64_t kAttentionGradientTableSize = sizeof(AttentionGradientShape) / sizeof(int64_t);

// Rows are taken 16 at a time, one a lane, and up to three such groups make a strip.
inline constexpr int64_t kAttentionStripRows = 48;

constexpr int64_t attention_strips(int64_t rows) { return (rows + kAttentionStripRows - 1) / kAttentionStripRows; }

// The rows of a strip packed by columns, then its scores, transposed.
constexpr int64_t attention_scratch(int64_t keys, int64_t width) { return kAttentionStripRows * (keys + width); }

// The rows of a strip of q and of the cotangent, packed; scores and their gradient; then, for one head, copies of its keys and
// values, the running sums of their gradients, and a number a key.
constexpr int64_t attention_gradient_scratch(int64_t keys, int64_t width, int64_t columns) {
  return kAttentionStripRows * (width + columns + 2 * keys) + keys * (2 * (width + columns) + 1);
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ATTENTION_SHAPE_H_
