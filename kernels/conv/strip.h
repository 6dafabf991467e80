// The part that convolution and its input gradient share: one row of outputs against weights in panels.
//
// Both are sums over taps (d, i, j) and channels, where output position o of an axis meets source position
//   (o * scale + start + tap * step) / divisor      forward: scale = stride, start = -pad, step = dilation, divisor = 1
//                                                    input gradient: scale = 1, start = pad, step = -dilation,
//                                                    divisor = stride, absent where the division leaves a rest
// and a position outside the source is absent: it keeps its number in rule (b) and is not multiplied.
#ifndef FERRULE_KERNELS_CONV_STRIP_H_
#define FERRULE_KERNELS_CONV_STRIP_H_

#include "kernels/base/contraction.h"
#include "kernels/base/define.h"

namespace ferrule::kernels {

// One axis of the map above, `kernel` taps on a source of `size` positions.
struct Axis {
  int64_t kernel, size, scale, start, step, divisor;

  // The source position of `tap` for output `o`, or a negative number or one beyond `size` if there is none.
  FERRULE_INLINE int64_t position(int64_t o, int64_t tap) const {
    const int64_t p = o * scale + start + tap * step;
    if (divisor == 1) return p;
    return p >= 0 && p % divisor == 0 ? p / divisor : -1;
  }
};

// The two outer coordinates of a row of outputs.
struct OutputRow {
  int64_t depth, height;
};

// Outputs first, first + step, ... (`count` of them) of one row; a step over several positions walks one stride phase.
// Their source columns are c(tap) + j * source_step for output number j.
template <typename T>
struct Strip {
  void* ctx;
  FerruleStore store;
  const T* panels;       // weights of the first panel of the group: [panel][kd][kh][kw][channels][16]
  int64_t channels;      // contracted channels of the group
  int64_t panel_stride;  // elements between panels
  int64_t pixel_stride;  // elements between source pixels
  Axis depth, vertical, horizontal;
  int64_t first, step, count, source_step;

  // The source column of output number 0 at `tap`; `exists` is false where the whole phase has none.
  FERRULE_INLINE int64_t source_column(int64_t tap, bool* exists) const {
    const int64_t p = first * horizontal.scale + horizontal.start + tap * horizontal.step;
    *exists = p % horizontal.divisor == 0;
    return p / horizontal.divisor;
  }

  // The outputs [begin, end) whose taps all lie inside the source.
  FERRULE_INLINE void interior(int64_t* begin, int64_t* end) const {
    const int64_t p0 = first * horizontal.scale + horizontal.start;
    const int64_t p1 = p0 + (horizontal.kernel - 1) * horizontal.step;
    const int64_t lowest = p0 < p1 ? p0 : p1, highest = p0 < p1 ? p1 : p0;
    // Rounding towards the outside may count a column too many as border, never too few.
    const int64_t unit = source_step * horizontal.divisor;
    const int64_t limit = (horizontal.size - 1) * horizontal.divisor - highest;
    *begin = lowest >= 0 ? 0 : (-lowest + unit - 1) / unit;
    *end = limit < 0 ? 0 : limit / unit + 1;
    if (*begin > count) *begin = count;
    if (*end > count) *end = count;
  }

  // One tap's channels for all rows (BORDER: for the rows [begin, end)). `k` is the number of the first channel in the
  // contraction.
  template <int ROWS, int PANELS, bool BORDER>
  FERRULE_INLINE void accumulate(Tile<T, ROWS, PANELS>& tile, const T* a, const T* b, int64_t length, int64_t begin,
                                 int64_t end) const {
    const int64_t a_row_stride = source_step * pixel_stride;
#pragma clang loop unroll(disable)
    for (int64_t c = 0; c < length; ++c) {
      Vec<T> columns[PANELS];
#pragma unroll
      for (int p = 0; p < PANELS; ++p) columns[p] = load(b + p * panel_stride + c * kLanes);
      if constexpr (BORDER) {
        tile.step_rows(a + c, a_row_stride, columns, begin, end);
      } else {
        tile.step(a + c, a_row_stride, columns);
      }
    }
  }

  // Outputs j .. j + ROWS - 1 of output row `o`, PANELS panels from `panel` on. `source` is the image, at the group's
  // first channel. BORDER: some column may lie outside; with constant shapes the loop over the kernel's width unrolls
  // and each tap keeps exactly the rows that exist.
  template <int ROWS, int PANELS, bool BORDER>
  FERRULE_LATE_INLINE void tile(const T* source, OutputRow o, int64_t j, int64_t panel, int64_t output_row,
                                int64_t output_col, int64_t last_count) const {
    Tile<T, ROWS, PANELS> tile;
    Vec<T> total[ROWS][PANELS];
    tile.clear();
    const int64_t taps = depth.kernel * vertical.kernel * horizontal.kernel;
    const bool one_block = taps * channels <= kContractionBlock;
    bool flushed = false;
    int64_t boundary = kContractionBlock;
    const T* weights = panels + panel * panel_stride;
    // One row of the kernel on one row of the source.
    const auto taps_of_row = [&](int64_t kernel_row, int64_t row) __attribute__((always_inline)) {
      const auto tap = [&](int64_t t) __attribute__((always_inline)) {
        bool exists;
        const int64_t column = source_column(t, &exists) + j * source_step;
        if (!exists) return;
        int64_t begin = 0, end = ROWS;
        if constexpr (BORDER) {
          begin = column >= 0 ? 0 : (-column + source_step - 1) / source_step;
          const int64_t room = horizontal.size - 1 - column;
          end = room < 0 ? 0 : room / source_step + 1;
          if (end > ROWS) end = ROWS;
          if (begin >= end) return;
        }
        const T* a = source + (row * horizontal.size + column) * pixel_stride;
        const int64_t k = (kernel_row * horizontal.kernel + t) * channels;
        const T* b = weights + k * kLanes;
        if (one_block) {
          accumulate<ROWS, PANELS, BORDER>(tile, a, b, channels, begin, end);
          return;
        }
        // Absent taps may have passed boundaries: what was gathered before belongs to the block before.
        int64_t c = 0;
        while (c < channels) {
          if (k + c >= boundary) {
            tile.flush(total, !flushed);
            flushed = true;
            boundary = (k + c) / kContractionBlock * kContractionBlock + kContractionBlock;
          }
          const int64_t length = boundary - (k + c) < channels - c ? boundary - (k + c) : channels - c;
          accumulate<ROWS, PANELS, BORDER>(tile, a + c, b + c * kLanes, length, begin, end);
          c += length;
        }
      };
      if constexpr (BORDER && ROWS > 1) {
#pragma unroll
        for (int64_t t = 0; t < horizontal.kernel; ++t) tap(t);
      } else {
#pragma clang loop unroll(disable)
        for (int64_t t = 0; t < horizontal.kernel; ++t) tap(t);
      }
    };
#pragma clang loop unroll(disable)
    for (int64_t d = 0; d < depth.kernel; ++d) {
      const int64_t plane = depth.position(o.depth, d);
      if (plane < 0 || plane >= depth.size) continue;
#pragma clang loop unroll(disable)
      for (int64_t i = 0; i < vertical.kernel; ++i) {
        const int64_t row = vertical.position(o.height, i);
        if (row < 0 || row >= vertical.size) continue;
        taps_of_row(d * vertical.kernel + i, plane * vertical.size + row);
      }
    }
    tile.flush(total, one_block || !flushed);
    store_tile<T, ROWS, PANELS>(ctx, store, total, output_row + first + j * step, step, output_col + panel * kLanes,
                                last_count);
  }

  template <int PANELS>
  FERRULE_INLINE void piece(const Strip& in_memory, int64_t height, int64_t interior_begin, int64_t interior_end,
                            const T* source, OutputRow o, int64_t j, int64_t panel, int64_t output_row,
                            int64_t output_col, int64_t last_count) const {
    if (j >= interior_begin && j + height <= interior_end) {
      with_height<T, PANELS>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
        in_memory.template tile<decltype(rows)::value, PANELS, false>(source, o, j + r, panel, output_row, output_col,
                                                                      last_count);
      });
    } else {
      with_height<T, PANELS>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
        in_memory.template tile<decltype(rows)::value, PANELS, true>(source, o, j + r, panel, output_row, output_col,
                                                                     last_count);
      });
    }
  }

  // The whole strip for PANELS panels. The instances read the shape from a copy: a strip whose address they got might
  // have changed after each of them, and the shape that chooses among them would be known only once all were inlined.
  //
  // The first and the last piece stand at constant places when the shape is constant; the pieces between them are
  // interior unless the padding is wider than a piece.
  template <int PANELS>
  FERRULE_INLINE void run(const T* source, OutputRow o, int64_t panel, int64_t output_row, int64_t output_col,
                          int64_t last_count) const {
    const Strip in_memory = *this;
    int64_t interior_begin, interior_end;
    interior(&interior_begin, &interior_end);
    const auto at = [&](int64_t height, int64_t j) __attribute__((always_inline)) {
      piece<PANELS>(in_memory, height, interior_begin, interior_end, source, o, j, panel, output_row, output_col,
                    last_count);
    };
    if (!__builtin_constant_p(interior_begin) || !__builtin_constant_p(count)) {
      constexpr int kTall = max_rows<T>(PANELS), kLow = smaller(4, kTall);
      const auto one = [&](int64_t j) __attribute__((always_inline)) {
        in_memory.template tile<1, PANELS, true>(source, o, j, panel, output_row, output_col, last_count);
      };
      int64_t j = 0;
      for (; j < interior_begin && j < count; ++j) one(j);
      for (; j + kTall <= interior_end; j += kTall) {
        in_memory.template tile<kTall, PANELS, false>(source, o, j, panel, output_row, output_col, last_count);
      }
      for (; j + 4 <= interior_end && kTall > 4; j += 4) {
        in_memory.template tile<kLow, PANELS, false>(source, o, j, panel, output_row, output_col, last_count);
      }
      for (; j < count; ++j) one(j);
      return;
    }
    constexpr int64_t kMax = max_rows<T>(PANELS);
    const int64_t pieces = ceil_div(count, kMax);
    int64_t height = ceil_div(count, pieces);
    if (height > 8 && height % 2 != 0) ++height;
    const int64_t rest = count % height;
    if (count <= height) return at(count, 0);
    at(height, 0);
    const int64_t last = rest == 0 ? count - height : count - rest;
    if (height >= interior_begin && last <= interior_end) {
      for (int64_t j = height; j < last; j += height) {
        with_height<T, PANELS>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
          in_memory.template tile<decltype(rows)::value, PANELS, false>(source, o, j + r, panel, output_row, output_col,
                                                                        last_count);
        });
      }
    } else {
      for (int64_t j = height; j < last; ++j) {
        in_memory.template tile<1, PANELS, true>(source, o, j, panel, output_row, output_col, last_count);
      }
    }
    at(rest == 0 ? height : rest, last);
  }
};

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_CONV_STRIP_H_
