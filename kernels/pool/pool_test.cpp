// Pools and their gradients against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/pool/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

#define FERRULE_SHAPE_OF(s)                                                                                      \
  s.batch, s.in_h, s.in_w, s.in_c, s.out_h, s.out_w, s.out_c, s.groups, s.kernel_h, s.kernel_w, s.stride_h,      \
      s.stride_w, s.pad_top, s.pad_left, s.dilation_h, s.dilation_w, s.in_d, s.out_d, s.kernel_d, s.stride_d,    \
      s.pad_front, s.dilation_d

template <typename T>
struct Family;
template <>
struct Family<float> {
  explicit Family(const SkeletonTable& t)
      : max(t.ferrule_max_pool_f32),
        max_gradient(t.ferrule_max_pool_gradient_f32),
        max_select(t.ferrule_max_pool_select_f32),
        avg(t.ferrule_avg_pool_f32),
        avg_gradient(t.ferrule_avg_pool_gradient_f32) {}
  decltype(SkeletonTable::ferrule_max_pool_f32) max;
  decltype(SkeletonTable::ferrule_max_pool_gradient_f32) max_gradient;
  decltype(SkeletonTable::ferrule_max_pool_select_f32) max_select;
  decltype(SkeletonTable::ferrule_avg_pool_f32) avg;
  decltype(SkeletonTable::ferrule_avg_pool_gradient_f32) avg_gradient;
};
template <>
struct Family<double> {
  explicit Family(const SkeletonTable& t)
      : max(t.ferrule_max_pool_f64),
        max_gradient(t.ferrule_max_pool_gradient_f64),
        max_select(t.ferrule_max_pool_select_f64),
        avg(t.ferrule_avg_pool_f64),
        avg_gradient(t.ferrule_avg_pool_gradient_f64) {}
  decltype(SkeletonTable::ferrule_max_pool_f64) max;
  decltype(SkeletonTable::ferrule_max_pool_gradient_f64) max_gradient;
  decltype(SkeletonTable::ferrule_max_pool_select_f64) max_select;
  decltype(SkeletonTable::ferrule_avg_pool_f64) avg;
  decltype(SkeletonTable::ferrule_avg_pool_gradient_f64) avg_gradient;
};

std::string describe(const ConvShape& s) {
  std::string text;
  for (int64_t v : {FERRULE_SHAPE_OF(s)}) text += std::to_string(v) + " ";
  return text;
}

template <typename T>
void check(const SkeletonTable& table, const ConvShape& s, uint64_t seed, bool special) {
  const Family<T> family(table);
  Random random(seed);
  Buffer<T> x(s.batch * s.in_d * s.in_h * s.in_w * s.in_c), v(x.size());
  Buffer<T> dy(s.batch * s.out_d * s.out_h * s.out_w * s.in_c);
  random.fill(x, special);
  random.fill(v, special);
  random.fill(dy, special);
  Buffer<T> y(dy.size()), got_y(dy.size()), dx(x.size()), got_dx(x.size());
  Matrix<T> out{got_y.data(), s.in_c};
  const int64_t rows = s.batch * s.out_d * s.out_h;
  INFO(table.target << " shape " << describe(s));
  reference_max_pool(x.data(), s, y.data());
  family.max(&out, store_matrix<T>, x.data(), FERRULE_SHAPE_OF(s), rows / 2, rows);
  family.max(&out, store_matrix<T>, x.data(), FERRULE_SHAPE_OF(s), 0, rows / 2);
  REQUIRE(difference(y, got_y) == "");
  reference_max_pool_select(x.data(), v.data(), s, y.data());
  family.max_select(&out, store_matrix<T>, x.data(), v.data(), FERRULE_SHAPE_OF(s), 0, rows);
  REQUIRE(difference(y, got_y) == "");
  reference_max_pool_gradient(x.data(), dy.data(), s, dx.data());
  family.max_gradient(x.data(), dy.data(), got_dx.data(), FERRULE_SHAPE_OF(s), 0, s.batch);
  REQUIRE(difference(dx, got_dx) == "");
  for (const bool include_pad : {false, true}) {
    reference_avg_pool(x.data(), s, include_pad, y.data());
    family.avg(&out, store_matrix<T>, x.data(), FERRULE_SHAPE_OF(s), include_pad, 0, rows);
    REQUIRE(difference(y, got_y) == "");
    reference_avg_pool_gradient(dy.data(), s, include_pad, dx.data());
    family.avg_gradient(dy.data(), got_dx.data(), FERRULE_SHAPE_OF(s), include_pad, 0, s.batch);
    REQUIRE(difference(dx, got_dx) == "");
  }
}

// One axis: sizes, a window with padding on both sides, or adaptive windows.
struct AxisShape {
  int64_t in, out, kernel, stride, pad, dilation;
};

AxisShape random_axis(Random& random, int64_t largest, bool adaptive) {
  AxisShape a{random.between(1, largest), 0, 1, 0, 0, 1};
  if (adaptive) {
    a.out = random.between(1, largest);  // More outputs than positions are allowed: windows overlap.
    return a;
  }
  do {
    a = {random.between(1, largest), 0, random.between(1, 5), random.between(1, 3), 0, random.between(1, 2)};
    a.pad = random.between(0, a.kernel - 1);
    const int64_t room = a.in + 2 * a.pad - (a.kernel - 1) * a.dilation - 1;
    a.out = room < 0 ? 0 : room / a.stride + 1;
  } while (a.out == 0);
  return a;
}

ConvShape random_shape(Random& random, bool volume) {
  ConvShape s{};
  s.batch = random.between(1, 2);
  s.in_c = s.out_c = random.between(1, 40);
  s.groups = 1;
  const bool adaptive = random.between(0, 3) == 0;
  const AxisShape h = random_axis(random, 12, adaptive), w = random_axis(random, 12, adaptive);
  s.in_h = h.in, s.out_h = h.out, s.kernel_h = h.kernel, s.stride_h = h.stride, s.pad_top = h.pad;
  s.in_w = w.in, s.out_w = w.out, s.kernel_w = w.kernel, s.stride_w = w.stride, s.pad_left = w.pad;
  s.dilation_h = h.dilation, s.dilation_w = w.dilation;
  if (volume) {
    const AxisShape d = random_axis(random, 6, adaptive);
    s.in_d = d.in, s.out_d = d.out, s.kernel_d = d.kernel, s.stride_d = d.stride, s.pad_front = d.pad;
    s.dilation_d = d.dilation;
  }
  return s;
}

TEST_CASE("pools equal the reference on random shapes") {
  Random random(11);
  for (int64_t seed = 0; seed < sweep(120); ++seed) {
    const ConvShape s = random_shape(random, seed % 3 == 2);
    for (const SkeletonTable* t : runnable_skeletons()) {
      check<float>(*t, s, seed, seed % 4 == 0);
      check<double>(*t, s, seed, seed % 4 == 0);
    }
  }
}

TEST_CASE("the gradient of a tie goes to the first element in scan order") {
  // One 2x2 window of one channel: 1 1 / 0 1.
  const float x[] = {1, 1, 0, 1}, dy[] = {5};
  for (const SkeletonTable* t : runnable_skeletons()) {
    float dx[4];
    t->ferrule_max_pool_gradient_f32(x, dy, dx, 1, 2, 2, 1, 1, 1, 1, 1, 2, 2, 2, 2, 0, 0, 1, 1, FERRULE_NO_DEPTH, 0,
                                     1);
    REQUIRE(dx[0] == 5);
    REQUIRE(dx[1] + dx[2] + dx[3] == 0);
  }
}

}  // namespace
}  // namespace ferrule::kernels
