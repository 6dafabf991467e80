// Matrices with their axes exchanged, in blocks that stay in the first-level cache.
#include "kernels/base/block_transpose.h"
#include "kernels/base/define.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {
namespace {

template <typename T>
FERRULE_INLINE void transpose(T* y, const T* x, int64_t rows, int64_t columns, int64_t tile_begin, int64_t tile_end) {
  const int64_t wide = ceil_div(columns, kTransposeBlock), blocks = ceil_div(rows, kTransposeBlock) * wide;
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t matrix = t / blocks * rows * columns;
    const int64_t r = t % blocks / wide * kTransposeBlock, c = t % wide * kTransposeBlock;
    const int64_t height = r + kTransposeBlock < rows ? kTransposeBlock : rows - r;
    const int64_t width = c + kTransposeBlock < columns ? kTransposeBlock : columns - c;
    block_transpose::transpose_block(y + matrix + c * rows + r, rows, x + matrix + r * columns + c, columns, height,
                                     width);
  }
}

// Whole vectors, then what is left; a run of constant length leaves straight code.
template <typename T>
FERRULE_INLINE void copy_rows(T* y, const T* x, int64_t rows, int64_t length, int64_t y_stride, int64_t tile_rows,
                              int64_t tile_begin, int64_t tile_end) {
  constexpr int64_t kStep = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t end = tile_end * tile_rows < rows ? tile_end * tile_rows : rows, whole = length - length % kStep;
#pragma clang loop unroll(disable)
  for (int64_t r = tile_begin * tile_rows; r < end; ++r) {
    T* to = y + r * y_stride;
    const T* from = x + r * length;
#pragma clang loop unroll(disable)
    for (int64_t i = 0; i < whole; i += kStep) __builtin_memcpy(to + i, from + i, 64);
#pragma clang loop unroll(disable)
    for (int64_t i = whole; i < length; ++i) to[i] = from[i];
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_TRANSPOSE(S, T)                                                                              \
  FERRULE_DEFINE(void, ferrule_transpose_##S)                                                                \
  (T * y, const T* x, int64_t, int64_t rows, int64_t columns, int64_t tile_begin, int64_t tile_end) {        \
    ferrule::kernels::transpose(y, x, rows, columns, tile_begin, tile_end);                                  \
  }                                                                                                          \
  FERRULE_DEFINE(void, ferrule_copy_rows_##S)                                                                \
  (T * y, const T* x, int64_t rows, int64_t length, int64_t y_stride, int64_t tile_rows, int64_t tile_begin, \
   int64_t tile_end) {                                                                                       \
    ferrule::kernels::copy_rows(y, x, rows, length, y_stride, tile_rows, tile_begin, tile_end);              \
  }
FERRULE_TRANSPOSE(b1, uint8_t)
FERRULE_TRANSPOSE(b2, uint16_t)
FERRULE_TRANSPOSE(b4, uint32_t)
FERRULE_TRANSPOSE(b8, uint64_t)
