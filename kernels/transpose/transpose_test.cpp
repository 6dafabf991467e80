// Every element stands at its place, for sizes around the squares' and the blocks', in any split over tiles.
#include <vector>

#include "catch2/catch.hpp"
#include "kernels/testing/random_data.h"
#include "kernels/testing/skeleton_table.h"

namespace ferrule::kernels {
namespace {

template <typename T, typename Skeleton>
void check(Skeleton skeleton, int64_t batch, int64_t rows, int64_t columns, int64_t pieces) {
  Buffer<T> x(batch * rows * columns), y(batch * rows * columns);
  for (int64_t i = 0; i < batch * rows * columns; ++i) x[i] = static_cast<T>(i * 2654435761u + 1);
  const int64_t tiles = batch * ceil_div(rows, 64) * ceil_div(columns, 64);
  for (int64_t piece = 0; piece < pieces; ++piece)
    skeleton(y.data(), x.data(), batch, rows, columns, tiles * piece / pieces, tiles * (piece + 1) / pieces);
  int64_t wrong = 0;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        wrong += y[(b * columns + c) * rows + r] != x[(b * rows + r) * columns + c];
  CHECK(wrong == 0);
}

template <typename T, typename Skeleton>
void check_copy(Skeleton skeleton, int64_t rows, int64_t length, int64_t stride) {
  Buffer<T> x(rows * length), y(rows * stride);
  for (int64_t i = 0; i < rows * length; ++i) x[i] = static_cast<T>(i * 2654435761u + 1);
  for (int64_t i = 0; i < rows * stride; ++i) y[i] = 7;
  const int64_t tiles = ceil_div(rows, 3);
  skeleton(y.data(), x.data(), rows, length, stride, 3, tiles / 2, tiles);
  skeleton(y.data(), x.data(), rows, length, stride, 3, 0, tiles / 2);
  int64_t wrong = 0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < stride; ++i) wrong += y[r * stride + i] != (i < length ? x[r * length + i] : T(7));
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("copy_rows: lengths around the vectors', what lies between the rows stays") {
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const int64_t rows : {1, 5, 12}) {
      for (const int64_t length : {1, 7, 8, 16, 24, 64, 100}) {
        INFO(table->target << " " << rows << " x " << length);
        check_copy<uint8_t>(table->ferrule_copy_rows_b1, rows, length, length + 9);
        check_copy<uint16_t>(table->ferrule_copy_rows_b2, rows, length, length);
        check_copy<uint32_t>(table->ferrule_copy_rows_b4, rows, length, length + 72);
        check_copy<uint64_t>(table->ferrule_copy_rows_b8, rows, length, length + 1);
      }
    }
  }
}

TEST_CASE("transpose: sizes around squares and blocks") {
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const int64_t rows : {1, 3, 15, 16, 17, 48, 64, 65, 130}) {
      for (const int64_t columns : {1, 3, 15, 16, 17, 48, 64, 65, 130}) {
        INFO(table->target << " " << rows << " x " << columns);
        for (const int64_t pieces : {1, 3}) {
          check<uint8_t>(table->ferrule_transpose_b1, 2, rows, columns, pieces);
          check<uint16_t>(table->ferrule_transpose_b2, 2, rows, columns, pieces);
          check<uint32_t>(table->ferrule_transpose_b4, 3, rows, columns, pieces);
          check<uint64_t>(table->ferrule_transpose_b8, 2, rows, columns, pieces);
        }
      }
    }
  }
}

}  // namespace ferrule::kernels
