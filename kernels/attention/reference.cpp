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

int64_t batches_of(const AttentionShape& shape) { return shape.batch[0] * shape.batch[1] * shape.batch[2]; }

template <typename Row>
void for_rows(const AttentionShape& shape, Row row) {
  for (int64_t batch = 0; batch < batches_of(shape); ++batch) {
    for (int64_t i = 0; i < shape.rows; ++i) row(batch, i);
  }
}

template <typename T>
bool is_finite(T x) {
  return x - x == 0;
}
template <typename T>
T finite(T x) {
  return is_finite(x) ? x : T(0);
}

// What a row computes of its keys, before weights.
template <typename T>
struct Operands {
  const T *q, *k, *bias;
  const uint8_t* mask;
  const AttentionShape& shape;
  T scale, fill;
  int64_t batch;
  int64_t at(const AttentionStrides& strides, int64_t row, int64_t column) const {
    return element(shape, strides, batch, row, column);
  }
};

template <typename T>
std::vector<T> scores_of(const Operands<T>& o, int64_t row) {
  const AttentionShape& shape = o.shape;
  std::vector<T> scores(shape.keys);
  for (int64_t key = 0; key < shape.keys; ++key) {
    ContractionSum<T> product;
    for (int64_t d = 0; d < shape.width; ++d) product.add(o.q[o.at(shape.q, row, d)], o.k[o.at(shape.k, key, d)]);
    T score = shape.divides ? product.finish() / o.scale : product.finish() * o.scale;
    const auto choose = [&] {
      if (o.mask && (o.mask[o.at(shape.mask, row, key)] != 0) == (shape.fills_true != 0)) score = o.fill;
    };
    if (shape.masks_first) choose();
    if (o.bias) score = score + o.bias[o.at(shape.bias, row, key)];
    if (!shape.masks_first) choose();
    scores[key] = score;
  }
  return scores;
}

// The scores where keys can be absent: NaN for a key that is not finite.
template <typename T>
std::vector<T> masked_scores_of(const Operands<T>& o, int64_t row) {
  const AttentionShape& shape = o.shape;
  std::vector<T> scores(shape.keys);
  for (int64_t key = 0; key < shape.keys; ++key) {
    ContractionSum<T> product;
    T broken = 0;
    for (int64_t d = 0; d < shape.width; ++d) {
      const T x = o.k[o.at(shape.k, key, d)];
      product.add(o.q[o.at(shape.q, row, d)], finite(x));
      if (!is_finite(x)) broken = std::numeric_limits<T>::quiet_NaN();
    }
    scores[key] = (shape.divides ? product.finish() / o.scale : product.finish() * o.scale) + broken;
    if (o.bias) scores[key] = scores[key] + o.bias[o.at(shape.bias, row, key)];
  }
  return scores;
}

template <typename T>
bool is_present(const Operands<T>& o, int64_t row, int64_t key) {
  return o.mask ? o.mask[o.at(o.shape.mask, row, key)] != 0 : key <= row;
}

// exp(score - maximum) of present keys, 0 of the others; their sum, and its reciprocal or 0.
template <typename T>
struct Powers {
  std::vector<T> values;
  T total, reciprocal;
};

template <typename T>
Powers<T> powers_of(const Operands<T>& o, int64_t row) {
  const T infinity = std::numeric_limits<T>::infinity();
  const std::vector<T> scores = masked_scores_of(o, row);
  const int64_t keys = static_cast<int64_t>(scores.size());
  std::vector<T> seen(scores);
  Powers<T> powers{std::vector<T>(keys), 0, 0};
  for (int64_t key = 0; key < keys; ++key) {
    if (!is_present(o, row, key)) seen[key] = -infinity;
  }
  T top;
  reference_reduce("max", seen.data(), 1, keys, 1, &top);
  if (top == -infinity) top = 0;
  for (int64_t key = 0; key < keys; ++key) powers.values[key] = is_present(o, row, key) ? exp(scores[key] - top) : T(0);
  reference_reduce("sum", powers.values.data(), 1, keys, 1, &powers.total);
  powers.reciprocal = powers.total == 0 ? T(0) : T(1) / powers.total;
  return powers;
}

// g[row, :] times v[key, :] of all keys.
template <typename T, typename Value>
std::vector<T> weight_gradients(const Operands<T>& o, const T* g, int64_t row, Value value) {
  std::vector<T> gradients(o.shape.keys);
  for (int64_t key = 0; key < o.shape.keys; ++key) {
    ContractionSum<T> product;
    for (int64_t c = 0; c < o.shape.columns; ++c) product.add(g[o.at(o.shape.out, row, c)], value(key, c));
    gradients[key] = product.finish();
  }
  return gradients;
}

// The three products at the end, of one batch: weights and slopes are [rows, keys], `k` gives the elements of the keys.
template <typename T, typename Key>
void finish_gradient(const Operands<T>& o, const AttentionGradientShape& shape, const T* g, const std::vector<T>& weights,
                     const std::vector<T>& slopes, Key k, T* q_gradient, T* k_gradient, T* v_gradient) {
  const int64_t rows = o.shape.rows, keys = o.shape.keys;
  for (int64_t d = 0; d < o.shape.width; ++d) {
    for (int64_t row = 0; row < rows; ++row) {
      ContractionSum<T> sum;
      for (int64_t key = 0; key < keys; ++key) sum.add(slopes[row * keys + key], k(key, d));
      q_gradient[o.at(shape.q_gradient, row, d)] = sum.finish();
    }
    for (int64_t key = 0; key < keys; ++key) {
      ContractionSum<T> sum;
      for (int64_t row = 0; row < rows; ++row) sum.add(slopes[row * keys + key], o.q[o.at(o.shape.q, row, d)]);
      k_gradient[o.at(shape.k_gradient, key, d)] = sum.finish();
    }
  }
  for (int64_t key = 0; key < keys; ++key) {
    for (int64_t c = 0; c < o.shape.columns; ++c) {
      ContractionSum<T> sum;
      for (int64_t row = 0; row < rows; ++row) sum.add(weights[row * keys + key], g[o.at(o.shape.out, row, c)]);
      v_gradient[o.at(shape.v_gradient, key, c)] = sum.finish();
    }
  }
}

}  // namespace

template <typename T>
void reference_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                         const AttentionShape& shape, T scale, T fill) {
  std::vector<T> weights(shape.keys);
  for_rows(shape, [&](int64_t batch, int64_t row) {
    const Operands<T> o{q, k, bias, mask, shape, scale, fill, batch};
    reference_softmax(scores_of(o, row).data(), 1, shape.keys, weights.data());
    for (int64_t column = 0; column < shape.columns; ++column) {
      ContractionSum<T> sum;
      for (int64_t key = 0; key < shape.keys; ++key) sum.add(weights[key], v[o.at(shape.v, key, column)]);
      out[o.at(shape.out, row, column)] = sum.finish();
    }
  });
}

template <typename T>
void reference_masked_attention(T* out, const T* q, const T* k, const T* v, const T* bias, const uint8_t* mask,
                                const AttentionShape& shape, T scale) {
  for_rows(shape, [&](int64_t batch, int64_t row) {
    const Operands<T> o{q, k, bias, mask, shape, scale, T(0), batch};
    const Powers<T> powers = powers_of(o, row);
    for (int64_t column = 0; column < shape.columns; ++column) {
      ContractionSum<T> sum;
      T broken = 0;
      for (int64_t key = 0; key < shape.keys; ++key) {
        const T x = v[o.at(shape.v, key, column)];
        sum.add(powers.values[key] * powers.reciprocal, finite(x));
        if (is_present(o, row, key) && !is_finite(x)) broken = std::numeric_limits<T>::quiet_NaN();
      }
      out[o.at(shape.out, row, column)] = sum.finish() + broken;
    }
  });
}

template <typename T>
void reference_attention_gradient(T* q_gradient, T* k_gradient, T* v_gradient, const T* q, const T* k, const T* v,
                                  const T* g, const T* bias, const uint8_t* mask, const AttentionGradientShape& shape,
                                  T scale, T fill) {
  const AttentionShape& its = shape.attention;
  std::vector<T> weights(its.rows * its.keys), slopes(weights.size()), products(its.keys);
  for (int64_t batch = 0; batch < batches_of(its); ++batch) {
    const Operands<T> o{q, k, bias, mask, its, scale, fill, batch};
    for (int64_t row = 0; row < its.rows; ++row) {
      T *y = weights.data() + row * its.keys, *slope = slopes.data() + row * its.keys, total;
      reference_softmax(scores_of(o, row).data(), 1, its.keys, y);
      const std::vector<T> dy =
          weight_gradients(o, g, row, [&](int64_t key, int64_t c) { return v[o.at(its.v, key, c)]; });
      for (int64_t key = 0; key < its.keys; ++key) products[key] = dy[key] * y[key];
      reference_reduce("sum", products.data(), 1, its.keys, 1, &total);
      for (int64_t key = 0; key < its.keys; ++key) {
        const bool filled = mask && (mask[o.at(its.mask, row, key)] != 0) == (its.fills_true != 0);
        const T ds = filled ? T(0) : y[key] * (dy[key] - total);
        slope[key] = its.divides ? ds / scale : ds * scale;
      }
    }
    finish_gradient(o, shape, g, weights, slopes, [&](int64_t key, int64_t d) { return k[o.at(its.k, key, d)]; },
                    q_gradient, k_gradient, v_gradient);
  }
}

template <typename T>
void reference_masked_attention_gradient(T* q_gradient, T* k_gradient, T* v_gradient, const T* q, const T* k,
                                         const T* v, const T* g, const T* bias, const uint8_t* mask,
                                         const AttentionGradientShape& shape, T scale) {
  const AttentionShape& its = shape.attention;
  std::vector<T> weights(its.rows * its.keys), slopes(weights.size()), products(its.keys);
  for (int64_t batch = 0; batch < batches_of(its); ++batch) {
    const Operands<T> o{q, k, bias, mask, its, scale, T(0), batch};
    for (int64_t row = 0; row < its.rows; ++row) {
      const Powers<T> powers = powers_of(o, row);
      const std::vector<T> dy =
          weight_gradients(o, g, row, [&](int64_t key, int64_t c) { return finite(v[o.at(its.v, key, c)]); });
      for (int64_t key = 0; key < its.keys; ++key) products[key] = dy[key] * powers.values[key];
      T product;
      reference_reduce("sum", products.data(), 1, its.keys, 1, &product);
      const T shift = powers.total == 0 ? T(0) : -(product * (powers.reciprocal / powers.total));
      for (int64_t key = 0; key < its.keys; ++key) {
        const T ds = (dy[key] * powers.reciprocal + shift) * powers.values[key];
        const T shown = is_present(o, row, key) ? ds : T(0);
        slopes[row * its.keys + key] = its.divides ? shown / scale : shown * scale;
        weights[row * its.keys + key] = powers.values[key] * powers.reciprocal;
      }
    }
    finish_gradient(o, shape, g, weights, slopes, [&](int64_t key, int64_t d) { return finite(k[o.at(its.k, key, d)]); },
                    q_gradient, k_gradient, v_gradient);
  }
}

#define FERRULE_INSTANTIATE(T)                                                                                      \
  template void reference_attention<T>(T*, const T*, const T*, const T*, const T*, const uint8_t*,                  \
                                       const AttentionShape&, T, T);                                               \
  template void reference_masked_attention<T>(T*, const T*, const T*, const T*, const T*, const uint8_t*,           \
                                              const AttentionShape&, T);                                           \
  template void reference_attention_gradient<T>(T*, T*, T*, const T*, const T*, const T*, const T*, const T*,       \
                                                const uint8_t*, const AttentionGradientShape&, T, T);              \
  template void reference_masked_attention_gradient<T>(T*, T*, T*, const T*, const T*, const T*, const T*,          \
                                                       const T*, const uint8_t*, const AttentionGradientShape&, T);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
