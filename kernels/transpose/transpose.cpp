// Matrices with their axes exchanged, in blocks that stay in the first-level cache.
#include "kernels/base/define.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {
namespace {

// A square of 16 x 16 goes in strips of so many columns: all of them, or, where the registers do not hold the square,
// as many as fill a register for each row. (64-bit ARM has 512 bytes of registers; a square of four-byte elements takes
// 1,024.)
template <typename T>
constexpr int strip_columns() {
#if defined(__ARM_NEON)
  return 16 / static_cast<int>(sizeof(T));
#else
  return kLanes;
#endif
}

template <typename T, int N>
using Row = T __attribute__((ext_vector_type(N)));

template <typename T, T... NUMBERS>
struct Numbers {};

// Rows i and i + DISTANCE of N exchange the lanes whose number has the bit DISTANCE set in one of them and clear in the
// other.
template <int DISTANCE, int N, typename V, int... LANES>
FERRULE_INLINE void exchange_lanes(V (&rows)[N], Numbers<int, LANES...>) {
#pragma unroll
  for (int i = 0; i < N; ++i) {
    if (i & DISTANCE) continue;
    const V a = rows[i], b = rows[i + DISTANCE];
    rows[i] = __builtin_shufflevector(a, b, (LANES & DISTANCE ? N + (LANES ^ DISTANCE) : LANES)...);
    rows[i + DISTANCE] = __builtin_shufflevector(a, b, (LANES & DISTANCE ? N + LANES : LANES | DISTANCE)...);
  }
}

template <int DISTANCE, int N, typename V>
FERRULE_INLINE void transpose_lanes(V (&rows)[N]) {
  if constexpr (DISTANCE > 0) {
    exchange_lanes<DISTANCE>(rows, __make_integer_seq<Numbers, int, N>{});
    transpose_lanes<DISTANCE / 2>(rows);
  }
}

template <typename T>
FERRULE_INLINE void transpose_square(T* y, int64_t y_stride, const T* x, int64_t x_stride) {
  constexpr int kColumns = strip_columns<T>(), kSquares = kLanes / kColumns;
#pragma unroll
  for (int c = 0; c < kLanes; c += kColumns) {
    // Every row of the strip, then squares of it, each transposed: column j of the strip is row j of all.
    Row<T, kColumns> squares[kSquares][kColumns];
#pragma unroll
    for (int r = 0; r < kLanes; ++r) {
      __builtin_memcpy(&squares[r / kColumns][r % kColumns], x + r * x_stride + c, kColumns * sizeof(T));
    }
#pragma unroll
    for (int s = 0; s < kSquares; ++s) transpose_lanes<kColumns / 2>(squares[s]);
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
#pragma unroll
      for (int s = 0; s < kSquares; ++s) {
        __builtin_memcpy(y + (c + j) * y_stride + s * kColumns, &squares[s][j], kColumns * sizeof(T));
      }
    }
  }
}

// The elements of a block that no square of 16 x 16 covers; the longer side is the inner loop.
template <typename T>
FERRULE_INLINE void transpose_rest(T* y, int64_t y_stride, const T* x, int64_t x_stride, int64_t rows,
                                   int64_t columns) {
  if (rows < columns) {
    for (int64_t c = 0; c < columns; ++c) {
#pragma clang loop unroll(disable)
      for (int64_t r = 0; r < rows; ++r) y[c * y_stride + r] = x[r * x_stride + c];
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
#pragma clang loop unroll(disable)
      for (int64_t c = 0; c < columns; ++c) y[c * y_stride + r] = x[r * x_stride + c];
    }
  }
}

template <typename T>
FERRULE_INLINE void transpose_block(T* y, int64_t y_stride, const T* x, int64_t x_stride, int64_t rows,
                                    int64_t columns) {
  const int64_t whole_rows = rows - rows % kLanes, whole_columns = columns - columns % kLanes;
  for (int64_t c = 0; c < whole_columns; c += kLanes) {
    for (int64_t r = 0; r < whole_rows; r += kLanes) {
      transpose_square(y + c * y_stride + r, y_stride, x + r * x_stride + c, x_stride);
    }
  }
  if (whole_columns < columns) {
    transpose_rest(y + whole_columns * y_stride, y_stride, x + whole_columns, x_stride, whole_rows,
                   columns - whole_columns);
  }
  if (whole_rows < rows) {
    transpose_rest(y + whole_rows, y_stride, x + whole_rows * x_stride, x_stride, rows - whole_rows, columns);
  }
}

template <typename T>
FERRULE_INLINE void transpose(T* y, const T* x, int64_t rows, int64_t columns, int64_t tile_begin, int64_t tile_end) {
  const int64_t wide = ceil_div(columns, kTransposeBlock), blocks = ceil_div(rows, kTransposeBlock) * wide;
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t matrix = t / blocks * rows * columns;
    const int64_t r = t % blocks / wide * kTransposeBlock, c = t % wide * kTransposeBlock;
    const int64_t height = r + kTransposeBlock < rows ? kTransposeBlock : rows - r;
    const int64_t width = c + kTransposeBlock < columns ? kTransposeBlock : columns - c;
    transpose_block(y + matrix + c * rows + r, rows, x + matrix + r * columns + c, columns, height, width);
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
