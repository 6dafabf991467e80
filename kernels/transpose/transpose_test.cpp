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

}  // namespace

TEST_CASE("transpose: sizes around squares and blocks") {
  for (const SkeletonTable* table : runnable_skeletons()) {
    for (const int64_t rows : {1, 3, 15, 16, 17, 48, 64, 65, 130}) {
      for (const int64_t columns : {1, 3, 15, 16, 17, 48, 64, 65, 130}) {
        INFO(table->target << " " << rows << " x " << columns);
        for (const int64_t pieces : {1, 3}) {
          check<uint8_t>(table->ferrule_transpose_8, 2, rows, columns, pieces);
          check<uint16_t>(table->ferrule_transpose_16, 2, rows, columns, pieces);
          check<uint32_t>(table->ferrule_transpose_32, 3, rows, columns, pieces);
          check<uint64_t>(table->ferrule_transpose_64, 2, rows, columns, pieces);
        }
      }
    }
  }
}

}  // namespace ferrule::kernels
