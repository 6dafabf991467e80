// A row of outputs of a dense or grouped convolution against weights in panels.
#ifndef FERRULE_KERNELS_CONV_PANEL_STRIP_H_
#define FERRULE_KERNELS_CONV_PANEL_STRIP_H_

#include "kernels/base/define.h"
#include "kernels/conv/strip.h"

namespace ferrule::kernels {

// What a strip reads. run(pixel, pixel_stride, first, count) gets, in ascending order, the runs of a pixel's channels
// that are neighbours in memory: `count` of them from number `first` on, `pixel_stride` elements before the next
// pixel's.

// Channels [0, channels) of an image.
template <typename T>
struct WholeImage {
  const T* image;
  int64_t pixel_stride;

  template <typename Run>
  FERRULE_INLINE void each_run(int64_t pixel, int64_t channels, Run run) const {
    run(image + pixel * pixel_stride, pixel_stride, int64_t{0}, channels);
  }
  // Whether the next pixel's channels follow those of a pixel.
  FERRULE_INLINE bool is_dense(int64_t channels) const { return pixel_stride == channels; }
};

// The channels of several images of one size, one after the other. Each piece gets code of its own, in which its stride
// is a constant; so the callers bound their number.
template <typename T>
struct ImagePieces {
  const void* const* pieces;
  const int64_t* channels_of;
  int64_t count, first_pixel;

  template <typename Run>
  FERRULE_INLINE void each_run(int64_t pixel, int64_t, Run run) const {
    int64_t first = 0;
#pragma unroll
    for (int64_t i = 0; i < count; ++i) {
      const int64_t channels = channels_of[i];
      run(static_cast<const T*>(pieces[i]) + (first_pixel + pixel) * channels, channels, first, channels);
      first += channels;
    }
  }
  FERRULE_INLINE bool is_dense(int64_t) const { return false; }
};

template <typename T>
struct PanelStrip {
  void* ctx;
  FerruleStore store;
  FerruleFetch fetch;
  const T* panels;       // weights of the first panel of the group: [panel][kd][kh][kw][channels][16]
  int64_t channels;      // contracted channels of the group
  int64_t panel_stride;  // elements between panels
  Strip strip;

  // `length` channels of one tap for all rows (BORDER: for the rows [begin, end)). fetches: fetch_row(r) is due for all
  // rows.
  template <bool BORDER, int ROWS, int PANELS, bool HALF, typename FetchRow>
  FERRULE_INLINE void accumulate(Tile<T, ROWS, PANELS, HALF>& tile, const T* a, int64_t pixel_stride, const T* b,
                                 int64_t length, int64_t begin, int64_t end, bool fetches, FetchRow fetch_row) const {
    const int64_t a_row_stride = strip.source_step * pixel_stride;
    const auto columns = [&](int64_t c, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) out[p] = load_panel<ROWS, HALF>(b + p * panel_stride + c * kLanes);
    };
    if constexpr (BORDER) {
      tile.template accumulate<(ROWS > 1)>(a, a_row_stride, 1, length, columns, begin, end);
    } else {
      tile.accumulate_and_fetch(a, a_row_stride, 1, length, columns, fetches, fetch_row);
    }
  }

  // Outputs j .. j + ROWS - 1 of output row `o`, PANELS panels from `panel` on. `source` is the image, at the group's
  // first channel. BORDER: some column may lie outside; with constant shapes the loop over the kernel's width unrolls
  // and each tap keeps exactly the rows that exist.
  template <int ROWS, int PANELS, bool HALF, bool BORDER, typename Source>
  FERRULE_LATE_INLINE void tile(Source source, OutputRow o, int64_t j, int64_t panel, int64_t output_row,
                                int64_t output_col, int64_t last_count) const {
    Tile<T, ROWS, PANELS, HALF> tile;
    Vec<T> total[ROWS][PANELS];
    tile.clear();
    const Axis& horizontal = strip.horizontal;
    const int64_t taps = strip.depth.kernel * strip.vertical.kernel * horizontal.kernel;
    const bool one_block = taps * channels <= kContractionBlock;
    bool flushed = false;
    int64_t boundary = kContractionBlock;
    const T* weights = panels + panel * panel_stride;
    const auto fetch_row = [&](int64_t r) __attribute__((always_inline)) {
      const int64_t output = j + r + tile.rows_ahead(taps * channels);
      const int64_t row = output_row + strip.first + output * strip.step;
#pragma unroll
      for (int p = 0; p < PANELS; ++p) fetch(ctx, row, output_col + (panel + p) * kLanes);
    };
    bool fetches = fetch != nullptr;
    if (BORDER && fetches) {
#pragma clang loop unroll(disable)
      for (int64_t r = 0; r < ROWS; ++r) fetch_row(r);
      fetches = false;
    }
    // The taps of a row of the kernel are one run where nothing lies between their channels and none is absent: three channels
    // are too few for a loop, 21 are not.
    const bool joined = !BORDER && horizontal.step == 1 && horizontal.divisor == 1 && source.is_dense(channels);
    const int64_t run_taps = joined ? horizontal.kernel : 1, run_channels = run_taps * channels;
    // One row of the kernel on one row of the source.
    const auto taps_of_row = [&](int64_t kernel_row, int64_t row) __attribute__((always_inline)) {
      const auto tap = [&](int64_t t) __attribute__((always_inline)) {
        bool exists;
        const int64_t column = strip.source_column(t, &exists) + j * strip.source_step;
        if (!exists) return;
        int64_t begin = 0, end = ROWS;
        if constexpr (BORDER) {
          strip.inside(column, ROWS, &begin, &end);
          if (begin >= end) return;
        }
        const int64_t tap_k = (kernel_row * horizontal.kernel + t) * channels;
        const auto run = [&](const T* a, int64_t pixel_stride, int64_t first,
                             int64_t count) __attribute__((always_inline)) {
          const int64_t k = tap_k + first;
          const T* b = weights + k * kLanes;
          if (one_block) {
            accumulate<BORDER>(tile, a, pixel_stride, b, count, begin, end, fetches, fetch_row);
            fetches = false;
            return;
          }
          // Absent taps may have passed boundaries: what was gathered before belongs to the block before.
          int64_t c = 0;
          while (c < count) {
            if (k + c >= boundary) {
              tile.flush(total, !flushed);
              flushed = true;
              boundary = (k + c) / kContractionBlock * kContractionBlock + kContractionBlock;
            }
            const int64_t length = boundary - (k + c) < count - c ? boundary - (k + c) : count - c;
            accumulate<BORDER>(tile, a + c, pixel_stride, b + c * kLanes, length, begin, end, fetches, fetch_row);
            fetches = false;
            c += length;
          }
        };
        source.each_run(row * horizontal.size + column, run_channels, run);
      };
      if constexpr (BORDER && ROWS > 1) {
#pragma unroll
        for (int64_t t = 0; t < horizontal.kernel; ++t) tap(t);
      } else {
#pragma clang loop unroll(disable)
        for (int64_t t = 0; t < horizontal.kernel; t += run_taps) tap(t);
      }
    };
    strip.kernel_rows(o, taps_of_row);
    tile.flush(total, one_block || !flushed);
    store_tile<T, ROWS, PANELS>(ctx, store, total, output_row + strip.first + j * strip.step, strip.step,
                                output_col + panel * kLanes, last_count);
  }

  // The whole strip for PANELS panels; HALF as in Tile. A skeleton has many calls of it, of which a shape leaves one or
  // two; taken into each of them, what it chooses among would be most of the skeleton, and the time to read that most
  // of a compilation.
  template <int PANELS, bool HALF, typename Source>
  FERRULE_LATE_INLINE void run(Source source, OutputRow o, int64_t panel, int64_t output_row, int64_t output_col,
                               int64_t last_count) const {
    // The instances read the shape from a copy: a strip whose address they got might have changed after each of them,
    // and the shape that chooses among them would be known only once all were inlined.
    const PanelStrip in_memory = *this;
    strip.template tiles<T, PANELS, HALF>([&](auto rows, auto border, int64_t j) __attribute__((always_inline)) {
      in_memory.template tile<decltype(rows)::value, PANELS, HALF, decltype(border)::value>(
          source, o, j, panel, output_row, output_col, last_count);
    });
  }
};

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_CONV_PANEL_STRIP_H_
