// Convolution forward and its gradient with respect to the input: direct, on channels-last rows.
#include "kernels/conv/panel_strip.h"
#include "kernels/conv/shape.h"

namespace ferrule::kernels {
namespace {

// Whether the last panel of a strip has no more than 8 columns.
template <bool HALF>
struct LastPanel {
  static constexpr bool half = HALF;
};

// Whether the rows of a tile share a set of an 8-way cache, which then holds no more than 8 of them. `row_stride`:
// elements between the source pixels of neighbouring outputs.
template <typename T>
FERRULE_INLINE bool rows_collide(int64_t row_stride) {
  return row_stride * static_cast<int64_t>(sizeof(T)) % 4096 == 0;
}
template <typename T>
FERRULE_INLINE Strip with_height_for(Strip strip, int64_t row_stride) {
  if (rows_collide<T>(row_stride)) strip.tallest = 8;
  return strip;
}

// All tiles (output rows) for the output channels of one group, PANELS panels at a time. Panels are the outer loop:
// the weights of a strip of panels stay in the second-level cache while the rows pass.
template <typename T, typename Rows>
FERRULE_INLINE void for_panels(int64_t columns, int64_t row_stride, Rows rows) {
  const int64_t panels = ceil_div(columns, kLanes);
  const int64_t ragged = columns % kLanes;
  const int64_t last_count = ragged == 0 ? kLanes : ragged;
  // The strip that ends at the last column.
  const auto last_strip = [&](auto width, int64_t panel) __attribute__((always_inline)) {
    if (last_count <= kLanes / 2) return rows(width, LastPanel<true>{}, panel, last_count);
    rows(width, LastPanel<false>{}, panel, last_count);
  };
  const auto strips = [&](auto width) __attribute__((always_inline)) {
    constexpr int kWidth = decltype(width)::value;
    const int64_t whole = panels / kWidth * kWidth;
    const int64_t ends_ragged = ragged != 0 && whole == panels;
    int64_t p = 0;
    for (; p + kWidth <= whole - ends_ragged * kWidth; p += kWidth) rows(width, LastPanel<false>{}, p, int64_t{kLanes});
    if (ends_ragged) last_strip(width, whole - kWidth);
    if (panels % kWidth == 0) return;
    if (kWidth == 3 && panels % kWidth == 2) return last_strip(Height<2>{}, whole);
    for (p = whole; p + 1 < panels; ++p) rows(Height<1>{}, LastPanel<false>{}, p, int64_t{kLanes});
    last_strip(Height<1>{}, panels - 1);
  };
  if constexpr (has_tile<T>(3)) {
    const bool collide = rows_collide<T>(row_stride);
    if (panels > 3 ? collide || (panels % 3 == 0 && panels % 2 != 0) : panels == 3) return strips(Height<3>{});
  }
  if constexpr (has_tile<T>(2)) {
    if (panels > 1) return strips(Height<2>{});
  }
  strips(Height<1>{});
}

// Calls run(begin, end) for parts of the rows [begin, end), each of which all panels are to pass over before the next.
// What a part reads, `row_bytes` a row, stays in a second-level cache meanwhile. The panels are read again for each
// part: where they are larger than what is saved, there is one part.
template <typename T, typename Run>
FERRULE_INLINE void for_parts(int64_t begin, int64_t end, int64_t row_bytes, int64_t panel_stride, int64_t panels,
                              Run run) {
  constexpr int64_t kCacheBytes = 256 << 10;
  const int64_t panel_bytes = panel_stride * static_cast<int64_t>(sizeof(T)), strips = ceil_div(panels, 2);
  const int64_t parts = panels * panel_bytes > kCacheBytes * (strips - 1) ? 1 : (end - begin) * row_bytes / kCacheBytes;
  const int64_t rows = parts <= 1 ? end - begin : ceil_div(end - begin, parts);
#pragma clang loop unroll(disable)
  for (int64_t t = begin; t < end; t += rows) run(t, t + rows < end ? t + rows : end);
}

// `source(n, g)` is image n from group g's first channel on, whose pixels are `pixel_stride` elements apart.
template <typename T, typename Source>
FERRULE_INLINE void conv(void* ctx, FerruleStore store, FerruleFetch fetch, Source source, int64_t pixel_stride,
                         const T* weights, const ConvShape& s, int64_t tile_begin, int64_t tile_end) {
  const int64_t channels = s.in_c / s.groups, columns = s.out_c / s.groups;
  const int64_t panel_stride = s.kernel_d * s.kernel_h * s.kernel_w * channels * kLanes;
  const int64_t group_stride = ceil_div(columns, kLanes) * panel_stride;
  const int64_t rows = s.batch * s.out_d * s.out_h, blocks = conv_column_blocks(s.groups, s.out_c);
  const int64_t block_columns = columns / blocks, block_panels = ceil_div(block_columns, kLanes);
  const int64_t row_bytes = s.stride_h * s.in_w * s.in_c * static_cast<int64_t>(sizeof(T));
  const auto part_of_block = [&](int64_t block, int64_t begin, int64_t end) __attribute__((always_inline)) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const PanelStrip<T> strip{ctx,      store,        fetch,           weights + g * group_stride,
                                channels, panel_stride, with_height_for<T>(forward_strip(s), pixel_stride * s.stride_w)};
      const auto panels = [&](auto width, auto last, int64_t panel, int64_t last_count) __attribute__((always_inline)) {
        for (int64_t t = begin; t < end; ++t) {
          const auto image = source(t / (s.out_d * s.out_h), g);
          const OutputRow row{t / s.out_h % s.out_d, t % s.out_h};
          strip.template run<decltype(width)::value, decltype(last)::half>(image, row, block * block_panels + panel,
                                                                           t * s.out_w, g * columns, last_count);
        }
      };
      for_panels<T>(block_columns, pixel_stride * s.stride_w, panels);
    }
  };
  const auto block_of_columns = [&](int64_t block, int64_t begin, int64_t end) __attribute__((always_inline)) {
    for_parts<T>(begin, end, row_bytes, panel_stride, block_panels,
                 [&](int64_t first, int64_t last)
                     __attribute__((always_inline)) { part_of_block(block, first, last); });
  };
  if (blocks == 1) return block_of_columns(0, tile_begin, tile_end);
  for (int64_t block = tile_begin / rows; block * rows < tile_end; ++block) {
    const int64_t begin = tile_begin - block * rows, end = tile_end - block * rows;
    block_of_columns(block, begin > 0 ? begin : 0, end < rows ? end : rows);
  }
}

template <typename T>
FERRULE_INLINE void conv_of_image(void* ctx, FerruleStore store, FerruleFetch fetch, const T* x, const T* weights,
                                  const ConvShape& s, int64_t tile_begin, int64_t tile_end) {
  const auto image = [&](int64_t n, int64_t g) __attribute__((always_inline)) {
    return WholeImage<T>{x + n * s.in_d * s.in_h * s.in_w * s.in_c + g * (s.in_c / s.groups), s.in_c};
  };
  conv(ctx, store, fetch, image, s.in_c, weights, s, tile_begin, tile_end);
}

template <typename T>
FERRULE_INLINE void conv_of_pieces(void* ctx, FerruleStore store, FerruleFetch fetch, const void* const* pieces,
                                   const int64_t* channels, int64_t count, const T* weights, const ConvShape& s,
                                   int64_t tile_begin, int64_t tile_end) {
  const auto image = [&](int64_t n, int64_t) __attribute__((always_inline)) {
    return ImagePieces<T>{pieces, channels, count, n * s.in_d * s.in_h * s.in_w};
  };
  // Pieces are mostly of one size; that of their rows decides between tiles of the same bits.
  conv(ctx, store, fetch, image, s.in_c / count, weights, s, tile_begin, tile_end);
}

template <typename T>
FERRULE_INLINE void conv_input_gradient(void* ctx, FerruleStore store, FerruleFetch fetch, const T* dy,
                                        const T* weights, const ConvShape& s, int64_t tile_begin, int64_t tile_end) {
  const int64_t channels = s.out_c / s.groups, columns = s.in_c / s.groups;
  const int64_t panel_stride = s.kernel_d * s.kernel_h * s.kernel_w * channels * kLanes;
  const int64_t group_stride = ceil_div(columns, kLanes) * panel_stride;
  const int64_t row_bytes = ceil_div(s.out_w * s.out_c, s.stride_h) * static_cast<int64_t>(sizeof(T));
  const auto part = [&](int64_t phase, int64_t begin, int64_t end) __attribute__((always_inline)) {
    for (int64_t g = 0; g < s.groups; ++g) {
      const PanelStrip<T> strip{ctx,      store,        fetch,           weights + g * group_stride,
                                channels, panel_stride, with_height_for<T>(input_gradient_strip(s, phase), s.out_c)};
      const auto panels = [&](auto width, auto last, int64_t panel, int64_t last_count) __attribute__((always_inline)) {
        for (int64_t t = begin; t < end; ++t) {
          const WholeImage<T> image{dy + t / (s.in_d * s.in_h) * s.out_d * s.out_h * s.out_w * s.out_c + g * channels,
                                    s.out_c};
          const OutputRow row{t / s.in_h % s.in_d, t % s.in_h};
          strip.template run<decltype(width)::value, decltype(last)::half>(image, row, panel, t * s.in_w, g * columns,
                                                                           last_count);
        }
      };
      for_panels<T>(columns, s.out_c, panels);
    }
  };
  each_phase(s, [&](int64_t phase) __attribute__((always_inline)) {
    for_parts<T>(tile_begin, tile_end, row_bytes, panel_stride, ceil_div(columns, kLanes),
                 [&](int64_t begin, int64_t end) __attribute__((always_inline)) { part(phase, begin, end); });
  });
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_CONV(S, T)                                                                                    \
  FERRULE_DEFINE(void, ferrule_conv_##S)                                                                      \
  (void* ctx, FerruleStore store, FerruleFetch fetch, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS,       \
   int64_t tile_begin, int64_t tile_end, void*) {                                                             \
    ferrule::kernels::conv_of_image(ctx, store, fetch, p, q, FERRULE_SHAPE, tile_begin, tile_end);            \
  }                                                                                                           \
  FERRULE_DEFINE(void, ferrule_conv_pieces_##S)                                                               \
  (void* ctx, FerruleStore store, FerruleFetch fetch, const void* const* pieces, const int64_t* channels,     \
   int64_t count, const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin, int64_t tile_end, void*) {        \
    ferrule::kernels::conv_of_pieces(ctx, store, fetch, pieces, channels, count, q, FERRULE_SHAPE, tile_begin, \
                                     tile_end);                                                               \
  }                                                                                                           \
  FERRULE_DEFINE(void, ferrule_conv_input_gradient_##S)                                                       \
  (void* ctx, FerruleStore store, FerruleFetch fetch, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS,       \
   int64_t tile_begin, int64_t tile_end, void*) {                                                             \
    ferrule::kernels::conv_input_gradient(ctx, store, fetch, p, q, FERRULE_SHAPE, tile_begin, tile_end);      \
  }
FERRULE_CONV(f32, float)
FERRULE_CONV(f64, double)
