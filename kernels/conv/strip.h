// The part that convolutions and their input gradients share: which taps meet one row of outputs, and how the row is
// cut into tiles.
//
// All are sums over taps (d, i, j) and channels, where output position o of an axis meets source position
//   (o * scale + start + tap * step) / divisor      forward: scale = stride, start = -pad, step = dilation, divisor = 1
//                                                    input gradient: scale = 1, start = pad, step = -dilation,
//                                                    divisor = stride, absent where the division leaves a rest
// and a position outside the source is absent: it keeps its number in rule (b) and is not multiplied.
#ifndef FERRULE_KERNELS_CONV_STRIP_H_
#define FERRULE_KERNELS_CONV_STRIP_H_

#include "kernels/base/contraction.h"
#include "kernels/conv/shape.h"
#include "kernels/skeletons.h"

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

// The outputs [begin, end) of one axis whose input at `tap` lies inside.
struct Range {
  int64_t begin, end;
};
FERRULE_INLINE Range outputs_inside(int64_t out, int64_t in, int64_t stride, int64_t pad, int64_t offset) {
  const int64_t start = offset - pad;
  const int64_t begin = start >= 0 ? 0 : (-start + stride - 1) / stride;
  int64_t end = in - 1 < start ? 0 : (in - 1 - start) / stride + 1;
  if (end > out) end = out;
  return {begin < end ? begin : end, end};
}

// The two outer coordinates of a row of outputs.
struct OutputRow {
  int64_t depth, height;
};

// Whether some tap of a tile may lie outside the source.
template <bool CAREFUL>
struct Border {
  static constexpr bool value = CAREFUL;
};

// Outputs first, first + step, ... (`count` of them) of one row; a step over several positions walks one stride phase.
// Their source columns are c(tap) + j * source_step for output number j.
struct Strip {
  Axis depth, vertical, horizontal;
  int64_t first, step, count, source_step;
  // No piece is taller, where the shape is constant.
  int64_t tallest = 14;

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

  // Of `rows` outputs whose columns are column, column + source_step, ...: those [begin, end) that lie in the source.
  FERRULE_INLINE void inside(int64_t column, int64_t rows, int64_t* begin, int64_t* end) const {
    *begin = column >= 0 ? 0 : (-column + source_step - 1) / source_step;
    const int64_t room = horizontal.size - 1 - column;
    *end = room < 0 ? 0 : room / source_step + 1;
    if (*end > rows) *end = rows;
  }

  // Calls each(row of the kernel, row of the source) for the rows that meet output row `o`, in the order of k.
  template <typename Each>
  FERRULE_INLINE void kernel_rows(OutputRow o, Each each) const {
#pragma clang loop unroll(disable)
    for (int64_t d = 0; d < depth.kernel; ++d) {
      const int64_t plane = depth.position(o.depth, d);
      if (plane < 0 || plane >= depth.size) continue;
#pragma clang loop unroll(disable)
      for (int64_t i = 0; i < vertical.kernel; ++i) {
        const int64_t row = vertical.position(o.height, i);
        if (row < 0 || row >= vertical.size) continue;
        each(d * vertical.kernel + i, plane * vertical.size + row);
      }
    }
  }

  // The whole strip as calls tile(Height, Border, first output). At a border the first and the last piece stand at constant
  // places when the shape is constant; the pieces between them are interior unless the padding is wider than a piece.
  template <typename T, int PANELS, bool HALF = false, typename Run>
  FERRULE_INLINE void tiles(Run tile) const {
    constexpr int64_t kMax = max_rows<T>(PANELS, HALF);
    int64_t interior_begin, interior_end;
    interior(&interior_begin, &interior_end);
    if (!__builtin_constant_p(interior_begin) || !__builtin_constant_p(count)) {
      int64_t j = 0;
      for (; j < interior_begin && j < count; ++j) tile(Height<1>{}, Border<true>{}, j);
      for (; j + kMax <= interior_end; j += kMax) tile(Height<kMax>{}, Border<false>{}, j);
      for (; j + 4 <= interior_end && kMax > 4; j += 4) tile(Height<smaller(4, kMax)>{}, Border<false>{}, j);
      for (; j < count; ++j) tile(Height<1>{}, Border<true>{}, j);
      return;
    }
    const auto piece = [&](int64_t height, int64_t j) __attribute__((always_inline)) {
      if (j >= interior_begin && j + height <= interior_end) {
        with_height<T, PANELS, HALF>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
          tile(rows, Border<false>{}, j + r);
        });
      } else {
        with_height<T, PANELS, HALF>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
          tile(rows, Border<true>{}, j + r);
        });
      }
    };
    const int64_t pieces = ceil_div(count, kMax < tallest ? kMax : tallest);
    int64_t height = ceil_div(count, pieces);
    if (height > 8 && height % 2 != 0) ++height;
    const int64_t rest = count % height;
    if (count <= height) return piece(count, 0);
    const int64_t last = rest == 0 ? count - height : count - rest;
    const bool is_inside = height >= interior_begin && last <= interior_end;
    // The first and the last piece are of the loop between them where they are as it is: without padding (1x1) one tile is
    // all of the code, and not three.
    int64_t j = is_inside && interior_begin == 0 ? 0 : height;
    const int64_t end = is_inside && rest == 0 && interior_end == count ? count : last;
    if (j != 0) piece(height, 0);
    if (is_inside) {
      for (; j < end; j += height) {
        with_height<T, PANELS, HALF>(height, [&](auto rows, int64_t r) __attribute__((always_inline)) {
          tile(rows, Border<false>{}, j + r);
        });
      }
    } else {
      for (; j < end; ++j) tile(Height<1>{}, Border<true>{}, j);
    }
    if (end != count) piece(rest == 0 ? height : rest, last);
  }
};

FERRULE_INLINE Strip forward_strip(const ConvShape& s) {
  return {{s.kernel_d, s.in_d, s.stride_d, -s.pad_front, s.dilation_d, 1},
          {s.kernel_h, s.in_h, s.stride_h, -s.pad_top, s.dilation_h, 1},
          {s.kernel_w, s.in_w, s.stride_w, -s.pad_left, s.dilation_w, 1},
          0,
          1,
          s.out_w,
          s.stride_w};
}

// The outputs (input columns) of one stride phase; each phase meets its own subset of the kernel's columns.
FERRULE_INLINE Strip input_gradient_strip(const ConvShape& s, int64_t phase) {
  return {{s.kernel_d, s.out_d, 1, s.pad_front, -s.dilation_d, s.stride_d},
          {s.kernel_h, s.out_h, 1, s.pad_top, -s.dilation_h, s.stride_h},
          {s.kernel_w, s.out_w, 1, s.pad_left, -s.dilation_w, s.stride_w},
          phase,
          s.stride_w,
          ceil_div(s.in_w - phase, s.stride_w),
          1};
}

// Calls run(phase) for each stride phase that has outputs. The common strides are written out so that each phase's
// shape is a constant.
template <typename Run>
FERRULE_INLINE void each_phase(const ConvShape& s, Run run) {
  if (s.stride_w == 1) {
    run(0);
  } else if (s.stride_w == 2) {
    run(0);
    if (s.in_w > 1) run(1);
  } else {
    for (int64_t phase = 0; phase < s.stride_w && phase < s.in_w; ++phase) run(phase);
  }
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_CONV_STRIP_H_
