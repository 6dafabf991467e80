// Shapes and layouts for the tests of attention and of its gradient.
#ifndef FERRULE_KERNELS_ATTENTION_CASES_H_
#define FERRULE_KERNELS_ATTENTION_CASES_H_

#include <ostream>

#include "kernels/attention/shape.h"
#include "kernels/testing/random_data.h"

namespace ferrule::kernels {

struct Case {
  int64_t samples, heads, kv_heads, rows, keys, width, columns;
  bool bias, mask;
  bool heads_inside;  // [samples, rows, heads, width] in memory instead of [samples, heads, rows, width]
  bool keys_inside;   // k is [samples, kv_heads, width, keys] in memory
  int broadcast;      // bit i: axis i of bias and mask has size 1
  bool divides, masks_first, fills_true;
  bool absent;  // With a mask its keys are absent; without, those after the row.
  int special;  // 1: now and then -0, infinities, NaN in q, k, v and bias; 2: the bias is -infinity in half its places
};

// Of [samples, kv_heads, heads / kv_heads, rows, columns], where keys and values have one head in the third axis.
inline AttentionStrides strides_of(const Case& c, bool shared, int64_t rows, int64_t columns) {
  const int64_t group = c.heads / c.kv_heads, heads = shared ? c.kv_heads : c.heads;
  const int64_t head = c.heads_inside ? columns : rows * columns, row = c.heads_inside ? heads * columns : columns;
  return {0, {heads * rows * columns, shared ? head : group * head, shared ? 0 : head}, row, 1};
}

inline AttentionStrides broadcast_strides(const Case& c) {
  AttentionStrides s{};
  int64_t size = 1;
  if (!(c.broadcast & 8)) s.column = size, size *= c.keys;
  if (!(c.broadcast & 4)) s.row = size, size *= c.rows;
  if (!(c.broadcast & 2)) s.batch[2] = size, s.batch[1] = size * (c.heads / c.kv_heads), size *= c.heads;
  if (!(c.broadcast & 1)) s.batch[0] = size;
  return s;
}

inline AttentionShape shape_of(const Case& c) {
  AttentionShape s{};
  s.batch[0] = c.samples, s.batch[1] = c.kv_heads, s.batch[2] = c.heads / c.kv_heads;
  s.rows = c.rows, s.keys = c.keys, s.width = c.width, s.columns = c.columns;
  s.q = strides_of(c, false, c.rows, c.width);
  s.k = strides_of(c, true, c.keys, c.width);
  if (c.keys_inside) s.k = {0, {c.kv_heads * c.width * c.keys, c.width * c.keys, 0}, 1, c.keys};
  s.v = strides_of(c, true, c.keys, c.columns);
  s.out = strides_of(c, false, c.rows, c.columns);
  s.bias = s.mask = broadcast_strides(c);
  s.divides = c.divides, s.masks_first = c.masks_first, s.fills_true = c.fills_true;
  return s;
}

inline Case random_case(Random& random, int64_t max_rows = 110) {
  Case c{};
  c.kv_heads = random.between(1, 2);
  c.heads = c.kv_heads * random.between(1, 3);
  c.samples = random.between(1, 2);
  c.rows = random.between(1, max_rows);
  c.keys = random.between(1, 70);
  c.width = random.between(1, 40);
  c.columns = random.between(1, 70);
  c.bias = random.between(0, 1) == 0;
  c.mask = random.between(0, 1) == 0;
  c.heads_inside = random.between(0, 1) == 0;
  c.keys_inside = random.between(0, 2) == 0;
  c.broadcast = static_cast<int>(random.between(0, 15));
  c.divides = random.between(0, 1) == 0;
  c.masks_first = random.between(0, 1) == 0;
  c.fills_true = random.between(0, 1) == 0;
  c.absent = random.between(0, 1) == 0 && (c.mask || !c.bias);
  if (c.absent) c.fills_true = false;
  c.special = static_cast<int>(random.between(0, 2));
  return c;
}

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.samples << " x " << c.heads << "/" << c.kv_heads << " heads, rows " << c.rows << ", keys " << c.keys
             << ", width " << c.width << ", columns " << c.columns << (c.bias ? ", bias" : "") << (c.mask ? ", mask" : "")
             << (c.absent ? ", absent" : "");
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ATTENTION_CASES_H_
