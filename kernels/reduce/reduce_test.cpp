// Reductions, argmax and moments against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/reduce/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

struct Shape {
  int64_t outer, n, inner;  // inner = 1: along rows
};

using Skeleton = void (*)(void*, FerruleLoad, FerruleStore, int64_t, int64_t, int64_t, int64_t, int64_t);

// Runs a row or column skeleton over two ranges of tiles, as two threads would.
void run(Skeleton rows, Skeleton columns, void* ctx, FerruleLoad load, FerruleStore store, const Shape& s) {
  const bool along_rows = s.inner == 1;
  const int64_t tile_rows = 3;
  const int64_t tiles = along_rows ? ceil_div(s.outer, tile_rows) : s.outer * ceil_div(s.inner, 16);
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    if (along_rows) rows(ctx, load, store, s.outer, s.n, tile_rows, begin, end);
    else columns(ctx, load, store, s.outer, s.n, s.inner, begin, end);
  }
}

#define FERRULE_FOR_EACH_OP(S)                                                                  \
  {{"sum", t.ferrule_reduce_rows_sum_##S, t.ferrule_reduce_columns_sum_##S},                    \
   {"max", t.ferrule_reduce_rows_max_##S, t.ferrule_reduce_columns_max_##S},                    \
   {"min", t.ferrule_reduce_rows_min_##S, t.ferrule_reduce_columns_min_##S},                    \
   {"prod", t.ferrule_reduce_rows_prod_##S, t.ferrule_reduce_columns_prod_##S},                 \
   {"argmax", t.ferrule_argmax_rows_##S, t.ferrule_argmax_columns_##S},                         \
   {"argmin", t.ferrule_argmin_rows_##S, t.ferrule_argmin_columns_##S}}
struct Op {
  std::string name;
  Skeleton rows, columns;
};
std::vector<Op> ops(const SkeletonTable& t, float) { return FERRULE_FOR_EACH_OP(f32); }
std::vector<Op> ops(const SkeletonTable& t, double) { return FERRULE_FOR_EACH_OP(f64); }
std::vector<Op> ops(const SkeletonTable& t, int32_t) { return FERRULE_FOR_EACH_OP(i32); }
std::vector<Op> ops(const SkeletonTable& t, int64_t) { return FERRULE_FOR_EACH_OP(i64); }

template <typename T>
void check(const Shape& s, uint64_t seed, bool special) {
  Random random(seed);
  Buffer<T> x(s.outer * s.n * s.inner);
  random.fill(x, special);
  const int64_t results = s.outer * s.inner;
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const Op& op : ops(*table, T{})) {
      INFO(op.name << " of " << sizeof(T) << " bytes on " << table->target << ", " << s.outer << " x " << s.n << " x "
                   << s.inner);
      if (op.name.substr(0, 3) == "arg") {
        Buffer<int32_t> expected(results), actual(results);
        reference_arg(op.name, x.data(), s.outer, s.n, s.inner, expected.data());
        Reduction<T, int32_t> ctx{x.data(), s.n, s.inner, {actual.data()}, 1};
        run(op.rows, op.columns, &ctx, load_tensor<T, int32_t>, store_results<T, int32_t>, s);
        REQUIRE(difference(expected, actual) == "");
      } else {
        Buffer<T> expected(results), actual(results);
        reference_reduce(op.name, x.data(), s.outer, s.n, s.inner, expected.data());
        Reduction<T> ctx{x.data(), s.n, s.inner, {actual.data()}, 1};
        run(op.rows, op.columns, &ctx, load_tensor<T>, store_results<T>, s);
        REQUIRE(difference(expected, actual) == "");
      }
    }
  }
}

Shape random_shape(Random& random) {
  const bool rows = random.between(0, 1) == 0;
  return {random.between(1, 9), random.between(1, 150), rows ? 1 : random.between(2, 300)};
}

TEST_CASE("reductions equal the reference on random shapes") {
  Random random(6);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    const Shape s = random_shape(random);
    const bool special = random.between(0, 2) == 0;
    check<float>(s, seed, special);
    check<double>(s, seed, special);
    check<int32_t>(s, seed, false);
    check<int64_t>(s, seed, false);
  }
}

TEST_CASE("reductions fold their lanes at every 4,096th element") {
  for (int64_t n : {4095, 4096, 4097, 9000}) {
    check<float>({5, n, 1}, n, false);
    check<float>({1, n, 3}, n, false);
    check<float>({1, n, 300}, n, false);  // 1 KiB of a row at once, then the rest
  }
}

TEST_CASE("several sums in one pass are the sums one by one") {
  const Shape shapes[] = {{7, 100, 1}, {2, 50, 21}, {3, 150, 290}};
  for (const Shape& s : shapes) {
    Random random(8);
    Buffer<float> x(s.outer * s.n * s.inner);
    random.fill(x);
    const int64_t results = s.outer * s.inner;
    for (const SkeletonTable* t : runnable_skeletons()) {
      Buffer<float> actual(results * 4), expected(results);
      const auto check_sums = [&](int count, Skeleton rows, Skeleton columns, FerruleLoad load) {
        Reduction<float> ctx{x.data(), s.n, s.inner, {}, count};
        for (int j = 0; j < count; ++j) ctx.out[j] = actual.data() + j * results;
        run(rows, columns, &ctx, load, store_results<float>, s);
        for (int j = 0; j < count; ++j) {
          Buffer<float> shifted(x.size());
          for (int64_t i = 0; i < x.size(); ++i) shifted[i] = x[i] + static_cast<float>(j);
          reference_reduce("sum", shifted.data(), s.outer, s.n, s.inner, expected.data());
          REQUIRE(difference(expected.data(), actual.data() + j * results, results) == "");
        }
      };
      check_sums(2, t->ferrule_reduce_rows_sum2_f32, t->ferrule_reduce_columns_sum2_f32, load_tensor<float, float, 2>);
      check_sums(3, t->ferrule_reduce_rows_sum3_f32, t->ferrule_reduce_columns_sum3_f32, load_tensor<float, float, 3>);
      check_sums(4, t->ferrule_reduce_rows_sum4_f32, t->ferrule_reduce_columns_sum4_f32, load_tensor<float, float, 4>);
    }
  }
}

template <typename T, typename Rows, typename Columns>
void check_moments(const SkeletonTable& table, Rows rows, Columns columns, const Shape& s, const Buffer<T>& x,
                   double eps) {
  const int64_t results = s.outer * s.inner;
  Buffer<T> expected(results * 3), actual(results * 3);
  reference_moments(x.data(), s.outer, s.n, s.inner, eps, expected.data(), expected.data() + results,
                    expected.data() + 2 * results);
  Reduction<T> ctx{x.data(), s.n, s.inner, {actual.data(), actual.data() + results, actual.data() + 2 * results}, 3};
  if (s.inner == 1) {
    rows(&ctx, load_tensor<T>, store_results<T>, s.outer, s.n, 2, 0, ceil_div(s.outer, 2), eps);
  } else {
    columns(&ctx, load_tensor<T>, store_results<T>, s.outer, s.n, s.inner, 0, s.outer * ceil_div(s.inner, 16), eps);
  }
  INFO(table.target << " " << s.outer << " x " << s.n << " x " << s.inner);
  REQUIRE(difference(expected, actual) == "");
}

TEST_CASE("moments equal the reference") {
  Random random(9);
  for (int64_t seed = 0; seed < sweep(40); ++seed) {
    Shape s = random_shape(random);
    if (seed % 8 == 0) s.n = 5000;
    Buffer<float> x(s.outer * s.n * s.inner);
    Buffer<double> y(x.size());
    random.fill(x, seed % 5 == 0);
    random.fill(y, seed % 5 == 0);
    for (const SkeletonTable* t : runnable_skeletons()) {
      check_moments(*t, t->ferrule_moments_rows_f32, t->ferrule_moments_columns_f32, s, x, 1e-5);
      check_moments(*t, t->ferrule_moments_rows_f64, t->ferrule_moments_columns_f64, s, y, 1e-5);
    }
  }
}

TEST_CASE("moments survive a large offset and huge values") {
  // Deviations -1.5, -0.5, 0.5, 1.5: variance 1.25. Of +-1e30: variance 1e60, beyond f32, but 1/sqrt of it is not.
  const float years[] = {1999, 2000, 2001, 2002};
  float mean, variance, rstd;
  reference_moments(years, 1, 4, 1, 1e-5, &mean, &variance, &rstd);
  REQUIRE(mean == 2000.5f);
  REQUIRE(variance == 1.25f);
  REQUIRE(std::fabs((2002 - mean) * rstd - 1.3416354f) < 2e-7f);
  const float huge[] = {1e30f, -1e30f};
  reference_moments(huge, 1, 2, 1, 1e-5, &mean, &variance, &rstd);
  REQUIRE((huge[0] - mean) * rstd == 1.0f);
}

}  // namespace
}  // namespace ferrule::kernels
