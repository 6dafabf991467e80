// Attention against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/attention/cases.h"
#include "kernels/attention/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct Kernels {
  using Plain = void (*)(T*, const T*, const T*, const T*, const int64_t*, double, double, int64_t, int64_t, void*);
  using Bias = void (*)(T*, const T*, const T*, const T*, const T*, const int64_t*, double, double, int64_t, int64_t,
                        void*);
  using Mask = void (*)(T*, const T*, const T*, const T*, const void*, const int64_t*, double, double, int64_t, int64_t,
                        void*);
  using MaskBias = void (*)(T*, const T*, const T*, const T*, const void*, const T*, const int64_t*, double, double,
                            int64_t, int64_t, void*);
  Plain plain, causal;
  Bias bias;
  Mask mask, present;
  MaskBias mask_bias, present_bias;
};
#define FERRULE_KERNELS_OF(S)                                                                                       \
  {t.ferrule_attention_##S,           t.ferrule_attention_causal_##S,    t.ferrule_attention_bias_##S,              \
   t.ferrule_attention_mask_##S,      t.ferrule_attention_present_##S,   t.ferrule_attention_mask_bias_##S,         \
   t.ferrule_attention_present_bias_##S}
Kernels<float> kernels_of(const SkeletonTable& t, float) { return FERRULE_KERNELS_OF(f32); }
Kernels<double> kernels_of(const SkeletonTable& t, double) { return FERRULE_KERNELS_OF(f64); }
#undef FERRULE_KERNELS_OF

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
      (c.absent ? kernels.present_bias : kernels.mask_bias)(y, q.data(), k.data(), v.data(), mask.data(), bias.data(), table, scale, fill, begin, end,
                        scratch.data());
    } else if (c.bias) {
      kernels.bias(y, q.data(), k.data(), v.data(), bias.data(), table, scale, fill, begin, end, scratch.data());
    } else if (c.mask) {
      (c.absent ? kernels.present : kernels.mask)(y, q.data(), k.data(), v.data(), mask.data(), table, scale, fill, begin, end, scratch.data());
    } else {
      (c.absent ? kernels.causal : kernels.plain)(y, q.data(), k.data(), v.data(), table, scale, fill, begin, end, scratch.data());
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
  const T* the_bias = c.bias ? bias.data() : nullptr;
  const uint8_t* the_mask = c.mask ? mask.data() : nullptr;
  if (c.absent) {
    reference_masked_attention(expected.data(), q.data(), k.data(), v.data(), the_bias, the_mask, shape, scale);
  } else {
    reference_attention(expected.data(), q.data(), k.data(), v.data(), the_bias, the_mask, shape, scale, fill);
  }
  for (const SkeletonTable* t : runnable_skeletons()) {
    INFO(t->target << ", " << sizeof(T) << " bytes, seed " << seed << ", " << c.samples << " x " << c.heads << "/"
                   << c.kv_heads << " heads, rows " << c.rows << ", keys " << c.keys << ", width " << c.width
                   << ", columns " << c.columns << (c.bias ? ", bias" : "") << (c.mask ? ", mask" : "")
                   << (c.absent ? ", absent" : ""));
    std::memset(static_cast<void*>(actual.data()), 0xee, actual.size() * sizeof(T));
    run(c, kernels_of(*t, T{}), shape, q, k, v, bias, mask, scale, fill, actual);
    REQUIRE(difference(expected, actual) == "");
  }
}

TEST_CASE("attention equals the reference on random shapes") {
  Random random(3);
  for (int64_t seed = 0; seed < sweep(200); ++seed) {
    const Case c = random_case(random);
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("attention moves its sums on at every 4,096th key and every 4,096th column of q") {
  for (int64_t keys : {4095, 4096, 4097, 8200}) {
    check<float>({1, 1, 1, 19, keys, 8, 17, true, false, false, false, 4, false, false, false, false, 0}, keys);
    check<double>({1, 2, 1, 3, keys, 5, 33, false, true, true, true, 6, true, false, true, false, 0}, keys);
  }
  check<float>({1, 1, 1, 5, 20, 4100, 8, false, false, false, false, 0, false, false, false, false, 0}, 1);
}

TEST_CASE("no width, no column") {
  check<float>({1, 2, 2, 20, 9, 0, 20, false, false, false, false, 0, false, false, false, false, 0}, 1);
  check<float>({1, 2, 2, 20, 9, 8, 0, false, false, false, false, 0, false, false, false, false, 0}, 1);
}

TEST_CASE("no key: a product over nothing, which is +0") {
  const Case c{1, 1, 1, 3, 0, 2, 4, true, false, false, false, 0, false, false, false, false, 0};
  Buffer<float> q(6), none(0), out(12);
  Buffer<uint8_t> mask(0);
  Random(1).fill(q);
  for (const SkeletonTable* t : runnable_skeletons()) {
    std::memset(static_cast<void*>(out.data()), 0xee, out.size() * sizeof(float));
    run(c, kernels_of(*t, 0.0f), shape_of(c), q, none, none, none, mask, 1.0f, 0.0f, out);
    for (int64_t i = 0; i < out.size(); ++i) REQUIRE((out[i] == 0 && !std::signbit(out[i])));
  }
}

TEST_CASE("causal attention over several blocks of keys, and with fewer keys than rows") {
  check<float>({1, 1, 1, 4120, 4130, 3, 5, false, false, false, false, 0, false, false, false, true, 0}, 1);
  check<double>({1, 1, 1, 70, 20, 3, 5, false, false, false, false, 0, false, false, false, true, 0}, 2);
}

TEST_CASE("a row that sees no key is 0, and an absent value may be NaN") {
  Case c{};
  c.samples = c.heads = c.kv_heads = c.width = c.columns = 1;
  c.rows = 2, c.keys = 3, c.mask = c.absent = true;
  Buffer<float> q(2), k(3), v(3), none(0), out(2);
  Buffer<uint8_t> mask(6);
  for (int64_t i = 0; i < 3; ++i) k[i] = 1, v[i] = static_cast<float>(i + 1), mask[i] = 0, mask[3 + i] = i != 1;
  q[0] = q[1] = 1;
  k[1] = v[1] = std::numeric_limits<float>::quiet_NaN();
  for (const SkeletonTable* t : runnable_skeletons()) {
    run(c, kernels_of(*t, 0.0f), shape_of(c), q, k, v, none, mask, 1.0f, 0.0f, out);
    REQUIRE(out[0] == 0.0f);
    REQUIRE(out[1] == 2.0f); // 1 / 2 + 3 / 2
  }
}

TEST_CASE("a row whose keys are all masked by -infinity is NaN, as softmax has it, and only that row") {
  const Case c{1, 1, 1, 2, 3, 1, 1, true, false, false, false, 0, false, false, false, false, 0};
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
