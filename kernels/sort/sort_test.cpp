// argsort and searchsorted against comparisons: the same positions, at ties too.
#include <algorithm>

#include "catch2/catch.hpp"
#include "kernels/sort/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

template <typename T>
using Argsort = void (*)(int32_t*, const T*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, void*);
template <typename T>
using Search = void (*)(int32_t*, const T*, const T*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

// With few distinct values there are many ties.
template <typename T>
void fill(Random& random, Buffer<T>& x, bool ties) {
  random.fill(x, /*special=*/true);
  for (int64_t i = 0; ties && i < x.size(); ++i) {
    if (random.between(0, 4) > 0) x[i] = static_cast<T>(random.between(-2, 2));
  }
}

template <typename T>
void check_argsort(Argsort<T> argsort, int64_t outer, int64_t n, int64_t inner, uint64_t seed) {
  Random random(seed);
  Buffer<T> x(outer * n * inner);
  fill(random, x, seed % 2 == 0);
  Buffer<uint8_t> scratch(n * static_cast<int64_t>(2 * sizeof(T) + 8));
  for (const bool descending : {false, true}) {
    for (const int64_t k : {n, random.between(0, n)}) {
      INFO(outer << " x " << n << " x " << inner << ", k " << k << (descending ? " descending" : ""));
      Buffer<int32_t> expected(outer * k * inner), y(expected.size());
      reference_argsort(x.data(), outer, n, inner, k, descending, expected.data());
      const int64_t tiles = outer * inner;
      argsort(y.data(), x.data(), n, inner, k, descending, tiles / 2, tiles, scratch.data());
      argsort(y.data(), x.data(), n, inner, k, descending, 0, tiles / 2, scratch.data());
      REQUIRE(difference(expected, y) == "");
    }
  }
}

template <typename T>
void check_search(Search<T> search, int64_t outer, int64_t n, int64_t m, uint64_t seed) {
  Random random(seed);
  Buffer<T> sorted(outer * n), v(outer * m);
  fill(random, sorted, true);
  fill(random, v, true);
  for (int64_t o = 0; o < outer; ++o) {
    std::sort(sorted.data() + o * n, sorted.data() + (o + 1) * n,
              [](T a, T b) { return b != b ? a == a : a < b; });
  }
  for (const bool right : {false, true}) {
    Buffer<int32_t> expected(outer * m), y(expected.size());
    reference_searchsorted(sorted.data(), v.data(), outer, n, m, right, expected.data());
    const int64_t tile_rows = 3, tiles = ceil_div(outer * m, tile_rows);
    search(y.data(), sorted.data(), v.data(), outer, n, m, right, tile_rows, tiles / 2, tiles);
    search(y.data(), sorted.data(), v.data(), outer, n, m, right, tile_rows, 0, tiles / 2);
    REQUIRE(difference(expected, y) == "");
  }
}

TEST_CASE("sorting and searching equal the reference") {
  Random random(3);
  for (int64_t seed = 0; seed < sweep(40); ++seed) {
    const int64_t outer = random.between(1, 3), inner = random.between(1, 4);
    // Below and above the size where the algorithm changes.
    const int64_t n = seed % 2 == 0 ? random.between(0, 45) : random.between(41, 600);
    for (const SkeletonTable* t : runnable_skeletons()) {
      INFO(t->target << " seed " << seed);
      check_argsort<float>(t->ferrule_argsort_f32, outer, n, inner, seed);
      check_argsort<double>(t->ferrule_argsort_f64, outer, n, inner, seed);
      check_argsort<int32_t>(t->ferrule_argsort_i32, outer, n, inner, seed);
      check_argsort<int64_t>(t->ferrule_argsort_i64, outer, n, inner, seed);
      check_search<float>(t->ferrule_searchsorted_f32, outer, n, 17, seed);
      check_search<double>(t->ferrule_searchsorted_f64, outer, n, 17, seed);
      check_search<int32_t>(t->ferrule_searchsorted_i32, outer, n, 17, seed);
      check_search<int64_t>(t->ferrule_searchsorted_i64, outer, n, 17, seed);
    }
  }
}

}  // namespace
}  // namespace ferrule::kernels
