// Reading and writing at indexed places against the scalar reference, bit for bit, over any split into tiles.
#include "catch2/catch.hpp"
#include "kernels/gather/reference.h"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"
#include "kernels/testing/sweep.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t kTileRows = 3;

// Runs kernel(tile_begin, tile_end, error) as two threads, the later tiles first, and returns the lowest position of
// their errors, or -1.
template <typename Kernel>
int64_t run_halves(int64_t tiles, Kernel kernel) {
  int64_t first = -1;
  for (const auto& [begin, end] : {std::pair(tiles / 2, tiles), std::pair(int64_t{0}, tiles / 2)}) {
    FerruleKernelError error{};
    const int32_t result = kernel(begin, end, &error);
    if (result == kFerruleKernelOk) continue;
    REQUIRE(result == kFerruleKernelIndexOutOfAxis);
    if (first < 0 || error.position < first) first = error.position;
  }
  return first;
}

// Indices of an axis of n elements, negative ones among them; with `stray` now and then one outside.
template <typename Index>
void fill_indices(Random& random, Index* indices, int64_t count, const std::vector<int64_t>& sizes, bool stray) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t n = sizes[i % sizes.size()];
    indices[i] = static_cast<Index>(random.between(-n, n - 1));
    if (stray && random.between(0, 30) == 0) indices[i] = static_cast<Index>(random.between(0, 1) ? n : -n - 1);
  }
}

template <typename T>
void fill(Random& random, Buffer<T>& buffer) {
  if constexpr (std::is_floating_point_v<T>) {
    random.fill(buffer);
  } else {
    for (int64_t i = 0; i < buffer.size(); ++i) buffer[i] = static_cast<T>(random.between(0, 250));
  }
}

template <typename T, typename Index, typename Take>
void check_take(Take take, const VectorShape& s, uint64_t seed) {
  Random random(seed);
  const int64_t count = static_cast<int64_t>(s.sizes.size());
  int64_t positions = 1;
  for (const int64_t size : s.sizes) positions *= size;
  Buffer<T> x(s.outer * positions * s.inner), expected(s.outer * s.m * s.inner), y(expected.size());
  fill(random, x);
  Buffer<Index> indices(s.m * count);
  fill_indices(random, indices.data(), indices.size(), s.sizes, seed % 2 == 0);
  const int64_t wanted = reference_take(x.data(), indices.data(), s, expected.data());
  const int64_t first = run_halves(ceil_div(s.outer * s.m, kTileRows), [&](int64_t begin, int64_t end, auto* error) {
    return take(y.data(), x.data(), indices.data(), s.outer, s.m, s.inner, count, sizeof(Index), kTileRows,
                s.sizes.data(), begin, end, error);
  });
  REQUIRE(difference(expected, y) == "");
  REQUIRE(first == (s.outer == 0 ? -1 : wanted));
}

template <typename T, typename Index, typename Put>
void check_put(Put put, const VectorShape& s, bool add, uint64_t seed) {
  Random random(seed);
  const int64_t count = static_cast<int64_t>(s.sizes.size());
  int64_t positions = 1;
  for (const int64_t size : s.sizes) positions *= size;
  Buffer<T> x(s.outer * positions * s.inner), v(s.outer * s.m * s.inner), expected(x.size());
  fill(random, x);
  fill(random, v);
  Buffer<Index> indices(s.m * count);
  fill_indices(random, indices.data(), indices.size(), s.sizes, seed % 2 == 0);
  const int64_t wanted = reference_put(x.data(), indices.data(), v.data(), s, add, expected.data());
  for (const int64_t ranges : {1, 3}) {
    for (const bool in_place : {false, true}) {
      Buffer<T> y(x.size());
      if (in_place) std::memcpy(y.data(), x.data(), x.size() * sizeof(T));
      const int64_t first = run_halves(s.outer * ranges, [&](int64_t begin, int64_t end, auto* error) {
        return put(y.data(), in_place ? y.data() : x.data(), indices.data(), v.data(), s.outer, s.m, s.inner, count,
                   sizeof(Index), ranges, s.sizes.data(), begin, end, error);
      });
      REQUIRE(difference(expected, y) == "");
      REQUIRE(first == wanted);
    }
  }
}

template <typename T, typename Index, typename Gather>
void check_gather(Gather gather, const GatherShape& s, uint64_t seed) {
  Random random(seed);
  Buffer<T> x(s.outer * s.n * s.inner), expected(s.outer * s.m * s.inner), y(expected.size());
  fill(random, x);
  Buffer<Index> indices(expected.size());
  fill_indices(random, indices.data(), indices.size(), {s.n}, seed % 2 == 0);
  const int64_t wanted = reference_gather(x.data(), indices.data(), s, expected.data());
  const int64_t first = run_halves(ceil_div(s.outer * s.m, kTileRows), [&](int64_t begin, int64_t end, auto* error) {
    return gather(y.data(), x.data(), indices.data(), s.outer, s.n, s.m, s.inner, sizeof(Index), kTileRows, begin, end,
                  error);
  });
  REQUIRE(difference(expected, y) == "");
  REQUIRE(first == wanted);
}

template <typename T, typename Index, typename Scatter>
void check_scatter(Scatter scatter, const GatherShape& s, bool add, uint64_t seed) {
  Random random(seed);
  Buffer<T> x(s.outer * s.n * s.inner), v(s.outer * s.m * s.inner), expected(x.size());
  fill(random, x);
  fill(random, v);
  Buffer<Index> indices(v.size());
  fill_indices(random, indices.data(), indices.size(), {s.n}, seed % 2 == 0);
  const int64_t wanted = reference_scatter(x.data(), indices.data(), v.data(), s, add, expected.data());
  for (const bool in_place : {false, true}) {
    Buffer<T> y(x.size());
    if (in_place) std::memcpy(y.data(), x.data(), x.size() * sizeof(T));
    const int64_t first = run_halves(s.outer * ceil_div(s.inner, 16), [&](int64_t begin, int64_t end, auto* error) {
      return scatter(y.data(), in_place ? y.data() : x.data(), indices.data(), v.data(), s.outer, s.n, s.m, s.inner,
                     sizeof(Index), begin, end, error);
    });
    REQUIRE(difference(expected, y) == "");
    REQUIRE(first == wanted);
  }
}

template <typename T, typename Update>
void check_update(Update update, const std::vector<SliceAxis>& axes, int64_t inner, uint64_t seed) {
  // The reference sees the contiguous elements as one more axis, taken whole.
  std::vector<SliceAxis> all = axes;
  all.push_back(SliceAxis{inner, 0, 1, inner});
  int64_t elements = 1, updates = 1, rows = 1;
  for (const SliceAxis& axis : all) elements *= axis.size, updates *= axis.count;
  for (size_t k = 0; k + 1 < axes.size(); ++k) rows *= axes[k].size;
  Random random(seed);
  Buffer<T> x(elements), v(updates), expected(elements);
  fill(random, x);
  fill(random, v);
  reference_update_slice(x.data(), v.data(), all, expected.data());
  for (const bool in_place : {false, true}) {
    Buffer<T> y(elements);
    if (in_place) std::memcpy(y.data(), x.data(), elements * sizeof(T));
    run_halves(ceil_div(rows, kTileRows), [&](int64_t begin, int64_t end, auto*) {
      update(y.data(), in_place ? y.data() : x.data(), v.data(), static_cast<int64_t>(axes.size()), inner, kTileRows,
             &axes[0].size, begin, end);
      return static_cast<int32_t>(kFerruleKernelOk);
    });
    REQUIRE(difference(expected, y) == "");
  }
}

SliceAxis random_slice(Random& random) {
  SliceAxis axis{random.between(1, 9), 0, random.between(1, 3), 0};
  axis.start = random.between(0, axis.size - 1);
  axis.count = random.between(0, (axis.size - 1 - axis.start) / axis.step + 1);
  if (axis.count > 0 && random.between(0, 1)) {  // The same elements backwards.
    axis.start += (axis.count - 1) * axis.step;
    axis.step = -axis.step;
  }
  return axis;
}

TEST_CASE("indexed reads and writes equal the reference on random shapes") {
  Random random(7);
  for (int64_t seed = 0; seed < sweep(60); ++seed) {
    VectorShape s{random.between(1, 3), random.between(0, 20), random.between(1, 70), {}};
    for (int64_t k = random.between(1, 3); k > 0; --k) s.sizes.push_back(random.between(1, 6));
    const GatherShape g{random.between(1, 4), random.between(1, 9), random.between(0, 9), random.between(1, 40)};
    for (const SkeletonTable* t : runnable_skeletons()) {
      INFO(t->target << " seed " << seed);
      check_take<uint8_t, int32_t>(t->ferrule_take_b1, s, seed);
      check_take<uint16_t, int64_t>(t->ferrule_take_b2, s, seed);
      check_take<uint32_t, int32_t>(t->ferrule_take_b4, s, seed);
      check_take<uint64_t, int64_t>(t->ferrule_take_b8, s, seed);
      check_put<uint8_t, int64_t>(t->ferrule_put_b1, s, false, seed);
      check_put<uint16_t, int32_t>(t->ferrule_put_b2, s, false, seed);
      check_put<uint32_t, int64_t>(t->ferrule_put_b4, s, false, seed);
      check_put<uint64_t, int32_t>(t->ferrule_put_b8, s, false, seed);
      check_put<float, int32_t>(t->ferrule_put_add_f32, s, true, seed);
      check_put<double, int64_t>(t->ferrule_put_add_f64, s, true, seed);
      check_put<int32_t, int32_t>(t->ferrule_put_add_i32, s, true, seed);
      check_put<int64_t, int64_t>(t->ferrule_put_add_i64, s, true, seed);
      check_gather<uint8_t, int32_t>(t->ferrule_gather_b1, g, seed);
      check_gather<uint16_t, int64_t>(t->ferrule_gather_b2, g, seed);
      check_gather<uint32_t, int64_t>(t->ferrule_gather_b4, g, seed);
      check_gather<uint64_t, int32_t>(t->ferrule_gather_b8, g, seed);
      check_scatter<uint8_t, int32_t>(t->ferrule_scatter_b1, g, false, seed);
      check_scatter<uint16_t, int64_t>(t->ferrule_scatter_b2, g, false, seed);
      check_scatter<uint32_t, int64_t>(t->ferrule_scatter_b4, g, false, seed);
      check_scatter<uint64_t, int32_t>(t->ferrule_scatter_b8, g, false, seed);
      check_scatter<float, int64_t>(t->ferrule_scatter_add_f32, g, true, seed);
      check_scatter<double, int32_t>(t->ferrule_scatter_add_f64, g, true, seed);
      check_scatter<int32_t, int64_t>(t->ferrule_scatter_add_i32, g, true, seed);
      check_scatter<int64_t, int32_t>(t->ferrule_scatter_add_i64, g, true, seed);
    }
  }
}

TEST_CASE("panel_take: rows and columns of a matrix in panels") {
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const int64_t n : {1, 15, 16, 17, 50}) {
      for (const int64_t k : {1, 7, 33}) {
        for (const bool columns : {false, true}) {
          INFO(table->target << ", n = " << n << ", k = " << k << ", columns " << columns);
          const int64_t m = 10, size = columns ? n : k, length = columns ? k : n;
          Random random(n * 100 + k);
          Buffer<uint32_t> panels(ceil_div(n, 16) * k * 16), matrix(size * length), expected(m * length), y(m * length);
          fill(random, panels);
          for (int64_t i = 0; i < size; ++i)
            for (int64_t j = 0; j < length; ++j) {
              const int64_t column = columns ? i : j, row = columns ? j : i;
              matrix[i * length + j] = panels[(column / 16 * k + row) * 16 + column % 16];
            }
          Buffer<int32_t> indices(m);
          fill_indices(random, indices.data(), m, {size}, n % 2 == 0);
          const VectorShape shape{1, m, length, {size}};
          const int64_t wanted = reference_take(matrix.data(), indices.data(), shape, expected.data());
          const int64_t first = run_halves(ceil_div(m, kTileRows), [&](int64_t begin, int64_t end, auto* error) {
            return table->ferrule_panel_take_b4(y.data(),
                                                panels.data(), indices.data(), m, n,
                                                k, columns, 4, kTileRows, begin, end, error);
          });
          CHECK(first == wanted);
          CHECK(difference(expected, y) == "");
        }
      }
    }
  }
}

TEST_CASE("replaced slices equal the reference on random shapes") {
  Random random(8);
  for (int64_t seed = 0; seed < sweep(80); ++seed) {
    std::vector<SliceAxis> axes;
    for (int64_t k = random.between(1, 4); k > 0; --k) axes.push_back(random_slice(random));
    const int64_t inner = random.between(1, 40);
    for (const SkeletonTable* t : runnable_skeletons()) {
      INFO(t->target << " seed " << seed);
      check_update<uint8_t>(t->ferrule_update_slice_b1, axes, inner, seed);
      check_update<uint16_t>(t->ferrule_update_slice_b2, axes, inner, seed);
      check_update<uint32_t>(t->ferrule_update_slice_b4, axes, inner, seed);
      check_update<uint64_t>(t->ferrule_update_slice_b8, axes, inner, seed);
    }
  }
}

TEST_CASE("the error is the first index outside, with its axis") {
  const uint32_t x[6] = {0, 1, 2, 3, 4, 5};
  // Vectors (1, -1), (0, 3), (-3, 0) into [2, 3].
  const int32_t indices[] = {1, -1, 0, 3, -3, 0};
  const int64_t table[] = {2, 3};
  for (const SkeletonTable* t : runnable_skeletons()) {
    uint32_t y[3];
    FerruleKernelError error{};
    REQUIRE(t->ferrule_take_b4(y, x, indices, 1, 3, 1, 2, 4, 1, table, 0, 3, &error) == kFerruleKernelIndexOutOfAxis);
    REQUIRE(y[0] == 5);
    REQUIRE(y[1] == 0);
    REQUIRE(error.position == 3);
    REQUIRE(error.value == 3);
    REQUIRE(error.limit == 3);
  }
}

}  // namespace
}  // namespace ferrule::kernels
