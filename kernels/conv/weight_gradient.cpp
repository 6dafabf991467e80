// The gradient of a convolution with respect to its weights, written as rows of the packed weight.
//
// dw[tap][channel][lane] = sum over (n, od, oh, ow) of x[n, id, ih, iw, channel] * dy[n, od, oh, ow, lane]: the
// contraction runs over positions, so one (panel pair, tap) is a product of a channels x positions and a positions x
// lanes matrix. Output positions whose input lies in the padding are absent, which here only shortens loops.
//
// There may be far more positions than caches hold of x and dy. They are taken in blocks, over each of which the
// register tiles of several tiles of threads pass before the next, so that x is read once for these; meanwhile the sums
// of a tile wait in scratch. What order a sum has is not changed by this: its positions come in ascending order all the
// same. Of dy, a block of two panels is copied first: its rows lie out_c elements apart, and all register tiles read
// them.
//
// No sum runs over input channels, so x may lie in pieces that share them: each piece has rows of its own.
#include "kernels/base/define.h"
#include "kernels/base/lane_transpose.h"
#include "kernels/conv/strip.h"

namespace ferrule::kernels {
namespace {

// A position in the kernel.
struct Tap {
  int64_t d, h, w;
};

// What a tile of threads computes: rows of the packed weight from `weight_row` on, in panels that lie `panel_rows` rows
// apart. The first one's first column is `column`; the last one has `last_count` columns.
struct WeightRows {
  Tap at;
  int64_t column, last_count, weight_row, panel_rows;
};

// What a register tile will read in the next block, and so many positions ahead, is asked for: from position to
// position the addresses lie too far apart for the processor to foresee them. Not where that takes the place of
// products (see matmul).
inline constexpr bool kPrefetches = !kMultipliesByElement;
inline constexpr int64_t kAhead = 16;

// `count` of the input channels of a group, from number `first` on.
template <typename T>
struct InputChannels {
  const T* x;            // at the first of them
  int64_t pixel_stride;  // elements from one pixel to the next
  int64_t first, count;
};

// The segments [first, end) of positions for the channels [channel, channel_end). `copies`: the columns of this pair of
// panels in this block are not in the copy yet.
struct Part {
  int64_t channel, channel_end, first, end;
  bool copies;
};

template <typename T>
struct WeightGradient {
  void* ctx;
  FerruleStore store;
  InputChannels<T> input;
  const T* dy;  // at the group's first output channel
  ConvShape s;
  bool merges;  // the taps of a kernel row count as channels
  T* sums;      // of the tile of threads
  T* copy;      // of dy, for a block of positions

  // The sums of a register tile between two blocks of positions.
  template <int ROWS, int PANELS>
  struct Sums {
    Vec<T> acc[ROWS][PANELS], total[ROWS][PANELS];
  };

  // Positions are cut into segments: rows of the output, or parts of long rows.
  FERRULE_INLINE int64_t row_segments() const { return ceil_div(s.out_w, kWeightGradientBlock); }
  FERRULE_INLINE int64_t segments() const { return s.batch * s.out_d * s.out_h * row_segments(); }
  FERRULE_INLINE int64_t position(int64_t segment) const {
    return segment / row_segments() * s.out_w + segment % row_segments() * kWeightGradientBlock;
  }
  FERRULE_INLINE int64_t block_segments() const {
    return s.out_w == 0 || s.out_w > kWeightGradientBlock ? 1 : kWeightGradientBlock / s.out_w;
  }

  // The outputs of a row that a tile meets at all (`some`), and those for which all its rows have an input (`all`).
  struct Columns {
    Range some, all;
  };
  FERRULE_INLINE Columns columns_of(Tap at, int64_t channel, int64_t rows) const {
    if (!merges) {
      const Range inside = outputs_inside(s.out_w, s.in_w, s.stride_w, s.pad_left, at.w * s.dilation_w);
      return {inside, inside};
    }
    // The first tap is the last to enter, and the last one the first to leave.
    const int64_t first = channel / s.in_c, last = (channel + rows - 1) / s.in_c;
    const auto begin = [&](int64_t tap) { return tap > s.pad_left ? 0 : ceil_div(s.pad_left - tap, s.stride_w); };
    const auto end = [&](int64_t tap) {
      const int64_t room = s.in_w - 1 + s.pad_left - tap;
      return room < 0 ? 0 : least(s.out_w, room / s.stride_w + 1);
    };
    return {{begin(last), end(first)}, {begin(first), end(last)}};
  }
  static FERRULE_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

  // Channels [channel, channel + ROWS) of the segments [first, end); `sums` holds what came before. RAGGED: PANELS is
  // 1, with less than 16 columns.
  template <int ROWS, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void tile(const WeightRows& weight, int64_t channel, int64_t first, int64_t end,
                                T* waiting) const {
    Sums<ROWS, PANELS> own;
    const bool begins = first == 0, ends = end == segments();
    Sums<ROWS, PANELS>& sums = begins && ends ? own : *reinterpret_cast<Sums<ROWS, PANELS>*>(waiting);
    Tile<T, ROWS, PANELS> tile;
    tile.clear();
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        if (begins) {
          sums.total[r][p] = Vec<T>{};
        } else {
          tile.acc[r][p] = sums.acc[r][p];
        }
      }
    }
    add_segments<ROWS, PANELS, RAGGED>(weight, channel, first, end, tile, sums.total);
    if (ends) {
      tile.flush(sums.total, false);
      return store_sums<ROWS, PANELS, RAGGED>(weight, channel, sums.total);
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) sums.acc[r][p] = tile.acc[r][p];
    }
  }

  template <int ROWS, int PANELS, bool RAGGED>
  FERRULE_INLINE void add_segments(const WeightRows& weight, int64_t channel, int64_t first, int64_t end,
                                   Tile<T, ROWS, PANELS>& tile, Vec<T> (&total)[ROWS][PANELS]) const {
    const Tap at = weight.at;
    const int64_t offset_d = at.d * s.dilation_d, offset_h = at.h * s.dilation_h, offset_w = at.w * s.dilation_w;
    const Range planes = outputs_inside(s.out_d, s.in_d, s.stride_d, s.pad_front, offset_d);
    const Range rows = outputs_inside(s.out_h, s.in_h, s.stride_h, s.pad_top, offset_h);
    const Columns columns = columns_of(at, channel, ROWS);
    const int64_t row_parts = row_segments(), step = s.stride_w * input.pixel_stride;
    const int64_t row_stride = s.in_w * input.pixel_stride;
    const int64_t next_x = row_parts == 1 ? block_segments() * s.stride_h * row_stride : kWeightGradientBlock * step;
    const int64_t copied = position(first);
    const bool one_block = s.batch * s.out_d * s.out_h * s.out_w <= kContractionBlock;
    int64_t boundary = position(first) / kContractionBlock * kContractionBlock + kContractionBlock;
#pragma clang loop unroll(disable)
    for (int64_t segment = first; segment < end; ++segment) {
      const int64_t row = segment / row_parts, oh = row % s.out_h, od = row / s.out_h % s.out_d;
      if (oh < rows.begin || oh >= rows.end || od < planes.begin || od >= planes.end) continue;
      const int64_t plane = row / (s.out_h * s.out_d) * s.in_d + od * s.stride_d - s.pad_front + offset_d;
      const int64_t input_row = plane * s.in_h + oh * s.stride_h - s.pad_top + offset_h;
      const T* a = input.x + input_row * row_stride + (offset_w - s.pad_left) * input.pixel_stride + channel;
      const T* b = copy + (row * s.out_w - copied) * (PANELS * kLanes);
      const T* next_a = a + next_x;
      // Outputs [ow, stop), of which only the channels [lowest, highest) have an input.
      const auto add = [&](int64_t ow, int64_t stop, int64_t lowest, int64_t highest) __attribute__((always_inline)) {
        while (ow < stop) {
          int64_t until = stop;
          if (!one_block) {
            if (row * s.out_w + ow >= boundary) {
              tile.flush(total, false);
              boundary = (row * s.out_w + ow) / kContractionBlock * kContractionBlock + kContractionBlock;
            }
            if (boundary - row * s.out_w < until) until = boundary - row * s.out_w;
          }
          const auto values = [&](int64_t k, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
#pragma unroll
            for (int p = 0; p < PANELS; ++p) {
              out[p] = load(b + (ow + k) * (PANELS * kLanes) + p * kLanes);
            }
            if (kPrefetches) {
              // From memory for the next block, and from the second-level cache for the next positions.
              __builtin_prefetch(next_a + (ow + k) * step, 0, 2);
              __builtin_prefetch(a + (ow + k + kAhead) * step);
              if (ROWS > 8) __builtin_prefetch(a + (ow + k + kAhead) * step + ROWS - 1);
            }
          };
          tile.accumulate(a + ow * step, 1, step, until - ow, values, lowest, highest);
          ow = until;
        }
      };
      // Outputs [ow, stop) one by one: some taps of the kernel row lie outside.
      const auto add_border = [&](int64_t ow, int64_t stop) __attribute__((always_inline)) {
#pragma clang loop unroll(disable)
        for (; ow < stop; ++ow) {
          const int64_t column = ow * s.stride_w - s.pad_left;
          const int64_t lowest = -column * s.in_c - channel, highest = (s.in_w - column) * s.in_c - channel;
          add(ow, ow + 1, lowest < 0 ? 0 : lowest, least(highest, ROWS));
        }
      };
      const int64_t begin = segment % row_parts * kWeightGradientBlock, limit = begin + kWeightGradientBlock;
      const auto clipped = [&](int64_t column) __attribute__((always_inline)) {
        return column < begin ? begin : least(column, limit);
      };
      const int64_t inside_begin = clipped(columns.all.begin), inside_end = clipped(columns.all.end);
      if (merges) add_border(clipped(columns.some.begin), least(inside_begin, clipped(columns.some.end)));
      add(inside_begin, inside_end, 0, ROWS);
      if (merges) add_border(inside_end < inside_begin ? inside_begin : inside_end, clipped(columns.some.end));
    }
    // What waits is from one block of the sum.
    if (!one_block && end < segments() && boundary <= position(end)) tile.flush(total, false);
  }

  template <int ROWS, int PANELS, bool RAGGED>
  FERRULE_INLINE void store_sums(const WeightRows& weight, int64_t channel, Vec<T> (&total)[ROWS][PANELS]) const {
    if constexpr (RAGGED) {
      // An infinite input times an absent column is NaN, and padding lanes must be +0.
#pragma unroll
      for (int r = 0; r < ROWS; ++r) total[r][0] = select(lanes_below<T>(weight.last_count), total[r][0], Vec<T>{});
    }
#pragma clang loop unroll(disable)
    for (int p = 0; p < PANELS; ++p) {
#pragma clang loop unroll(disable)
      for (int r = 0; r < ROWS; ++r)
        store(ctx, weight.weight_row + channel + r + p * weight.panel_rows, 0, kLanes, &total[r][p]);
    }
  }

  // The columns of a part, side by side, and +0 where there is no column. What follows them is asked for.
  template <int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void copy_columns(const WeightRows& weight, const Part& part) const {
    const int64_t begin = position(part.first), count = position(part.end) - begin;
    const T* from = dy + begin * s.out_c + weight.column;
    const int64_t next = count * s.out_c;
#pragma clang loop unroll_count(2)
    for (int64_t i = 0; i < count; ++i) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        const T* at = from + i * s.out_c + p * kLanes;
        ferrule::kernels::store(copy + (i * PANELS + p) * kLanes,
                                RAGGED ? load_first(at, weight.last_count) : load(at));
        if (kPrefetches) __builtin_prefetch(at + next, 0, 2);
      }
    }
  }

  // A tile of threads in a part.
  template <int PANELS, bool RAGGED>
  FERRULE_INLINE void channels(const WeightRows& weight, const Part& part) const {
    const int64_t count = all_channels(), height = tile_height<PANELS>();
    const int64_t whole = part.channel + (part.channel_end - part.channel) / height * height;
    if (part.copies) copy_columns<PANELS, RAGGED>(weight, part);
    const auto tiles = [&](int64_t rows, int64_t channel) __attribute__((always_inline)) {
      with_height<T, PANELS>(
          rows, [&](auto h, int64_t r) __attribute__((always_inline)) {
            T* waiting = sums + (channel + r - part.channel) * (2 * PANELS * kLanes);
            tile<decltype(h)::value, PANELS, RAGGED>(weight, channel + r, part.first, part.end, waiting);
          });
    };
    for (int64_t channel = part.channel; channel < whole; channel += height) tiles(height, channel);
    if (count % height != 0 && whole < part.channel_end) tiles(count % height, whole);
  }
  // Elements of the sums of a tile of threads.
  FERRULE_INLINE int64_t sums_stride() const { return conv_weight_gradient_sums(s.groups, s.in_c, s.kernel_w, merges); }
  FERRULE_INLINE int64_t all_channels() const { return merges ? s.kernel_w * s.in_c : input.count; }
  // Tiles of nearly equal height: 16 channels are 8 + 8, not 14 + 2.
  template <int PANELS>
  FERRULE_INLINE int64_t tile_height() const {
    constexpr int64_t kMax = max_rows<T>(PANELS);
    const int64_t count = all_channels();
    const int64_t height = ceil_div(count, ceil_div(count, kMax));
    return height > 8 && height % 2 != 0 ? height + 1 : height;
  }

  // One tile: the panels 2 * pair and 2 * pair + 1 of group g at one tap.
  FERRULE_INLINE void pair_at(int64_t g, int64_t pair, Tap at, const Part& part) const {
    const int64_t columns = s.out_c / s.groups;
    const int64_t panels = ceil_div(columns, kLanes), ragged = columns % kLanes;
    const int64_t panel_rows = s.kernel_d * s.kernel_h * s.kernel_w * (s.in_c / s.groups);
    const auto rows_of = [&](int64_t panel, int64_t last_count) __attribute__((always_inline)) {
      const int64_t tap = (at.d * s.kernel_h + at.h) * s.kernel_w + at.w;
      const int64_t weight_row = (g * panels + panel) * panel_rows + tap * (s.in_c / s.groups) + input.first;
      return WeightRows{at, panel * kLanes, last_count, weight_row, panel_rows};
    };
    const int64_t first_panel = pair * 2;
    if constexpr (has_tile<T>(2)) {
      if (columns >= 2 * kLanes && (first_panel + 2) * kLanes <= columns)
        return channels<2, false>(rows_of(first_panel, kLanes), part);
    }
    WeightGradient one = *this;
    for (int64_t panel = first_panel; panel < first_panel + 2 && panel < panels; ++panel) {
      if (ragged != 0 && panel == panels - 1) {
        one.template channels<1, true>(rows_of(panel, ragged), part);
      } else if (columns >= kLanes) {
        one.template channels<1, false>(rows_of(panel, kLanes), part);
      }
      one.sums += sums_stride() / 2;
      one.copy += kWeightGradientCopied / 2;
    }
  }
};

// With a kernel of one tap that meets every position, all positions are one row.
FERRULE_INLINE ConvShape flatten(ConvShape s) {
  const bool one_tap = s.kernel_d * s.kernel_h * s.kernel_w == 1 && s.stride_d * s.stride_h * s.stride_w == 1;
  if (!one_tap || s.pad_front != 0 || s.pad_top != 0 || s.pad_left != 0) return s;
  if (s.in_d != s.out_d || s.in_h != s.out_h || s.in_w != s.out_w) return s;
  s.in_w = s.out_w = s.batch * s.out_d * s.out_h * s.out_w;
  s.batch = s.in_d = s.out_d = s.in_h = s.out_h = 1;
  return s;
}

// The tiles [begin, end) as one group; gradient_of(tile) is the WeightGradient of a tile.
template <typename T, typename GradientOf>
FERRULE_INLINE void tiles_of_group(GradientOf gradient_of, int64_t begin, int64_t end) {
  const WeightGradient<T> any = gradient_of(begin);
  const ConvShape& s = any.s;
  const int64_t pairs = ceil_div(ceil_div(s.out_c / s.groups, kLanes), 2), taps_w = any.merges ? 1 : s.kernel_w;
  const int64_t taps = s.kernel_d * s.kernel_h * taps_w;
  const int64_t channels = any.all_channels(), segments = any.segments(), block = any.block_segments();
  // A multiple of the height of all register tiles: of so many channels it does not depend on the number of panels.
  constexpr int kPanels = has_tile<T>(2) ? 2 : 1;
  const int64_t height = any.template tile_height<kPanels>();
  const int64_t most = kWeightGradientChannels / height * height;
#pragma clang loop unroll(disable)
  for (int64_t channel = 0; channel < channels; channel += most) {
    const int64_t channel_end = channel + most < channels ? channel + most : channels;
    int64_t first = 0;
#pragma clang loop unroll(disable)
    do {
      const int64_t last = first + block < segments ? first + block : segments;
#pragma clang loop unroll(disable)
      for (int64_t t = begin; t < end; ++t) {
        WeightGradient<T> gradient = gradient_of(t);
        gradient.sums += (t - begin) * any.sums_stride();
        const int64_t tap = t % taps;
        gradient.pair_at(t / (pairs * taps), t / taps % pairs,
                         {tap / (s.kernel_h * taps_w), tap / taps_w % s.kernel_h, tap % taps_w},
                         {channel, channel_end, first, last, t == begin || tap == 0});
      }
      first = last;
    } while (first < segments);
  }
}

// `input(g)` is the InputChannels of group g.
template <typename T, typename Input>
FERRULE_INLINE void weight_gradient(void* ctx, FerruleStore store, Input input, const T* dy, const ConvShape& s,
                                    bool merges, int64_t tile_begin, int64_t tile_end, void* scratch) {
  const int64_t pairs = ceil_div(ceil_div(s.out_c / s.groups, kLanes), 2), taps_w = merges ? 1 : s.kernel_w;
  const int64_t tiles_of_g = pairs * s.kernel_d * s.kernel_h * taps_w;
  T* const copy = static_cast<T*>(scratch);
  const auto gradient_of = [&](int64_t t) __attribute__((always_inline)) {
    const int64_t g = t / tiles_of_g;
    return WeightGradient<T>{
        ctx, store, input(g), dy + g * (s.out_c / s.groups), s, merges, copy + kWeightGradientCopied, copy};
  };
#pragma clang loop unroll(disable)
  for (int64_t t = tile_begin; t < tile_end; t += kWeightGradientTiles) {
    const int64_t end = t + kWeightGradientTiles;
    tiles_of_group<T>(gradient_of, t, end < tile_end ? end : tile_end);
  }
}

template <typename T>
FERRULE_INLINE void weight_gradient_of_image(void* ctx, FerruleStore store, const T* x, const T* dy,
                                             const ConvShape& shape, int64_t tile_begin, int64_t tile_end,
                                             void* scratch) {
  const bool merges = weight_gradient_merges_taps(shape.groups, shape.in_c, shape.kernel_w, shape.dilation_w);
  const int64_t channels = shape.in_c / shape.groups;
  const auto input = [&](int64_t g) __attribute__((always_inline)) {
    return InputChannels<T>{x + g * channels, shape.in_c, 0, channels};
  };
  weight_gradient(ctx, store, input, dy, flatten(shape), merges, tile_begin, tile_end, scratch);
}

// Each piece has code of its own, in which its stride is a constant, as in the forward convolution (panel_strip.h).
template <typename T>
FERRULE_INLINE void weight_gradient_of_pieces(void* ctx, FerruleStore store, const void* const* pieces,
                                              const int64_t* channels, int64_t count, const T* dy,
                                              const ConvShape& shape, int64_t tile_begin, int64_t tile_end,
                                              void* scratch) {
  const ConvShape s = flatten(shape);
  const int64_t tiles =
      conv_weight_gradient_tiles(1, s.in_c, s.out_c, s.kernel_d, s.kernel_h, s.kernel_w, s.dilation_w, count) / count;
  int64_t first = 0;
#pragma unroll
  for (int64_t i = 0; i < count; ++i) {
    const auto input = [&](int64_t) __attribute__((always_inline)) {
      return InputChannels<T>{static_cast<const T*>(pieces[i]), channels[i], first, channels[i]};
    };
    const int64_t begin = tile_begin - i * tiles, end = tile_end - i * tiles;
    weight_gradient(ctx, store, input, dy, s, /*merges=*/false, begin > 0 ? begin : 0, end < tiles ? end : tiles,
                    scratch);
    first += channels[i];
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
   int64_t tile_end, void* scratch) {                                                                          \
    ferrule::kernels::weight_gradient_of_image(ctx, store, p, q, FERRULE_SHAPE, tile_begin, tile_end,          \
                                               scratch);                                                       \
  }                                                                                                            \
  FERRULE_DEFINE(void, ferrule_conv_pieces_weight_gradient_##S)                                                \
  (void* ctx, FerruleStore store, const void* const* pieces, const int64_t* channels, int64_t count,           \
   const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin, int64_t tile_end, void* scratch) {                \
    ferrule::kernels::weight_gradient_of_pieces(ctx, store, pieces, channels, count, q, FERRULE_SHAPE,         \
                                                tile_begin, tile_end, scratch);                                \
  }                                                                                                            \
  FERRULE_DEFINE(void, ferrule_transpose_panels_##S)                                                           \
  (const T* src, T* dst, int64_t, int64_t n, int64_t taps, int64_t k, int64_t tile_begin, int64_t tile_end) {  \
    ferrule::kernels::transpose_panels(src, dst, n, taps, k, tile_begin, tile_end);                            \
  }
FERRULE_WEIGHT_GRADIENT(f32, float)
FERRULE_WEIGHT_GRADIENT(f64, double)
