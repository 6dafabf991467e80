// Runs along an axis against the scalar reference, bit for bit.
#include "catch2/catch.hpp"
#include "kernels/cumulative/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

// Calls kernel(tile_begin, tile_end) for a first and a second half, the second one first, as two threads might.
template <typename Kernel>
void run_halves(const RunShape& s, Kernel kernel) {
  const int64_t tiles = s.outer * ceil_div(s.inner, 16);
  kernel(tiles / 2, tiles);
  kernel(0, tiles / 2);
}

#define FERRULE_KERNELS_OF(S)                                                                                    \
  {t.ferrule_cumsum_##S, t.ferrule_cumprod_##S, t.ferrule_cummax_##S, t.ferrule_cummin_##S, t.ferrule_cumargmax_##S, \
   t.ferrule_cumargmin_##S}
template <typename T>
struct Kernels {
  using Run = void (*)(T*, const T*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
  using Extreme = void (*)(T*, const T*, int64_t, int64_t, int64_t, int64_t, int64_t);
  using Arg = void (*)(int32_t*, const T*, int64_t, int64_t, int64_t, int64_t, int64_t);
  Run cumsum, cumprod;
  Extreme cummax, cummin;
  Arg cumargmax, cumargmin;
};
Kernels<float> kernels_of(const SkeletonTable& t, float) { return FERRULE_KERNELS_OF(f32); }
Kernels<double> kernels_of(const SkeletonTable& t, double) { return FERRULE_KERNELS_OF(f64); }
Kernels<int32_t> kernels_of(const SkeletonTable& t, int32_t) { return FERRULE_KERNELS_OF(i32); }
Kernels<int64_t> kernels_of(const SkeletonTable& t, int64_t) { return FERRULE_KERNELS_OF(i64); }

template <typename T>
void check(const RunShape& s, uint64_t seed) {
  Random random(seed);
  Buffer<T> x(s.outer * s.n * s.inner), expected(x.size());
  random.fill(x, seed % 2 == 0);
  for (const SkeletonTable* table : runnable_skeletons()) {
    INFO(table->target << ", " << sizeof(T) << " bytes, " << s.outer << " x " << s.n << " x " << s.inner);
    const Kernels<T> k = kernels_of(*table, T{});
    for (const bool reverse : {false, true}) {
      for (const bool exclusive : {false, true}) {
        for (const auto& [name, kernel] : {std::pair("cumsum", k.cumsum), std::pair("cumprod", k.cumprod)}) {
          INFO(name << (reverse ? " reverse" : "") << (exclusive ? " exclusive" : ""));
          REQUIRE(reference_cumulative(name, x.data(), s, reverse, exclusive, expected.data()));
          Buffer<T> y(x.size());
          std::memcpy(y.data(), x.data(), x.size() * sizeof(T)); // In place.
          run_halves(s, [&, f = kernel](int64_t begin, int64_t end) {
            f(y.data(), y.data(), s.outer, s.n, s.inner, reverse, exclusive, begin, end);
          });
          REQUIRE(difference(expected, y) == "");
        }
      }
    }
    for (const auto& [name, kernel] : {std::pair("cummax", k.cummax), std::pair("cummin", k.cummin)}) {
      INFO(name);
      REQUIRE(reference_cumulative(name, x.data(), s, false, false, expected.data()));
      Buffer<T> y(x.size());
      run_halves(s, [&, f = kernel](int64_t begin, int64_t end) {
        f(y.data(), x.data(), s.outer, s.n, s.inner, begin, end);
      });
      REQUIRE(difference(expected, y) == "");
    }
    for (const auto& [name, kernel] : {std::pair("cumargmax", k.cumargmax), std::pair("cumargmin", k.cumargmin)}) {
      INFO(name);
      Buffer<int32_t> wanted(x.size()), y(x.size());
      REQUIRE(reference_cumulative_arg(name, x.data(), s, wanted.data()));
      run_halves(s, [&, f = kernel](int64_t begin, int64_t end) {
        f(y.data(), x.data(), s.outer, s.n, s.inner, begin, end);
      });
      REQUIRE(difference(wanted, y) == "");
    }
  }
}

template <typename T, typename Kernel>
void check_recurrence(Kernel kernel, const RunShape& s, uint64_t seed) {
  Random random(seed);
  Buffer<T> a(s.outer * s.n * s.inner), b(a.size()), expected(a.size());
  random.fill(a);
  random.fill(b, seed % 2 == 0);
  for (int mode = 0; mode < 6; ++mode) {
    const bool reverse = mode % 2 != 0, exclusive = mode / 2 == 1, lagged = mode / 2 == 2;
    INFO("linear_recurrence " << reverse << exclusive << lagged << " " << s.outer << " x " << s.n << " x " << s.inner);
    reference_linear_recurrence(a.data(), b.data(), s, reverse, exclusive, lagged, expected.data());
    Buffer<T> y(a.size());
    std::memcpy(y.data(), b.data(), b.size() * sizeof(T));
    run_halves(s, [&](int64_t begin, int64_t end) {
      kernel(y.data(), a.data(), y.data(), s.outer, s.n, s.inner, reverse, exclusive, lagged, begin, end);
    });
    REQUIRE(difference(expected, y) == "");
  }
}

TEST_CASE("runs equal the reference on random shapes") {
  Random random(5);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    const RunShape s{random.between(1, 5), random.between(0, 30), seed % 3 == 0 ? 1 : random.between(1, 40)};
    check<float>(s, seed);
    check<double>(s, seed);
    check<int32_t>(s, seed);
    check<int64_t>(s, seed);
    for (const SkeletonTable* t : runnable_skeletons()) {
      check_recurrence<float>(t->ferrule_linear_recurrence_f32, s, seed);
      check_recurrence<double>(t->ferrule_linear_recurrence_f64, s, seed);
    }
  }
}

TEST_CASE("a sum is serial: the small terms are lost one by one") {
  // 2^24 + 1 rounds to 2^24 each time; added up first, the ones would have counted.
  const float x[] = {16777216, 1, 1, 1, 1};
  for (const SkeletonTable* t : runnable_skeletons()) {
    float y[5];
    t->ferrule_cumsum_f32(y, x, 1, 5, 1, 0, 0, 0, 1);
    REQUIRE(y[4] == 16777216);
    t->ferrule_cumsum_f32(y, x, 1, 5, 1, 1, 0, 0, 1); // From the end: 1, 2, 3, 4, 2^24 + 4.
    REQUIRE(y[0] == 16777220);
  }
}

}  // namespace
}  // namespace ferrule::kernels
