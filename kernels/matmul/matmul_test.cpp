// Every matmul skeleton against the scalar reference, bit for bit, over random shapes and tiles.
#include "catch2/catch.hpp"
#include "kernels/matmul/reference.h"
#include "kernels/reduce/reference.h"
#include "kernels/testing/matrix_store.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

template <typename T>
auto skeleton(const SkeletonTable& table) {
  if constexpr (sizeof(T) == 4) {
    return table.ferrule_matmul_f32;
  } else {
    return table.ferrule_matmul_f64;
  }
}

struct Case {
  int64_t M, N, K, tile_m, tile_panels;
  bool packed, transposed, special;
  MatmulPanels source = MatmulPanels::kAsTheyAre;
};

template <typename T>
void check(const Case& c, uint64_t seed) {
  Random random(seed);
  const int64_t panels = ceil_div(c.N, 16);
  Buffer<T> a(c.M * c.K + 1), b(c.packed ? panels * c.K * 16 : c.K * c.N + 1);
  random.fill(a, c.special);
  random.fill(b, c.special);
  const int64_t a_row = c.transposed ? 1 : c.K, a_k = c.transposed ? c.M : 1;
  int64_t b_panel = c.packed ? c.K * 16 : 16, b_k = c.packed ? 16 : c.N;
  Buffer<T> expected(c.M * c.N), actual(c.M * c.N), scratch(matmul_scratch_lanes(true, true, c.K, c.tile_panels) + 1);
  reference_matmul(a.data(), a_row, a_k, b.data(), b_panel, b_k, c.M, c.N, c.K, expected.data());
  if (c.source == MatmulPanels::kOfColumns) {
    const std::vector<T> rows(b.data(), b.data() + c.K * c.N);
    for (int64_t k = 0; k < c.K; ++k) {
      for (int64_t n = 0; n < c.N; ++n) b.data()[n * c.K + k] = rows[k * c.N + n];
    }
    b_panel = c.K, b_k = 1;
  }
  const int64_t tiles = matmul_tiles(c.M, c.N, c.tile_m, c.tile_panels);
  for (const SkeletonTable* table : runnable_skeletons()) {
    INFO(table->target << " M " << c.M << " N " << c.N << " K " << c.K << " tile " << c.tile_m << "x" << c.tile_panels
                       << (c.packed ? " packed" : "") << (c.transposed ? " transposed" : ""));
    std::vector<uint8_t> asked((c.M + 14) * c.N);
    for (const FerruleFetch fetch : {FerruleFetch{nullptr}, FerruleFetch{fetch_matrix<T>}}) {
      std::memset(actual.data(), 0xee, actual.size() * sizeof(T));
      Matrix<T> out{actual.data(), c.N, asked.data()};
      // Two ranges, as two threads would take them.
      for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
        skeleton<T> (*table)(&out, store_matrix<T>, fetch, a.data(), a_row, a_k, b.data(), b_panel, b_k, c.packed,
                             static_cast<int64_t>(c.source), c.M, c.N, c.K, c.tile_m, c.tile_panels, begin, end,
                             scratch.data());
      }
      REQUIRE(difference(expected, actual) == "");
    }
    if (c.K < 56) continue;  // Rows of later tiles are asked for, by tiles of any height.
    for (int64_t i = 0; i < c.M * c.N; ++i) REQUIRE(asked[i] == (i % c.N % 16 == 0));
  }
}

TEST_CASE("matmul equals the reference on random shapes") {
  Random random(1);
  for (int64_t seed = 0; seed < sweep(150); ++seed) {
    Case c{};
    c.M = random.between(1, 40);
    c.N = random.between(1, 120);
    c.K = random.between(0, 60);
    c.tile_m = random.between(1, 30);
    c.tile_panels = random.between(1, 6);
    c.packed = random.between(0, 1) == 0;
    c.transposed = random.between(0, 1) == 0;
    c.special = random.between(0, 3) == 0;
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("matmul of one or two rows equals the reference in strips of four panels") {
  Random random(2);
  for (int64_t seed = 0; seed < sweep(40); ++seed) {
    Case c{};
    c.M = random.between(1, 2);
    c.N = random.between(1, 200);
    c.K = random.between(0, 60);
    c.tile_m = random.between(1, 3);
    c.tile_panels = 4 * random.between(1, 2);
    c.packed = random.between(0, 1) == 0;
    c.transposed = random.between(0, 1) == 0;
    c.special = random.between(0, 3) == 0;
    check<float>(c, seed);
    check<double>(c, seed);
  }
}

TEST_CASE("matmul that copies the rows of a tile equals the reference") {
  for (int64_t tile_panels : {8, 9, 16}) {
    for (int64_t N : {17, 130, 260}) {
      REQUIRE(matmul_copies_rows(1, 1024 * sizeof(float), 50, tile_panels));
      check<float>({1024, N, 50, 42, tile_panels, false, true, false}, N);
      check<double>({512, N, 33, 30, tile_panels, true, true, true}, N);
    }
  }
  check<float>({1024, 130, 4096, 42, 8, false, true, false}, 5);
}

TEST_CASE("matmul that copies its panels equals the reference") {
  Random random(3);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    Case c{};
    c.M = random.between(1, 80);
    c.N = random.between(1, 150);
    c.K = random.between(0, 70);
    c.tile_m = random.between(1, 50);
    c.tile_panels = random.between(1, 9);
    c.transposed = random.between(0, 1) == 0;
    c.special = random.between(0, 3) == 0;
    c.source = random.between(0, 1) == 0 ? MatmulPanels::kOfRows : MatmulPanels::kOfColumns;
    check<float>(c, seed);
    check<double>(c, seed);
  }
  // Enough for rows of k to be copied on every target.
  for (bool transposed : {false, true}) {
    check<float>({259, 150, 600, 24, 3, false, transposed, false, MatmulPanels::kOfRows}, 7);
    check<double>({259, 150, 600, 48, 15, false, transposed, true, MatmulPanels::kOfRows}, 8);
  }
  // Rows and panels.
  check<float>({1024, 130, 300, 84, 8, false, true, false, MatmulPanels::kOfRows}, 5);
  check<float>({1024, 130, 300, 84, 8, false, true, false, MatmulPanels::kOfColumns}, 6);
}

TEST_CASE("matmul moves its sums on at every 4,096th k") {
  for (int64_t K : {4095, 4096, 4097, 8192, 9000}) {
    check<float>({9, 33, K, 8, 3, true, false, false}, K);
    check<double>({5, 17, K, 6, 2, false, false, false}, K);
  }
}

// Two [outer, n] row-major; the lanes beyond count are +0, as a generated load leaves them.
template <typename T>
struct RowPair {
  const T* a;
  const T* b;
  int64_t n;
  T* out;
};

template <typename T>
void load_pair(void* ctx, int64_t row, int64_t i, int64_t, int64_t count, void* out) {
  const auto* pair = static_cast<const RowPair<T>*>(ctx);
  auto* lanes = static_cast<T*>(out);
  for (int64_t lane = 0; lane < 16; ++lane) {
    lanes[lane] = lane < count ? pair->a[row * pair->n + i + lane] : T(0);
    lanes[16 + lane] = lane < count ? pair->b[row * pair->n + i + lane] : T(0);
  }
}

template <typename T>
void store_row(void* ctx, int64_t row, int64_t, int64_t, const void* in) {
  static_cast<const RowPair<T>*>(ctx)->out[row] = static_cast<const T*>(in)[0];
}

template <typename T, typename Skeleton>
void check_dot(Skeleton skeleton, int64_t outer, int64_t n, int64_t tile_rows, uint64_t seed, bool special) {
  Random random(seed);
  Buffer<T> a(outer * n + 1), b(outer * n + 1), expected(outer), actual(outer);
  random.fill(a, special);
  random.fill(b, special);
  for (int64_t row = 0; row < outer; ++row) {
    LaneSum<T> sum;
    for (int64_t i = 0; i < n; ++i) sum.add_product(a[row * n + i], b[row * n + i]);
    expected[row] = sum.finish();
  }
  RowPair<T> pair{a.data(), b.data(), n, actual.data()};
  const int64_t tiles = ceil_div(outer, tile_rows);
  skeleton(&pair, load_pair<T>, store_row<T>, outer, n, tile_rows, tiles / 2, tiles);
  skeleton(&pair, load_pair<T>, store_row<T>, outer, n, tile_rows, 0, tiles / 2);
  REQUIRE(difference(expected, actual) == "");
}

TEST_CASE("inner products of rows equal the reference") {
  uint64_t seed = 0;
  for (int64_t n : {0, 1, 15, 16, 17, 100, 4095, 4096, 4097, 8200}) {
    for (const SkeletonTable* table : runnable_skeletons()) {
      INFO(table->target << " n " << n);
      const bool special = ++seed % 3 == 0;
      check_dot<float>(table->ferrule_dot_rows_f32, 9, n, 3, seed, special);
      check_dot<double>(table->ferrule_dot_rows_f64, 5, n, 4, seed, special);
    }
  }
}

TEST_CASE("matmul over no k is +0") { check<float>({3, 20, 0, 14, 2, true, false, false}, 7); }

}  // namespace
}  // namespace ferrule::kernels
