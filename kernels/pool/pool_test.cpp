// Pools and their gradients against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/pool/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
namespace {

#define FERRULE_SHAPE_OF(s)                                                                                      \
  s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.groups, s.kernel_h, s.kernel_w, s.stride_h,      \
      s.stride_w, s.pad_top, s.pad_left, s.dilation_h, s.dilation_w

template <typename T, typename Max, typename MaxGradient, typename Avg, typename AvgGradient>
void check(const SkeletonTable& table, Max max, MaxGradient max_gradient, Avg avg, AvgGradient avg_gradient,
           const ConvShape& s, uint64_t seed, bool special) {
  Random random(seed);
  Buffer<T> x(s.batch * s.in_h * s.in_w * s.in_c), dy(s.batch * s.out_h * s.out_w * s.in_c);
  random.fill(x, special);
  random.fill(dy, special);
  Buffer<T> y(dy.size()), got_y(dy.size()), dx(x.size()), got_dx(x.size());
  Matrix<T> out{got_y.data(), s.in_c};
  const int64_t rows = s.batch * s.out_h;
  INFO(table.target << " in " << s.in_h << "x" << s.in_w << "x" << s.in_c << " kernel " << s.kernel_h << "x"
                    << s.kernel_w << " stride " << s.stride_h << "x" << s.stride_w << " pad " << s.pad_top << "x"
                    << s.pad_left);
  reference_max_pool(x.data(), s, y.data());
  max(&out, store_matrix<T>, x.data(), FERRULE_SHAPE_OF(s), 0, rows);
  REQUIRE(difference(y, got_y) == "");
  reference_max_pool_gradient(x.data(), dy.data(), s, dx.data());
  max_gradient(x.data(), dy.data(), got_dx.data(), FERRULE_SHAPE_OF(s), 0, s.batch);
  REQUIRE(difference(dx, got_dx) == "");
  for (const bool include_pad : {false, true}) {
    reference_avg_pool(x.data(), s, include_pad, y.data());
    avg(&out, store_matrix<T>, x.data(), FERRULE_SHAPE_OF(s), include_pad, 0, rows);
    REQUIRE(difference(y, got_y) == "");
    reference_avg_pool_gradient(dy.data(), s, include_pad, dx.data());
    avg_gradient(dy.data(), got_dx.data(), FERRULE_SHAPE_OF(s), include_pad, 0, s.batch);
    REQUIRE(difference(dx, got_dx) == "");
  }
}

ConvShape random_shape(Random& random) {
  ConvShape s{};
  s.batch = random.between(1, 2);
  s.in_h = random.between(2, 12);
  s.in_w = random.between(2, 12);
  s.in_c = s.out_c = random.between(1, 40);
  s.groups = s.dilation_h = s.dilation_w = 1;
  s.kernel_h = random.between(1, 5);
  s.kernel_w = random.between(1, 5);
  s.stride_h = random.between(1, 3);
  s.stride_w = random.between(1, 3);
  s.pad_top = random.between(0, s.kernel_h - 1);
  s.pad_left = random.between(0, s.kernel_w - 1);
  s.out_h = (s.in_h + 2 * s.pad_top - s.kernel_h) / s.stride_h + 1;
  s.out_w = (s.in_w + 2 * s.pad_left - s.kernel_w) / s.stride_w + 1;
  return s;
}

TEST_CASE("pools equal the reference on random shapes") {
  Random random(11);
  for (uint64_t seed = 0; seed < 80; ++seed) {
    const ConvShape s = random_shape(random);
    if (s.out_h < 1 || s.out_w < 1 || s.in_h + 2 * s.pad_top < s.kernel_h || s.in_w + 2 * s.pad_left < s.kernel_w) {
      continue;
    }
    for (const SkeletonTable* t : runnable_skeletons()) {
      check<float>(*t, t->ferrule_max_pool_f32, t->ferrule_max_pool_gradient_f32, t->ferrule_avg_pool_f32,
                   t->ferrule_avg_pool_gradient_f32, s, seed, seed % 3 == 0);
      check<double>(*t, t->ferrule_max_pool_f64, t->ferrule_max_pool_gradient_f64, t->ferrule_avg_pool_f64,
                    t->ferrule_avg_pool_gradient_f64, s, seed, seed % 3 == 0);
    }
  }
}

TEST_CASE("the gradient of a tie goes to the first element in scan order") {
  // One 2x2 window of one channel: 1 1 / 0 1.
  const float x[] = {1, 1, 0, 1}, dy[] = {5};
  for (const SkeletonTable* t : runnable_skeletons()) {
    float dx[4];
    t->ferrule_max_pool_gradient_f32(x, dy, dx, 1, 2, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1, 0, 1);
    REQUIRE(dx[0] == 5);
    REQUIRE(dx[1] + dx[2] + dx[3] == 0);
  }
}

}  // namespace
}  // namespace ferrule::kernels
