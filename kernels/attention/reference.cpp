#include "kernels/attention/reference.h"

#include <limits>
#include <vector>

#include "kernels/elementwise/exponential.h"
#include "kernels/matmul/reference.h"
#include "kernels/reduce/reference.h"
#include "kernels/softmax/reference.h"

namespace ferrule::kernels {
namespace {

// Where element (row, column) of a batch lies.
int64_t element(const AttentionShape& shape, const AttentionStrides& s, int64_t batch, int64_t row, int64_t column) {
  const int64_t i = batch / shape.batch[2] / shape.batch[1], j = batch / shape.batch[2] % shape.batch[1];
  return s.offset + i * s.batch[0] + j * s.batch[1] + batch % shape.batch[2] * s.batch[2] + row * s.row +
         column * s.column;
}

template <typename Row>
void for_rows(const AttentionShape& shape, Row row) {
  for (int64_t batch = 0; batch < shape.batch[0] * shape.batch[1] * shape.batch[2]; ++batch) {
    for (int64_t i = 0; i < shape.rows; ++i) row(batch, i);
  }
}

template <typename T>
bool is_finite(T x) {
  return x - x == 0;
}

// The weights of a row's keys from their scores, of which those not in `present` are absent.
template <typename T>
std::vector<T> masked_weights(const std::vector<T>& scores, const std::vector<bool>& present) {
  const T infinity = std::numeric_limits<T>::infinity();
  const int64_t keys = static_cast<int64_t>(scores.size());
  std::vector<T> seen(scores), powers(keys);
  for (int64_t key = 0; key < keys; ++key) {
    if (!present[key]) seen[key] = -infinity;
  }
  T top, total;
  reference_reduce("max", seen.data(), 1, keys, 1, &top);
  if (top == -infinity) top = 0;
  for (int64_t key = 0; key < keys; ++key) powers[key] = present[key] ? exp(scores[key] - top) : T(0);
  reference_reduce("sum", powers.data(), 1, keys, 1, &total);
  const T reciprocal = total == 0 ? T(0) : T(1) / total;
  for (T& power : powers) power = power * reciprocal;
  return powers;
}

}  // namespace

template <typename T>
void reference_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                         const AttentionShape& shape, T scale, T fill) {
  std::vector<T> scores(shape.keys), weights(shape.keys);
  for_rows(shape, [&](int64_t batch, int64_t row) {
    const auto at = [&](const AttentionStrides& s, int64_t r, int64_t c) { return element(shape, s, batch, r, c); };
    for (int64_t key = 0; key < shape.keys; ++key) {
      ContractionSum<T> product;
      for (int64_t d = 0; d < shape.width; ++d) product.add(q[at(shape.q, row, d)], k[at(shape.k, key, d)]);
      T score = shape.divides ? product.finish() / scale : product.finish() * scale;
      const auto choose = [&] {
        if (mask && (mask[at(shape.mask, row, key)] != 0) == (shape.fills_true != 0)) score = fill;
      };
      if (shape.masks_first) choose();
      if (bias) score = score + bias[at(shape.bias, row, key)];
      if (!shape.masks_first) choose();
      scores[key] = score;
    }
    reference_softmax(scores.data(), 1, shape.keys, weights.data());
    for (int64_t column = 0; column < shape.columns; ++column) {
      ContractionSum<T> sum;
      for (int64_t key = 0; key < shape.keys; ++key) sum.add(weights[key], v[at(shape.v, key, column)]);
      out[at(shape.out, row, column)] = sum.finish();
    }
  });
}

template <typename T>
void reference_masked_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                                const AttentionShape& shape, T scale) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  std::vector<T> scores(shape.keys);
  std::vector<bool> present(shape.keys);
  for_rows(shape, [&](int64_t batch, int64_t row) {
    const auto at = [&](const AttentionStrides& s, int64_t r, int64_t c) { return element(shape, s, batch, r, c); };
    for (int64_t key = 0; key < shape.keys; ++key) {
      ContractionSum<T> product;
      T broken = 0;
      for (int64_t d = 0; d < shape.width; ++d) {
        const T x = k[at(shape.k, key, d)];
        product.add(q[at(shape.q, row, d)], is_finite(x) ? x : T(0));
        if (!is_finite(x)) broken = nan;
      }
      scores[key] = (shape.divides ? product.finish() / scale : product.finish() * scale) + broken;
      if (bias) scores[key] = scores[key] + bias[at(shape.bias, row, key)];
      present[key] = mask ? mask[at(shape.mask, row, key)] != 0 : key <= row;
    }
    const std::vector<T> weights = masked_weights(scores, present);
    for (int64_t column = 0; column < shape.columns; ++column) {
      ContractionSum<T> sum;
      T broken = 0;
      for (int64_t key = 0; key < shape.keys; ++key) {
        const T x = v[at(shape.v, key, column)];
        sum.add(weights[key], is_finite(x) ? x : T(0));
        if (present[key] && !is_finite(x)) broken = nan;
      }
      out[at(shape.out, row, column)] = sum.finish() + broken;
    }
  });
}

#define FERRULE_INSTANTIATE(T)                                                                                      \
  template void reference_attention<T>(T*, const T*, const T*, const T*, const T*, const uint8_t*,                  \
                                       const AttentionShape&, T, T);                                               \
  template void reference_masked_attention<T>(T*, const T*, const T*, const T*, const T*, const uint8_t*,           \
                                              const AttentionShape&, T);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
