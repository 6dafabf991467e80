// Depthwise convolution forward and its gradient with respect to the input: one input channel an output channel, so
// lanes are channels and nothing is broadcast.
#include "kernels/base/define.h"
#include "kernels/conv/strip.h"

namespace ferrule::kernels {
namespace {

template <typename T>
struct DepthwiseStrip {
  void* ctx;
  FerruleStore store;
  int64_t channels;  // also the elements between source pixels
  Strip strip;

  // Outputs j .. j + ROWS - 1 of output row `o` for 16 channels, `source` and `weights` at the first of them. CAREFUL:
  // some column may lie outside, or only `count` of the channels exist.
  template <int ROWS, bool CAREFUL>
  FERRULE_LATE_INLINE void tile(const T* source, const T* weights, OutputRow o, int64_t j, int64_t output_row,
                                int64_t channel, int64_t count) const {
    Tile<T, ROWS, 1> tile;
    Vec<T> total[ROWS][1];
    const Axis& horizontal = strip.horizontal;
    const int64_t taps = strip.depth.kernel * strip.vertical.kernel * horizontal.kernel;
    const int64_t row_stride = strip.source_step * channels;
    for (int64_t block = 0; block < taps; block += kContractionBlock) {
      tile.clear();
      strip.kernel_rows(o, [&](int64_t kernel_row, int64_t row) __attribute__((always_inline)) {
        const auto tap = [&](int64_t t) __attribute__((always_inline)) {
          const int64_t k = kernel_row * horizontal.kernel + t;
          bool exists;
          const int64_t column = strip.source_column(t, &exists) + j * strip.source_step;
          if (!exists || (taps > kContractionBlock && k / kContractionBlock != block / kContractionBlock)) return;
          int64_t begin = 0, end = ROWS;
          if constexpr (CAREFUL) strip.inside(column, ROWS, &begin, &end);
          const T* a = source + (row * horizontal.size + column) * channels;
          const Vec<T> weight = load(weights + k * kLanes);
#pragma unroll
          for (int r = 0; r < ROWS; ++r) {
            if (CAREFUL && (r < begin || r >= end)) continue;
            const Vec<T> x = CAREFUL ? load_first(a + r * row_stride, count) : load(a + r * row_stride);
            tile.acc[r][0] = fused(x, weight, tile.acc[r][0]);
          }
        };
        // Unrolled, taps that meet the same column share its load, which takes registers, and borders lose their
        // comparisons.
        if constexpr (CAREFUL || kAccumulatorRegisters >= 24) {
#pragma unroll
          for (int64_t t = 0; t < horizontal.kernel; ++t) tap(t);
        } else {
#pragma clang loop unroll(disable)
          for (int64_t t = 0; t < horizontal.kernel; ++t) tap(t);
        }
      });
      tile.flush(total, block == 0);
    }
    store_tile<T, ROWS, 1>(ctx, store, total, output_row + strip.first + j * strip.step, strip.step, channel, count);
  }

  // The channels [channel, end) of one row of outputs.
  FERRULE_LATE_INLINE void run(const T* source, const T* weights, OutputRow o, int64_t output_row, int64_t channel,
                               int64_t end) const {
    const int64_t taps = strip.depth.kernel * strip.vertical.kernel * strip.horizontal.kernel;
    const DepthwiseStrip in_memory = *this;  // As in PanelStrip.
    const auto vector = [&](auto ragged, int64_t count) __attribute__((always_inline)) {
      strip.template tiles<T, 1>([&](auto rows, auto border, int64_t j) __attribute__((always_inline)) {
        in_memory.template tile<decltype(rows)::value, decltype(border)::value || decltype(ragged)::value>(
            source + channel, weights + channel * taps, o, j, output_row, channel, count);
      });
    };
    for (; channel + kLanes <= end; channel += kLanes) vector(Border<false>{}, int64_t{kLanes});
    if (channels % kLanes != 0 && channel < end) vector(Border<true>{}, channels % kLanes);
  }
};

// Calls run(row, first channel, end of the channels) for each tile.
template <typename Run>
FERRULE_INLINE void each_tile(int64_t channels, int64_t tile_begin, int64_t tile_end, Run run) {
  const int64_t blocks = ceil_div(channels, kDepthwiseTileChannels);
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t channel = t % blocks * kDepthwiseTileChannels, end = channel + kDepthwiseTileChannels;
    run(t / blocks, channel, end < channels ? end : channels);
  }
}

template <typename T>
FERRULE_INLINE void depthwise(void* ctx, FerruleStore store, const T* x, const T* weights, const ConvShape& s,
                              int64_t tile_begin, int64_t tile_end) {
  const DepthwiseStrip<T> strip{ctx, store, s.in_c, forward_strip(s)};
  each_tile(s.in_c, tile_begin, tile_end, [&](int64_t row, int64_t channel, int64_t end)
                                              __attribute__((always_inline)) {
    const T* image = x + row / (s.out_d * s.out_h) * s.in_d * s.in_h * s.in_w * s.in_c;
    strip.run(image, weights, {row / s.out_h % s.out_d, row % s.out_h}, row * s.out_w, channel, end);
  });
}

template <typename T>
FERRULE_INLINE void depthwise_input_gradient(void* ctx, FerruleStore store, const T* dy, const T* weights,
                                             const ConvShape& s, int64_t tile_begin, int64_t tile_end) {
  each_tile(s.in_c, tile_begin, tile_end, [&](int64_t row, int64_t channel, int64_t end)
                                              __attribute__((always_inline)) {
    const T* image = dy + row / (s.in_d * s.in_h) * s.out_d * s.out_h * s.out_w * s.out_c;
    each_phase(s, [&](int64_t phase) __attribute__((always_inline)) {
      const DepthwiseStrip<T> strip{ctx, store, s.out_c, input_gradient_strip(s, phase)};
      strip.run(image, weights, {row / s.in_h % s.in_d, row % s.in_h}, row * s.in_w, channel, end);
    });
  });
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_DEPTHWISE(S, T)                                                                              \
  FERRULE_DEFINE(void, ferrule_depthwise_##S)                                                                \
  (void* ctx, FerruleStore store, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin,      \
   int64_t tile_end, void*) {                                                                                \
    ferrule::kernels::depthwise(ctx, store, p, q, FERRULE_SHAPE, tile_begin, tile_end);                      \
  }                                                                                                          \
  FERRULE_DEFINE(void, ferrule_depthwise_input_gradient_##S)                                                 \
  (void* ctx, FerruleStore store, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin,      \
   int64_t tile_end, void*) {                                                                                \
    ferrule::kernels::depthwise_input_gradient(ctx, store, p, q, FERRULE_SHAPE, tile_begin, tile_end);       \
  }
FERRULE_DEPTHWISE(f32, float)
FERRULE_DEPTHWISE(f64, double)
