#include "kernels/attention/reference.h"

#include <vector>

#include "kernels/matmul/reference.h"
#include "kernels/softmax/reference.h"

namespace ferrule::kernels {

template <typename T>
void reference_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                         const AttentionShape& shape, T scale, T fill) {
  std::vector<T> scores(shape.keys), weights(shape.keys);
  for (int64_t sample = 0; sample < shape.samples; ++sample) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t kv_head = head / (shape.heads / shape.kv_heads);
      const auto at = [&](const AttentionStrides& s, int64_t its_head, int64_t row, int64_t column) {
        return sample * s.sample + its_head * s.head + row * s.row + column * s.column;
      };
      for (int64_t row = 0; row < shape.rows; ++row) {
        for (int64_t key = 0; key < shape.keys; ++key) {
          ContractionSum<T> product;
          for (int64_t d = 0; d < shape.width; ++d) product.add(q[at(shape.q, head, row, d)], k[at(shape.k, kv_head, key, d)]);
          T score = shape.divides ? product.finish() / scale : product.finish() * scale;
          const auto choose = [&] {
            if (mask && (mask[at(shape.mask, head, row, key)] != 0) == (shape.fills_true != 0)) score = fill;
          };
          if (shape.masks_first) choose();
          if (bias) score = score + bias[at(shape.bias, head, row, key)];
          if (!shape.masks_first) choose();
          scores[key] = score;
        }
        reference_softmax(scores.data(), 1, shape.keys, weights.data());
        for (int64_t column = 0; column < shape.columns; ++column) {
          ContractionSum<T> sum;
          for (int64_t key = 0; key < shape.keys; ++key) sum.add(weights[key], v[at(shape.v, kv_head, key, column)]);
          out[at(shape.out, head, row, column)] = sum.finish();
        }
      }
    }
  }
}

template void reference_attention<float>(float*, const float*, const float*, const float*, const float*,
                                         const uint8_t*, const AttentionShape&, float, float);
template void reference_attention<double>(double*, const double*, const double*, const double*, const double*,
                                          const uint8_t*, const AttentionShape&, double, double);

}  // namespace ferrule::kernels
