// The gradient of attention against the scalar reference, bit for bit.
#include <limits>

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
  using Plain = void (*)(T*, T*, T*, const T*, const T*, const T*, const T*, const int64_t*, double, double, int64_t,
                         int64_t, void*);
  using Bias = void (*)(T*, T*, T*, const T*, const T*, const T*, const T*, const T*, const int64_t*, double, double,
                        int64_t, int64_t, void*);
  using Mask = void (*)(T*, T*, T*, const T*, const T*, const T*, const T*, const void*, const int64_t*, double, double,
                        int64_t, int64_t, void*);
  using MaskBias = void (*)(T*, T*, T*, const T*, const T*, const T*, const T*, const void*, const T*, const int64_t*,
                            double, double, int64_t, int64_t, void*);
  Plain plain, causal;
  Bias bias;
  Mask mask, present;
  MaskBias mask_bias, present_bias;
};
#define FERRULE_KERNELS_OF(S)                                                                                   \
  {t.ferrule_attention_gradient_##S,         t.ferrule_attention_gradient_causal_##S,                           \
   t.ferrule_attention_gradient_bias_##S,    t.ferrule_attention_gradient_mask_##S,                             \
   t.ferrule_attention_gradient_present_##S, t.ferrule_attention_gradient_mask_bias_##S,                        \
   t.ferrule_attention_gradient_present_bias_##S}
Kernels<float> kernels_of(const SkeletonTable& t, float) { return FERRULE_KERNELS_OF(f32); }
Kernels<double> kernels_of(const SkeletonTable& t, double) { return FERRULE_KERNELS_OF(f64); }
#undef FERRULE_KERNELS_OF

AttentionGradientShape gradient_shape_of(const Case& c) {
  AttentionGradientShape s{};
  s.attention = shape_of(c);
  s.q_gradient = strides_of(c, false, c.rows, c.width);
  s.k_gradient = strides_of(c, false, c.keys, c.width);  // One for each head of the query.
  s.v_gradient = strides_of(c, false, c.keys, c.columns);
  return s;
}

template <typename T>
struct Tensors {
  Buffer<T> q, k, v, g, bias;
  Buffer<uint8_t> mask;
  explicit Tensors(const Case& c)
      : q(c.samples * c.heads * c.rows * c.width),
        k(c.samples * c.kv_heads * c.keys * c.width),
        v(c.samples * c.kv_heads * c.keys * c.columns),
        g(c.samples * c.heads * c.rows * c.columns),
        bias(c.samples * c.heads * c.rows * c.keys),
        mask(bias.size()) {}
};

template <typename T>
struct Gradients {
  Buffer<T> q, k, v;
  explicit Gradients(const Case& c)
      : q(c.samples * c.heads * c.rows * c.width),
        k(c.samples * c.heads * c.keys * c.width),
        v(c.samples * c.heads * c.keys * c.columns) {
    for (Buffer<T>* buffer : {&q, &k, &v}) std::memset(static_cast<void*>(buffer->data()), 0xee, buffer->size() * sizeof(T));
  }
};

template <typename T>
void run(const Case& c, const Kernels<T>& kernels, const Tensors<T>& in, T scale, T fill, Gradients<T>& out) {
  const AttentionGradientShape shape = gradient_shape_of(c);
  const auto* table = reinterpret_cast<const int64_t*>(&shape);
  Buffer<T> scratch(attention_gradient_scratch(c.keys, c.width, c.columns));
  const int64_t tiles = c.samples * c.heads;
  // Two ranges, as two threads would take them.
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    const auto call = [&, begin = begin, end = end](auto kernel, auto... operands) {
      kernel(out.q.data(), out.k.data(), out.v.data(), in.q.data(), in.k.data(), in.v.data(), in.g.data(), operands...,
             table, scale, fill, begin, end, scratch.data());
    };
    if (c.bias && c.mask) {
      call(c.absent ? kernels.present_bias : kernels.mask_bias, in.mask.data(), in.bias.data());
    } else if (c.bias) {
      call(kernels.bias, in.bias.data());
    } else if (c.mask) {
      call(c.absent ? kernels.present : kernels.mask, in.mask.data());
    } else {
      call(c.absent ? kernels.causal : kernels.plain);
    }
  }
}

template <typename T>
void compare(const Case& c, const Tensors<T>& in, T scale, T fill) {
  const AttentionGradientShape shape = gradient_shape_of(c);
  const T* bias = c.bias ? in.bias.data() : nullptr;
  const uint8_t* mask = c.mask ? in.mask.data() : nullptr;
  Gradients<T> expected(c);
  if (c.absent) {
    reference_masked_attention_gradient(expected.q.data(), expected.k.data(), expected.v.data(), in.q.data(),
                                        in.k.data(), in.v.data(), in.g.data(), bias, mask, shape, scale);
  } else {
    reference_attention_gradient(expected.q.data(), expected.k.data(), expected.v.data(), in.q.data(), in.k.data(),
                                 in.v.data(), in.g.data(), bias, mask, shape, scale, fill);
  }
  for (const SkeletonTable* t : runnable_skeletons()) {
    INFO(t->target << ", " << sizeof(T) << " bytes, " << c);
    Gradients<T> actual(c);
    run(c, kernels_of(*t, T{}), in, scale, fill, actual);
    REQUIRE(difference(expected.q, actual.q) == "");
    REQUIRE(difference(expected.k, actual.k) == "");
    REQUIRE(difference(expected.v, actual.v) == "");
  }
}

template <typename T>
void check(const Case& c, uint64_t seed) {
  Random random(seed);
  Tensors<T> in(c);
  for (Buffer<T>* buffer : {&in.q, &in.k, &in.v, &in.g, &in.bias}) random.fill(*buffer);
  // One a tensor, so that most rows stay finite.
  if (c.special == 1) {
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const T values[] = {infinity, -infinity, std::numeric_limits<T>::quiet_NaN(), -T(0), std::numeric_limits<T>::max()};
    for (Buffer<T>* buffer : {&in.q, &in.k, &in.v, &in.g, &in.bias}) {
      if (buffer->size() > 0 && random.between(0, 1) == 0) {
        (*buffer)[random.between(0, buffer->size() - 1)] = values[random.between(0, 4)];
      }
    }
  }
  for (int64_t i = 0; i < in.bias.size(); ++i) {
    in.mask[i] = random.between(0, 1) != 0;
    if (c.special == 2 && random.between(0, 1) == 0) in.bias[i] = -std::numeric_limits<T>::infinity();
  }
  INFO("seed " << seed);
  const T fill = c.special == 0 ? T(-10) : -std::numeric_limits<T>::infinity();
  compare(c, in, static_cast<T>(0.3125 + seed % 3), fill);
}

TEST_CASE("the gradient of attention equals the reference on random shapes") {
  Random random(4);
  for (int64_t seed = 0; seed < sweep(200); ++seed) {
    const Case c = random_case(random);
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("causal: what a row does not see adds nothing, unless it is 0 times something that is not finite") {
  Random random(5);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    Case c = random_case(random, 130);
    c.bias = c.mask = c.divides = c.masks_first = c.fills_true = false;
    c.absent = true;
    c.keys = random.between(1, 140);
    c.special = static_cast<int>(seed % 2);
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("causal: a product of g and v that overflows where no row sees it makes NaN of the row all the same") {
  const Case c{1, 1, 1, 70, 70, 2, 2, false, false, false, false, 0, false, false, false, true, 0};
  Tensors<float> in(c);
  Random random(6);
  for (Buffer<float>* buffer : {&in.q, &in.k, &in.v, &in.g}) random.fill(*buffer);
  in.g[0] = in.v[2 * 69] = 3e30f;
  compare(c, in, 0.5f, 0.0f);
  Gradients<float> out(c);
  for (const SkeletonTable* t : runnable_skeletons()) {
    run(c, kernels_of(*t, 0.0f), in, 0.5f, 0.0f, out);
    REQUIRE(std::isnan(out.q[0]));
    REQUIRE(std::isfinite(out.q[2 * 20]));
  }
}

TEST_CASE("the gradient of attention moves its sums on at every 4,096th row, key and column") {
  for (int64_t rows : {4095, 4096, 4097, 8200}) {
    check<float>({1, 1, 1, rows, 9, 8, 17, true, false, false, false, 4, false, false, false, false, 0}, rows);
    check<double>({1, 2, 1, rows, 5, 3, 2, false, false, false, true, 6, true, false, false, true, 0}, rows);
    check<float>({1, 1, 1, 9, rows, 8, 3, false, true, false, false, 0, false, false, false, false, 0}, rows);
  }
  check<float>({1, 1, 1, 5, 20, 4100, 8, false, false, false, false, 0, false, false, false, false, 0}, 1);
}

TEST_CASE("no width, no column, no row: products over nothing, which are +0") {
  check<float>({1, 2, 2, 20, 9, 0, 20, false, false, false, false, 0, false, false, false, false, 0}, 1);
  check<float>({1, 2, 2, 20, 9, 8, 0, false, false, false, false, 0, false, false, false, true, 0}, 1);
  check<float>({1, 2, 2, 0, 9, 8, 4, false, false, false, false, 0, false, false, false, false, 0}, 1);
}

TEST_CASE("two keys, by hand") {
  const Case c{1, 1, 1, 1, 2, 1, 1, false, false, false, false, 0, false, false, false, false, 0};
  Tensors<float> in(c);
  in.q[0] = 0, in.k[0] = 1, in.k[1] = 3, in.v[0] = 5, in.v[1] = 9, in.g[0] = 2;
  Gradients<float> out(c);
  for (const SkeletonTable* t : runnable_skeletons()) {
    run(c, kernels_of(*t, 0.0f), in, 0.5f, 0.0f, out);
    // Weights 1/2; their gradients 10 and 18, whose weighted sum is 14; so -2 and 2 for the scores, halved by the scale.
    REQUIRE(out.q[0] == 2.0f);  // -1 * 1 + 1 * 3
    REQUIRE((out.k[0] == 0.0f && out.k[1] == 0.0f));  // times q
    REQUIRE((out.v[0] == 1.0f && out.v[1] == 1.0f));
  }
}

}  // namespace
}  // namespace ferrule::kernels
