// Blocks of a matrix with its axes exchanged, in registers.
#ifndef FERRULE_KERNELS_BASE_BLOCK_TRANSPOSE_H_
#define FERRULE_KERNELS_BASE_BLOCK_TRANSPOSE_H_

#include "kernels/base/vector.h"

namespace ferrule::kernels::block_transpose {

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

// y[c * y_stride + r] = x[r * x_stride + c] for c < columns, r < rows.
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

}  // namespace ferrule::kernels::block_transpose

#endif  // FERRULE_KERNELS_BASE_BLOCK_TRANSPOSE_H_
