// Depthwise convolution and its gradients against the scalar reference of the grouped convolution, bit for bit, with
// sizes known at run time and with sizes compiled in.
#include <functional>

#include "catch2/catch.hpp"
#include "kernels/conv/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

using StaticInstance = void (*)(void*, FerruleStore, const float*, const float*, int64_t, int64_t);

#define FERRULE_DECLARE(prefix, name) \
  extern "C" void prefix##static_##name(void*, FerruleStore, const float*, const float*, int64_t, int64_t);
#define FERRULE_STATIC_SHAPE(id, ...)                                  \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, depthwise_##id)                 \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, depthwise_input_gradient_##id)  \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, depthwise_weight_gradient_##id)
#include "kernels/conv/depthwise_shapes.inc"
#undef FERRULE_STATIC_SHAPE

namespace ferrule::kernels {
namespace {

// Where the panels hold the weight of a channel; the grouped convolution has a panel a channel, with one column.
int64_t panel_element(int64_t channel, int64_t tap, int64_t taps) {
  return (channel / 16 * taps + tap) * 16 + channel % 16;
}

// What the reference says for one shape, on random data.
template <typename T>
struct Expected {
  Expected(const ConvShape& s, uint64_t seed, bool special)
      : taps(s.kernel_d * s.kernel_h * s.kernel_w),
        x(s.batch * s.in_d * s.in_h * s.in_w * s.in_c),
        dy(s.batch * s.out_d * s.out_h * s.out_w * s.out_c),
        weights(ceil_div(s.in_c, 16) * taps * 16),
        y(dy.size()),
        dx(x.size()),
        dw(weights.size()) {
    Random random(seed);
    random.fill(x, special);
    random.fill(dy, special);
    random.fill(weights, special);
    Buffer<T> grouped(s.groups * taps * 16), grouped_dw(grouped.size());
    for (int64_t c = 0; c < s.in_c; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        grouped[(c * taps + tap) * 16] = weights[panel_element(c, tap, taps)];
    reference_conv(x.data(), grouped.data(), s, y.data());
    reference_conv_input_gradient(dy.data(), grouped.data(), s, dx.data());
    reference_conv_weight_gradient(x.data(), dy.data(), s, grouped_dw.data());
    for (int64_t c = 0; c < ceil_div(s.in_c, 16) * 16; ++c)
      for (int64_t tap = 0; tap < taps; ++tap)
        dw[panel_element(c, tap, taps)] = c < s.in_c ? grouped_dw[(c * taps + tap) * 16] : T(0);
  }

  int64_t taps;
  Buffer<T> x, dy, weights, y, dx, dw;
};

// A skeleton with its shape bound: out, p, q, tile_begin, tile_end.
template <typename T>
using Bound = std::function<void(Matrix<T>*, const T*, const T*, int64_t, int64_t)>;

// The tiles in three ranges, the last one first.
template <typename T>
void check(const Bound<T>& run, const Buffer<T>& p, const Buffer<T>& q, int64_t tiles, int64_t columns,
           const Buffer<T>& expected) {
  Buffer<T> actual(expected.size());
  Matrix<T> out{actual.data(), columns};
  run(&out, p.data(), q.data(), tiles / 2, tiles);
  run(&out, p.data(), q.data(), tiles / 3, tiles / 2);
  run(&out, p.data(), q.data(), 0, tiles / 3);
  REQUIRE(difference(expected, actual) == "");
}

template <typename T>
void check_all(const ConvShape& s, const Expected<T>& e, const Bound<T>& forward, const Bound<T>& input_gradient,
               const Bound<T>& weight_gradient) {
  check(forward, e.x, e.weights, depthwise_tiles(s.batch * s.out_d * s.out_h, s.out_c), s.out_c, e.y);
  check(input_gradient, e.dy, e.weights, depthwise_tiles(s.batch * s.in_d * s.in_h, s.in_c), s.in_c, e.dx);
  check(weight_gradient, e.x, e.dy, depthwise_weight_gradient_tiles(s.in_c, s.kernel_d, s.kernel_h), 16, e.dw);
}

template <typename T, typename Skeleton>
Bound<T> bind(Skeleton skeleton, const ConvShape& s) {
  return [=](Matrix<T>* out, const T* p, const T* q, int64_t begin, int64_t end) {
    skeleton(out, store_matrix<T>, p, q, s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.groups,
             s.kernel_h, s.kernel_w, s.stride_h, s.stride_w, s.pad_top, s.pad_left, s.dilation_h, s.dilation_w, s.in_d,
             s.out_d, s.kernel_d, s.stride_d, s.pad_front, s.dilation_d, begin, end, nullptr);
  };
}

std::string describe(const ConvShape& s) {
  std::string text;
  for (int64_t v : {s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.kernel_h, s.kernel_w, s.stride_h, s.stride_w,
                    s.pad_top, s.pad_left, s.dilation_h, s.dilation_w, s.in_d, s.out_d, s.kernel_d, s.stride_d,
                    s.pad_front, s.dilation_d}) {
    text += std::to_string(v) + " ";
  }
  return text;
}

void check_dynamic(const ConvShape& s, uint64_t seed, bool special) {
  const Expected<float> single(s, seed, special);
  const Expected<double> twice(s, seed, special);
  for (const SkeletonTable* table : runnable_skeletons()) {
    INFO(table->target << " shape " << describe(s));
    check_all<float>(s, single, bind<float>(table->ferrule_depthwise_f32, s),
                     bind<float>(table->ferrule_depthwise_input_gradient_f32, s),
                     bind<float>(table->ferrule_depthwise_weight_gradient_f32, s));
    check_all<double>(s, twice, bind<double>(table->ferrule_depthwise_f64, s),
                      bind<double>(table->ferrule_depthwise_input_gradient_f64, s),
                      bind<double>(table->ferrule_depthwise_weight_gradient_f64, s));
  }
}

// Output positions of an axis; 0 if the window does not fit.
int64_t outputs(int64_t in, int64_t kernel, int64_t stride, int64_t pad_begin, int64_t pad_end, int64_t dilation) {
  const int64_t room = in + pad_begin + pad_end - (kernel - 1) * dilation - 1;
  return room < 0 ? 0 : room / stride + 1;
}

// Channels are few or around the borders of vectors and tiles.
ConvShape random_shape(Random& random, bool volume) {
  ConvShape s{};
  const int64_t around[] = {15, 16, 17, 32, 128, 129, 144};
  s.batch = random.between(1, 3);
  s.groups = s.in_c = s.out_c = random.between(0, 1) == 0 ? random.between(2, 40) : around[random.between(0, 6)];
  s.in_h = random.between(1, 12);
  s.in_w = random.between(1, 40);
  s.kernel_h = random.between(1, 7);
  s.kernel_w = random.between(1, 9);
  s.stride_h = random.between(1, 3);
  s.stride_w = random.between(1, 3);
  s.dilation_h = random.between(1, 2);
  s.dilation_w = random.between(1, 2);
  s.pad_top = random.between(0, 4);
  s.pad_left = random.between(0, 4);
  s.out_h = outputs(s.in_h, s.kernel_h, s.stride_h, s.pad_top, random.between(0, 4), s.dilation_h);
  s.out_w = outputs(s.in_w, s.kernel_w, s.stride_w, s.pad_left, random.between(0, 4), s.dilation_w);
  if (!volume) return s;
  s.in_d = random.between(1, 6);
  s.kernel_d = random.between(1, 3);
  s.stride_d = random.between(1, 2);
  s.dilation_d = random.between(1, 2);
  s.pad_front = random.between(0, 2);
  s.out_d = outputs(s.in_d, s.kernel_d, s.stride_d, s.pad_front, random.between(0, 2), s.dilation_d);
  return s;
}

TEST_CASE("depthwise convolutions equal the reference on random shapes") {
  Random random(5);
  int tried = 0;
  for (uint64_t seed = 0; tried < sweep(80); ++seed) {
    const ConvShape s = random_shape(random, seed % 4 == 0);
    if (s.out_d == 0 || s.out_h == 0 || s.out_w == 0) continue;
    ++tried;
    check_dynamic(s, seed, random.between(0, 2) == 0);
  }
}

TEST_CASE("depthwise convolutions move their sums on at every 4,096th k, absent positions counted") {
  // 4,225 taps, and 6,200 and 12,288 output positions, of which the last ends with a block.
  check_dynamic({1, 40, 70, 2, 10, 12, 2, 2, 65, 65, 1, 1, 20, 4, 1, 1}, 3, false);
  check_dynamic({2, 62, 50, 18, 62, 50, 18, 18, 3, 3, 1, 1, 1, 1, 1, 1}, 4, false);
  check_dynamic({3, 64, 64, 5, 64, 64, 5, 5, 5, 5, 1, 1, 2, 2, 1, 1}, 5, false);
}

struct StaticCase {
  ConvShape shape;
  StaticInstance forward[2], input_gradient[2], weight_gradient[2];  // one a target
};

const StaticCase kCases[] = {
#define FERRULE_STATIC_SHAPE(id, ...)                                                   \
  {{__VA_ARGS__},                                                                       \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_depthwise_##id)},                \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_depthwise_input_gradient_##id)}, \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_depthwise_weight_gradient_##id)}},
#include "kernels/conv/depthwise_shapes.inc"
#undef FERRULE_STATIC_SHAPE
};

TEST_CASE("depthwise convolutions with constant shapes equal the reference") {
  const std::vector<const SkeletonTable*> tables = runnable_skeletons();
  const auto with_store = [](StaticInstance instance) {
    return [=](Matrix<float>* out, const float* p, const float* q, int64_t begin, int64_t end) {
      instance(out, store_matrix<float>, p, q, begin, end);
    };
  };
  for (const StaticCase& c : kCases) {
    for (const bool special : {false, true}) {
      const Expected<float> expected(c.shape, 12, special);
      for (size_t isa = 0; isa < tables.size(); ++isa) {
        INFO("shape " << &c - kCases << " on " << tables[isa]->target);
        check_all<float>(c.shape, expected, with_store(c.forward[isa]), with_store(c.input_gradient[isa]),
                         with_store(c.weight_gradient[isa]));
      }
    }
  }
}

}  // namespace
}  // namespace ferrule::kernels
