// The loops around elementwise bodies.
#include "kernels/base/define.h"
#include "kernels/base/vector.h"

using ferrule::kernels::kLanes;

FERRULE_DEFINE(void, ferrule_map)
(void* ctx, FerruleBody body, int64_t rows, int64_t cols, int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  const int64_t begin = tile_begin * tile_rows;
  const int64_t end = tile_end * tile_rows < rows ? tile_end * tile_rows : rows;
  const int64_t whole = cols - cols % kLanes;
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t col = 0; col < whole; col += kLanes) body(ctx, row, col, kLanes);
    if (whole < cols) body(ctx, row, whole, cols % kLanes);
  }
}

FERRULE_DEFINE(void, ferrule_map_flat)
(void* ctx, FerruleBody body, int64_t total, int64_t tile_size, int64_t tile_begin, int64_t tile_end) {
  const int64_t begin = tile_begin * tile_size;
  const int64_t end = tile_end * tile_size < total ? tile_end * tile_size : total;
  // Only the last tile can end between two multiples of 16, and it ends at `total`.
  const int64_t whole = end - end % kLanes;
  for (int64_t i = begin; i < whole; i += kLanes) body(ctx, 0, i, kLanes);
  if (total % kLanes != 0 && whole < end) body(ctx, 0, whole, total % kLanes);
}
