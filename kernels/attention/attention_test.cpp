// Attention against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/attention/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct Kernels {
  void (*plain)(T*, const T*, const T*, const T*, const int64_t*, double, double, int64_t, int64_t, void*);
  void (*bias)(T*, const T*, const T*, const T*, const T*, const int64_t*, double, double, int64_t, int64_t, void*);
  void (*mask)(T*, const T*, const T*, const T*, const void*, const int64_t*, double, double, int64_t, int64_t, void*);
  void (*mask_bias)(T*, const T*, const T*, const T*, const void*, const T*, const int64_t*, double, double, int64_t,
                    int64_t, void*);
};
#define FERRULE_KERNELS_OF(S) \
  {t.ferrule_attention_##S, t.ferrule_attention_bias_##S, t.ferrule_attention_mask_##S, t.ferrule_attention_mask_bias_##S}
Kernels<float> kernels_of(const SkeletonTable& t, float) { return FERRULE_KERNELS_OF(f32); }
Kernels<double> kernels_of(const SkeletonTable& t, double) { return FERRULE_KERNELS_OF(f64); }
#undef FERRULE_KERNELS_OF

struct Case {
  int64_t samples, heads, kv_heads, rows, keys, width, columns;
  bool bias, mask;
  bool heads_inside;  // [samples, rows, heads, width] in memory instead of [samples, heads, rows, width]
  bool keys_inside;   // k is [samples, kv_heads, width, keys] in memory
  int broadcast;      // bit i: axis i of bias and mask has size 1
  bool divides, masks_first, fills_true;
  int special;  // 1: now and then -0, infinities, NaN in q, k, v and bias; 2: the bias is -infinity in half its places
};

AttentionStrides strides_of(int64_t heads, int64_t rows, int64_t columns, bool heads_inside) {
  if (heads_inside) return {heads * rows * columns, columns, heads * columns, 1};
  return {heads * rows * columns, rows * columns, columns, 1};
}

AttentionStrides broadcast_strides(const Case& c) {
  AttentionStrides s{};
  int64_t size = 1;
  if (!(c.broadcast & 8)) s.column = size, size *= c.keys;
  if (!(c.broadcast & 4)) s.row = size, size *= c.rows;
  if (!(c.broadcast & 2)) s.head = size, size *= c.heads;
  if (!(c.broadcast & 1)) s.sample = size;
  return s;
}

AttentionShape shape_of(const Case& c) {
  AttentionShape s{};
  s.samples = c.samples, s.heads = c.heads, s.kv_heads = c.kv_heads;
  s.rows = c.rows, s.keys = c.keys, s.width = c.width, s.columns = c.columns;
  s.q = strides_of(c.heads, c.rows, c.width, c.heads_inside);
  s.k = c.keys_inside ? AttentionStrides{c.kv_heads * c.width * c.keys, c.width * c.keys, 1, c.keys}
                      : strides_of(c.kv_heads, c.keys, c.width, c.heads_inside);
  s.v = strides_of(c.kv_heads, c.keys, c.columns, c.heads_inside);
  s.out = strides_of(c.heads, c.rows, c.columns, c.heads_inside);
  s.bias = s.mask = broadcast_strides(c);
  s.divides = c.divides, s.masks_first = c.masks_first, s.fills_true = c.fills_true;
  return s;
}

template <typename T>
void run(const Case& c, const Kernels<T>& kernels, const AttentionShape& shape, const Buffer<T>& q, const Buffer<T>& k,
         const Buffer<T>& v, const Buffer<T>& bias, const Buffer<uint8_t>& mask, T scale, T fill, Buffer<T>& out) {
  const auto* table = reinterpret_cast<const int64_t*>(&shape);
  Buffer<T> scratch(attention_scratch(c.keys, c.width));
  const int64_t tiles = c.samples * c.heads * attention_strips(c.rows);
  // Two ranges, as two threads would take them.
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    T* y = out.data();
    if (c.bias && c.mask) {
      kernels.mask_bias(y, q.data(), k.data(), v.data(), mask.data(), bias.data(), table, scale, fill, begin, end,
                        scratch.data());
    } else if (c.bias) {
      kernels.bias(y, q.data(), k.data(), v.data(), bias.data(), table, scale, fill, begin, end, scratch.data());
    } else if (c.mask) {
      kernels.mask(y, q.data(), k.data(), v.data(), mask.data(), table, scale, fill, begin, end, scratch.data());
    } else {
      kernels.plain(y, q.data(), k.data(), v.data(), table, scale, fill, begin, end, scratch.data());
    }
  }
}

template <typename T>
void check(const Case& c, uint64_t seed) {
  Random random(seed);
  const AttentionShape shape = shape_of(c);
  Buffer<T> q(c.samples * c.heads * c.rows * c.width), k(c.samples * c.kv_heads * c.keys * c.width);
  Buffer<T> v(c.samples * c.kv_heads * c.keys * c.columns), bias(c.samples * c.heads * c.rows * c.keys);
  Buffer<uint8_t> mask(bias.size());
  Buffer<T> expected(c.samples * c.heads * c.rows * c.columns), actual(expected.size());
  for (Buffer<T>* buffer : {&q, &k, &v, &bias}) random.fill(*buffer, c.special == 1);
  for (int64_t i = 0; i < bias.size(); ++i) {
    mask[i] = random.between(0, 1) != 0;
    if (c.special == 2 && random.between(0, 1) == 0) bias[i] = -std::numeric_limits<T>::infinity();
  }
  const T scale = static_cast<T>(0.3125 + seed % 3), fill = c.special == 0 ? T(-10) : -std::numeric_limits<T>::infinity();
  reference_attention(expected.data(), q.data(), k.data(), v.data(), c.bias ? bias.data() : nullptr,
                      c.mask ? mask.data() : nullptr, shape, scale, fill);
  for (const SkeletonTable* t : runnable_skeletons()) {
    INFO(t->target << ", " << sizeof(T) << " bytes, seed " << seed << ", " << c.samples << " x " << c.heads << "/"
                   << c.kv_heads << " heads, rows " << c.rows << ", keys " << c.keys << ", width " << c.width
                   << ", columns " << c.columns << (c.bias ? ", bias" : "") << (c.mask ? ", mask" : ""));
    std::memset(static_cast<void*>(actual.data()), 0xee, actual.size() * sizeof(T));
    run(c, kernels_of(*t, T{}), shape, q, k, v, bias, mask, scale, fill, actual);
    REQUIRE(difference(expected, actual) == "");
  }
}

TEST_CASE("attention equals the reference on random shapes") {
  Random random(3);
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Case c{};
    c.kv_heads = random.between(1, 2);
    c.heads = c.kv_heads * random.between(1, 3);
    c.samples = random.between(1, 2);
    c.rows = random.between(1, 110);
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
    c.special = static_cast<int>(random.between(0, 2));
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("attention moves its sums on at every 4,096th key and every 4,096th column of q") {
  for (int64_t keys : {4095, 4096, 4097, 8200}) {
    check<float>({1, 1, 1, 19, keys, 8, 17, true, false, false, false, 4, false, false, false, 0}, keys);
    check<double>({1, 2, 1, 3, keys, 5, 33, false, true, true, true, 6, true, false, true, 0}, keys);
  }
  check<float>({1, 1, 1, 5, 20, 4100, 8, false, false, false, false, 0, false, false, false, 0}, 1);
}

TEST_CASE("no width, no column") {
  check<float>({1, 2, 2, 20, 9, 0, 20, false, false, false, false, 0, false, false, false, 0}, 1);
  check<float>({1, 2, 2, 20, 9, 8, 0, false, false, false, false, 0, false, false, false, 0}, 1);
}

TEST_CASE("no key: a product over nothing, which is +0") {
  const Case c{1, 1, 1, 3, 0, 2, 4, true, false, false, false, 0, false, false, false, 0};
  Buffer<float> q(6), none(0), out(12);
  Buffer<uint8_t> mask(0);
  Random(1).fill(q);
  for (const SkeletonTable* t : runnable_skeletons()) {
    std::memset(static_cast<void*>(out.data()), 0xee, out.size() * sizeof(float));
    run(c, kernels_of(*t, 0.0f), shape_of(c), q, none, none, none, mask, 1.0f, 0.0f, out);
    for (int64_t i = 0; i < out.size(); ++i) REQUIRE((out[i] == 0 && !std::signbit(out[i])));
  }
}

TEST_CASE("a row whose keys are all masked by -infinity is NaN, as softmax has it, and only that row") {
  const Case c{1, 1, 1, 2, 3, 1, 1, true, false, false, false, 0, false, false, false, 0};
  Buffer<float> q(2), k(3), v(3), bias(6), out(2);
  Buffer<uint8_t> mask(1);
  for (int64_t i = 0; i < 3; ++i) {
    k[i] = 1, v[i] = static_cast<float>(i + 1);
    bias[i] = -std::numeric_limits<float>::infinity(), bias[3 + i] = 0;
  }
  q[0] = q[1] = 1;
  for (const SkeletonTable* t : runnable_skeletons()) {
    run(c, kernels_of(*t, 0.0f), shape_of(c), q, k, v, bias, mask, 1.0f, 0.0f, out);
    REQUIRE(std::isnan(out[0]));
    REQUIRE(std::fabs(out[1] - 2.0f) < 1e-6f); // (1 + 2 + 3) / 3
  }
}

}  // namespace
}  // namespace ferrule::kernels
