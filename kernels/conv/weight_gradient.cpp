// The gradient of a convolution with respect to its weights, written as rows of the packed weight.
//
// dw[tap][channel][lane] = sum over (n, od, oh, ow) of x[n, id, ih, iw, channel] * dy[n, od, oh, ow, lane]: the
// contraction runs over positions, so one (panel pair, tap) is a product of a channels x positions and a positions x
// lanes matrix. Output positions whose input lies in the padding are absent, which here only shortens loops.
#include "kernels/base/define.h"
#include "kernels/base/lane_transpose.h"
#include "kernels/conv/strip.h"

namespace ferrule::kernels {
namespace {

// A position in the kernel.
struct Tap {
  int64_t d, h, w;
};

template <typename T>
struct WeightGradient {
  void* ctx;
  FerruleStore store;
  const T* x;   // at the group's first input channel
  const T* dy;  // at the group's first output channel
  ConvShape s;

  // Channels [channel, channel + ROWS), PANELS panels whose first column is `column`; the last one has `last_count`
  // columns, and where that is less than 16 (RAGGED) PANELS is 1.
  template <int ROWS, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void tile(Tap at, int64_t channel, int64_t column, int64_t last_count,
                                int64_t weight_row, int64_t panel_rows) const {
    Tile<T, ROWS, PANELS> tile;
    Vec<T> total[ROWS][PANELS];
    tile.clear();
    const int64_t offset_d = at.d * s.dilation_d, offset_h = at.h * s.dilation_h, offset_w = at.w * s.dilation_w;
    const Range planes = outputs_inside(s.out_d, s.in_d, s.stride_d, s.pad_front, offset_d);
    const Range rows = outputs_inside(s.out_h, s.in_h, s.stride_h, s.pad_top, offset_h);
    const Range columns = outputs_inside(s.out_w, s.in_w, s.stride_w, s.pad_left, offset_w);
    const bool one_block = s.batch * s.out_d * s.out_h * s.out_w <= kContractionBlock;
    bool flushed = false;
    int64_t boundary = kContractionBlock;
    const auto row_pair = [&](int64_t input_row, int64_t output_row) __attribute__((always_inline)) {
      const int64_t output = output_row * s.out_w;
      const T* a = x + (input_row * s.in_w - s.pad_left + offset_w) * s.in_c + channel;
      const T* b = dy + output * s.out_c + column;
      int64_t ow = columns.begin;
      while (ow < columns.end) {
        int64_t end = columns.end;
        if (!one_block) {
          if (output + ow >= boundary) {
            tile.flush(total, !flushed);
            flushed = true;
            boundary = (output + ow) / kContractionBlock * kContractionBlock + kContractionBlock;
          }
          if (boundary - output < end) end = boundary - output;
        }
        const auto values = [&](int64_t k, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
#pragma unroll
          for (int p = 0; p < PANELS; ++p) {
            const T* from = b + (ow + k) * s.out_c + p * kLanes;
            out[p] = RAGGED ? load_first(from, last_count) : load(from);
          }
        };
        const int64_t step = s.stride_w * s.in_c;
        tile.accumulate(a + ow * step, 1, step, end - ow, values);
        ow = end;
      }
    };
#pragma clang loop unroll(disable)
    for (int64_t n = 0; n < s.batch; ++n) {
#pragma clang loop unroll(disable)
      for (int64_t od = planes.begin; od < planes.end; ++od) {
        const int64_t input_plane = n * s.in_d + od * s.stride_d - s.pad_front + offset_d;
#pragma clang loop unroll(disable)
        for (int64_t oh = rows.begin; oh < rows.end; ++oh) {
          row_pair(input_plane * s.in_h + oh * s.stride_h - s.pad_top + offset_h,
                   (n * s.out_d + od) * s.out_h + oh);
        }
      }
    }
    tile.flush(total, one_block || !flushed);
    if constexpr (RAGGED) {
      // An infinite input times an absent column is NaN, and padding lanes must be +0.
#pragma unroll
      for (int r = 0; r < ROWS; ++r) total[r][0] = select(lanes_below<T>(last_count), total[r][0], Vec<T>{});
    }
    // Panels lie `panel_rows` rows of the packed weight apart, and every row is 16 wide.
#pragma clang loop unroll(disable)
    for (int p = 0; p < PANELS; ++p) {
#pragma clang loop unroll(disable)
      for (int r = 0; r < ROWS; ++r) store(ctx, weight_row + channel + r + p * panel_rows, 0, kLanes, &total[r][p]);
    }
  }

  template <int PANELS, bool RAGGED>
  FERRULE_INLINE void channels(Tap at, int64_t column, int64_t last_count, int64_t weight_row,
                               int64_t panel_rows) const {
    const int64_t count = s.in_c / s.groups;
    constexpr int64_t kMax = max_rows<T>(PANELS);
    // Tiles of nearly equal height: 16 channels are 8 + 8, not 14 + 2.
    int64_t height = ceil_div(count, ceil_div(count, kMax));
    if (height > 8 && height % 2 != 0) ++height;
    const int64_t whole = count / height * height;
    const auto tiles = [&](int64_t rows, int64_t channel) __attribute__((always_inline)) {
      with_height<T, PANELS>(rows, [&](auto h, int64_t r) __attribute__((always_inline)) {
        tile<decltype(h)::value, PANELS, RAGGED>(at, channel + r, column, last_count, weight_row, panel_rows);
      });
    };
    for (int64_t channel = 0; channel < whole; channel += height) tiles(height, channel);
    if (count % height != 0) tiles(count % height, whole);
  }

  // One tile: the panels 2 * pair and 2 * pair + 1 of group g at one tap.
  FERRULE_INLINE void pair_at(int64_t g, int64_t pair, Tap at) const {
    const int64_t columns = s.out_c / s.groups;
    const int64_t panels = ceil_div(columns, kLanes), ragged = columns % kLanes;
    const int64_t panel_rows = s.kernel_d * s.kernel_h * s.kernel_w * (s.in_c / s.groups);
    const auto row_of = [&](int64_t panel) __attribute__((always_inline)) {
      return (g * panels + panel) * panel_rows + ((at.d * s.kernel_h + at.h) * s.kernel_w + at.w) * (s.in_c / s.groups);
    };
    const int64_t first = pair * 2;
    if constexpr (has_tile<T>(2)) {
      if (columns >= 2 * kLanes && (first + 2) * kLanes <= columns) {
        return channels<2, false>(at, first * kLanes, kLanes, row_of(first), panel_rows);
      }
    }
    for (int64_t panel = first; panel < first + 2 && panel < panels; ++panel) {
      if (ragged != 0 && panel == panels - 1) {
        channels<1, true>(at, panel * kLanes, ragged, row_of(panel), panel_rows);
      } else if (columns >= kLanes) {
        channels<1, false>(at, panel * kLanes, kLanes, row_of(panel), panel_rows);
      }
    }
  }
};

template <typename T>
FERRULE_INLINE void weight_gradient(void* ctx, FerruleStore store, const T* x, const T* dy, const ConvShape& s,
                                    int64_t tile_begin, int64_t tile_end) {
  const int64_t pairs = ceil_div(ceil_div(s.out_c / s.groups, kLanes), 2);
  const int64_t taps = s.kernel_d * s.kernel_h * s.kernel_w;
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t g = t / (pairs * taps);
    const WeightGradient<T> gradient{ctx, store, x + g * (s.in_c / s.groups), dy + g * (s.out_c / s.groups), s};
    const int64_t tap = t % taps;
    gradient.pair_at(g, t / taps % pairs,
                     {tap / (s.kernel_h * s.kernel_w), tap / s.kernel_w % s.kernel_h, tap % s.kernel_w});
  }
}

// Rows [row, row + 16) of a destination panel: row `row + r` has lane r of 16 rows of the source, which lie side by side.
template <typename T>
FERRULE_INLINE void transpose_block(const T* from, T* to) {
  Vec<T> rows[kLanes];
#pragma unroll
  for (int i = 0; i < kLanes; ++i) rows[i] = load(from + i * kLanes);
  transpose_lanes(rows);
#pragma unroll
  for (int i = 0; i < kLanes; ++i) store(to + i * kLanes, rows[i]);
}

// Tile = one destination panel at one tap of one group.
template <typename T>
FERRULE_INLINE void transpose_panels(const T* src, T* dst, int64_t n, int64_t taps, int64_t k, int64_t tile_begin,
                                     int64_t tile_end) {
  const int64_t src_panels = ceil_div(n, kLanes), dst_panels = ceil_div(k, kLanes);
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t tap = t % taps, panel = t / taps % dst_panels, g = t / taps / dst_panels;
    T* to = dst + t * n * kLanes;
    const int64_t whole = (panel + 1) * kLanes <= k ? n - n % kLanes : 0;
    for (int64_t row = 0; row < whole; row += kLanes) {
      transpose_block(src + (((g * src_panels + row / kLanes) * taps + tap) * k + panel * kLanes) * kLanes,
                      to + row * kLanes);
    }
    for (int64_t row = whole; row < n; ++row) {
      const T* from = src + (((g * src_panels + row / kLanes) * taps + tap) * k + panel * kLanes) * kLanes + row % kLanes;
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        to[row * kLanes + lane] = panel * kLanes + lane < k ? from[lane * kLanes] : T(0);
      }
    }
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_WEIGHT_GRADIENT(S, T)                                                                          \
  FERRULE_DEFINE(void, ferrule_conv_weight_gradient_##S)                                                       \
  (void* ctx, FerruleStore store, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin,        \
   int64_t tile_end, void*) {                                                                                  \
    ferrule::kernels::weight_gradient(ctx, store, p, q, FERRULE_SHAPE, tile_begin, tile_end);                  \
  }                                                                                                            \
  FERRULE_DEFINE(void, ferrule_transpose_panels_##S)                                                           \
  (const T* src, T* dst, int64_t, int64_t n, int64_t taps, int64_t k, int64_t tile_begin, int64_t tile_end) {  \
    ferrule::kernels::transpose_panels(src, dst, n, taps, k, tile_begin, tile_end);                            \
  }
FERRULE_WEIGHT_GRADIENT(f32, float)
FERRULE_WEIGHT_GRADIENT(f64, double)
