// Convolutions whose shapes are compile-time constants, as in generated kernels, against the scalar reference.
#include "catch2/catch.hpp"
#include "kernels/conv/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

using Instance = void (*)(void*, FerruleStore, const float*, const float*, int64_t, int64_t);

#define FERRULE_DECLARE(prefix, name) \
  extern "C" void prefix##static_##name(void*, FerruleStore, const float*, const float*, int64_t, int64_t);
#define FERRULE_STATIC_SHAPE(id, ...)                             \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, conv_##id)                 \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, conv_input_gradient_##id)  \
  FERRULE_EACH_TARGET(FERRULE_DECLARE, conv_weight_gradient_##id)
#include "kernels/conv/static_shapes.inc"
#undef FERRULE_STATIC_SHAPE

namespace ferrule::kernels {
namespace {

struct StaticCase {
  ConvShape shape;
  Instance forward[2], input_gradient[2], weight_gradient[2];  // one a target
};

const StaticCase kCases[] = {
#define FERRULE_STATIC_SHAPE(id, ...)                                                      \
  {{__VA_ARGS__},                                                                          \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_conv_##id)},                        \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_conv_input_gradient_##id)},         \
   {FERRULE_EACH_TARGET(FERRULE_NAME_OF_TARGET, static_conv_weight_gradient_##id)}},
#include "kernels/conv/static_shapes.inc"
#undef FERRULE_STATIC_SHAPE
};

void check(Instance instance, const float* p, const float* q, int64_t tiles, int64_t columns,
           const Buffer<float>& expected) {
  Buffer<float> actual(expected.size());
  Matrix<float> out{actual.data(), columns};
  instance(&out, store_matrix<float>, p, q, tiles / 2, tiles);
  instance(&out, store_matrix<float>, p, q, 0, tiles / 2);
  REQUIRE(difference(expected, actual) == "");
}

TEST_CASE("convolutions with constant shapes equal the reference") {
  const std::vector<const SkeletonTable*> tables = runnable_skeletons();
  for (const StaticCase& c : kCases) {
    const ConvShape& s = c.shape;
    const int64_t in_g = s.in_c / s.groups, out_g = s.out_c / s.groups, taps = s.kernel_d * s.kernel_h * s.kernel_w;
    for (const bool special : {false, true}) {
      Random random(12);
      Buffer<float> x(s.batch * s.in_d * s.in_h * s.in_w * s.in_c);
      Buffer<float> dy(s.batch * s.out_d * s.out_h * s.out_w * s.out_c);
      Buffer<float> weights(s.groups * ceil_div(out_g, 16) * taps * in_g * 16);
      Buffer<float> transposed(s.groups * ceil_div(in_g, 16) * taps * out_g * 16);
      random.fill(x, special);
      random.fill(dy, special);
      random.fill(weights, special);
      reference_transpose_panels(weights.data(), transposed.data(), s.groups, out_g, taps, in_g);
      Buffer<float> y(dy.size()), dx(x.size()), dw(weights.size());
      reference_conv(x.data(), weights.data(), s, y.data());
      reference_conv_input_gradient(dy.data(), transposed.data(), s, dx.data());
      reference_conv_weight_gradient(x.data(), dy.data(), s, dw.data());
      for (size_t isa = 0; isa < tables.size(); ++isa) {
        INFO("shape " << &c - kCases << " on " << tables[isa]->target);
        check(c.forward[isa], x.data(), weights.data(),
              s.batch * s.out_d * s.out_h * conv_column_blocks(s.groups, s.out_c), s.out_c, y);
        check(c.input_gradient[isa], dy.data(), transposed.data(), s.batch * s.in_d * s.in_h, s.in_c, dx);
        check(c.weight_gradient[isa], x.data(), dy.data(),
              conv_weight_gradient_tiles(s.groups, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w, s.dilation_w),
              16, dw);
      }
    }
  }
}

}  // namespace
}  // namespace ferrule::kernels
