// The gradient of a depthwise convolution with respect to its weights, written as rows of the packed weight.
//
// dw[tap][channel] = sum over (n, od, oh, ow) of x[n, id, ih, iw, channel] * dy[n, od, oh, ow, channel]. Each sum is
// serial, so speed comes from channels in lanes and from several taps at once, which also share the loads of dy. All
// kernel rows of a tile range take part in one pass over the images; their sums wait in memory while another row has
// the registers.
#include "kernels/base/define.h"
#include "kernels/conv/strip.h"

namespace ferrule::kernels {
namespace {

// Kernel rows of one pass.
inline constexpr int64_t kPassRows = 8;

// Taps of a kernel row that are summed at once.
template <typename T>
constexpr int64_t max_width() {
  return smaller(7, max_rows<T>(1));
}

template <typename T>
struct DepthwiseWeightGradient {
  const T* x;   // at the first of the channels
  const T* dy;  // the same
  ConvShape s;
  int64_t count;  // channels, at most 16

  // The sums of some kernel rows and up to max_width taps of each.
  struct Sums {
    Vec<T> acc[kPassRows][max_width<T>()], total[kPassRows][max_width<T>()];
  };

  // ROWS kernel rows by WIDTH taps from `first_tap` on, over the outputs [begin, end) of one row of dy. `x_row` is the
  // row of x that the first of the kernel rows meets. RAGGED: there are less than 16 channels.
  template <int ROWS, int WIDTH, bool RAGGED>
  FERRULE_LATE_INLINE void accumulate(const T* x_row, const T* dy_row, int64_t begin, int64_t end, int64_t first_tap,
                                      Vec<T> (*sums)[max_width<T>()], int64_t first_column) const {
    Vec<T> acc[ROWS][WIDTH];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) acc[r][j] = sums[r][first_column + j];
    }
    const auto element = [&](const T* from) __attribute__((always_inline)) {
      return RAGGED ? load_first(from, count) : load(from);
    };
    const auto position = [&](int64_t ow, auto border) __attribute__((always_inline)) {
      const Vec<T> g = element(dy_row + ow * s.out_c);
      const int64_t column = ow * s.stride_w - s.pad_left + first_tap * s.dilation_w;
      const T* a = x_row + column * s.in_c;
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) {
        const int64_t at = column + j * s.dilation_w;
        if (decltype(border)::value && (at < 0 || at >= s.in_w)) continue;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
          acc[r][j] = fused(element(a + (r * s.dilation_h * s.in_w + j * s.dilation_w) * s.in_c), g, acc[r][j]);
        }
      }
    };
    // The outputs for which every tap lies inside: the first tap is the last to enter, the last one the first to leave.
    const auto inside = [&](int64_t tap) __attribute__((always_inline)) {
      return outputs_inside(s.out_w, s.in_w, s.stride_w, s.pad_left, tap * s.dilation_w);
    };
    const int64_t inside_begin = inside(first_tap).begin, inside_end = inside(first_tap + WIDTH - 1).end;
    int64_t ow = begin;
#pragma clang loop unroll(disable)
    for (; ow < end && ow < inside_begin; ++ow) position(ow, Border<true>{});
#pragma clang loop unroll(disable)
    for (; ow < end && ow < inside_end; ++ow) position(ow, Border<false>{});
#pragma clang loop unroll(disable)
    for (; ow < end; ++ow) position(ow, Border<true>{});
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) sums[r][first_column + j] = acc[r][j];
    }
  }

  // The same for any number of kernel rows and of taps up to max_width.
  template <bool RAGGED>
  FERRULE_INLINE void kernel_rows(int64_t rows, int64_t width, const T* x_row, const T* dy_row, int64_t begin,
                                  int64_t end, int64_t first_tap, Vec<T> (*sums)[max_width<T>()]) const {
    with_height<T, 1>(width, [&](auto taps, int64_t first) __attribute__((always_inline)) {
      constexpr int kWidth = smaller(decltype(taps)::value, max_width<T>());
      constexpr int kJoint = RAGGED || max_rows<T>(1) < 2 * kWidth ? 1 : smaller(3, max_rows<T>(1) / kWidth);
      const int64_t stride = s.dilation_h * s.in_w * s.in_c;
      int64_t r = 0;
      const auto joint = [&](auto height) __attribute__((always_inline)) {
        accumulate<decltype(height)::value, kWidth, RAGGED>(x_row + r * stride, dy_row, begin, end, first_tap + first,
                                                            sums + r, first);
        r += decltype(height)::value;
      };
#pragma clang loop unroll(disable)
      while (r + kJoint <= rows) joint(Height<kJoint>{});
      if constexpr (kJoint > 2) {
        if (r + 2 <= rows) joint(Height<2>{});
      }
      if constexpr (kJoint > 1) {
        if (r < rows) joint(Height<1>{});
      }
    });
  }

  static FERRULE_INLINE void flush(Sums& sums) {
#pragma clang loop unroll(disable)
    for (int64_t r = 0; r < kPassRows; ++r) {
#pragma unroll
      for (int64_t j = 0; j < max_width<T>(); ++j) {
        sums.total[r][j] = sums.total[r][j] + sums.acc[r][j];
        sums.acc[r][j] = Vec<T>{};
      }
    }
  }

  // One row of dy, outputs [begin, end), with those of the kernel rows [first, last) that meet the input.
  template <bool RAGGED>
  FERRULE_INLINE void output_row(int64_t n, int64_t od, int64_t oh, int64_t begin, int64_t end, int64_t first,
                                 int64_t last, int64_t first_tap, int64_t width, Sums& sums) const {
    const T* dy_row = dy + ((n * s.out_d + od) * s.out_h + oh) * s.out_w * s.out_c;
    const int64_t top = oh * s.stride_h - s.pad_top;
#pragma clang loop unroll(disable)
    for (int64_t d = first / s.kernel_h; d * s.kernel_h < last; ++d) {
      const int64_t plane = od * s.stride_d - s.pad_front + d * s.dilation_d;
      if (plane < 0 || plane >= s.in_d) continue;
      const int64_t row = d * s.kernel_h;
      // Kernel rows i with 0 <= top + i * dilation_h < in_h.
      int64_t i = top >= 0 ? 0 : (-top + s.dilation_h - 1) / s.dilation_h;
      int64_t stop = top >= s.in_h ? 0 : (s.in_h - 1 - top) / s.dilation_h + 1;
      if (i < first - row) i = first - row;
      if (stop > s.kernel_h) stop = s.kernel_h;
      if (stop > last - row) stop = last - row;
      if (i >= stop) continue;
      const T* x_row = x + ((n * s.in_d + plane) * s.in_h + top + i * s.dilation_h) * s.in_w * s.in_c;
      kernel_rows<RAGGED>(stop - i, width, x_row, dy_row, begin, end, first_tap, sums.acc + (row + i - first));
    }
  }

  // One pass over the images: the kernel rows [first, last), `width` taps of each from `first_tap` on.
  template <bool RAGGED>
  FERRULE_INLINE void pass(void* ctx, FerruleStore store, int64_t weight_row, int64_t first, int64_t last,
                           int64_t first_tap, int64_t width) const {
    Sums sums;
#pragma clang loop unroll(disable)
    for (int64_t r = 0; r < kPassRows; ++r) {
#pragma unroll
      for (int64_t j = 0; j < max_width<T>(); ++j) sums.acc[r][j] = sums.total[r][j] = Vec<T>{};
    }
    const int64_t output_rows = s.batch * s.out_d * s.out_h;
#pragma clang loop unroll(disable)
    for (int64_t row = 0; row < output_rows; ++row) {
      // Blocks of the sum end inside rows; padding counts.
      int64_t begin = 0;
#pragma clang loop unroll(disable)
      while (begin < s.out_w) {
        const int64_t k = row * s.out_w + begin;
        int64_t end = begin + kContractionBlock - k % kContractionBlock;
        const bool block_ends = end <= s.out_w;
        if (!block_ends) end = s.out_w;
        output_row<RAGGED>(row / (s.out_d * s.out_h), row / s.out_h % s.out_d, row % s.out_h, begin, end, first, last,
                           first_tap, width, sums);
        if (block_ends) flush(sums);
        begin = end;
      }
    }
    flush(sums);
#pragma clang loop unroll(disable)
    for (int64_t r = first; r < last; ++r) {
#pragma clang loop unroll(disable)
      for (int64_t j = 0; j < width; ++j) {
        store(ctx, weight_row + r * s.kernel_w + first_tap + j, 0, kLanes, &sums.total[r - first][j]);
      }
    }
  }

  // The kernel rows [first, last).
  template <bool RAGGED>
  FERRULE_INLINE void run(void* ctx, FerruleStore store, int64_t weight_row, int64_t first, int64_t last) const {
    // Nearly equal widths: 7 taps are 4 + 3 where 6 fit.
    const int64_t width = ceil_div(s.kernel_w, ceil_div(s.kernel_w, max_width<T>()));
    const int64_t whole = s.kernel_w / width * width;
    const auto taps = [&](int64_t first_tap, int64_t tap_count) __attribute__((always_inline)) {
#pragma clang loop unroll(disable)
      for (int64_t r = first; r < last; r += kPassRows) {
        pass<RAGGED>(ctx, store, weight_row, r, r + kPassRows < last ? r + kPassRows : last, first_tap, tap_count);
      }
    };
    for (int64_t t = 0; t < whole; t += width) taps(t, width);
    if (s.kernel_w % width != 0) taps(whole, s.kernel_w % width);
  }
};

template <typename T>
FERRULE_INLINE void depthwise_weight_gradient(void* ctx, FerruleStore store, const T* x, const T* dy,
                                              const ConvShape& s, int64_t tile_begin, int64_t tile_end) {
  const int64_t kernel_rows = s.kernel_d * s.kernel_h;
  int64_t t = tile_begin;
  while (t < tile_end) {
    const int64_t panel = t / kernel_rows, first = t % kernel_rows;
    const int64_t last = kernel_rows - first < tile_end - t ? kernel_rows : first + tile_end - t;
    const int64_t channel = panel * kLanes, weight_row = panel * kernel_rows * s.kernel_w;
    if (channel + kLanes <= s.in_c) {
      const DepthwiseWeightGradient<T> gradient{x + channel, dy + channel, s, kLanes};
      gradient.template run<false>(ctx, store, weight_row, first, last);
    } else if (s.in_c % kLanes != 0) {
      const DepthwiseWeightGradient<T> gradient{x + channel, dy + channel, s, s.in_c % kLanes};
      gradient.template run<true>(ctx, store, weight_row, first, last);
    }
    t += last - first;
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_DEPTHWISE_WEIGHT_GRADIENT(S, T)                                                             \
  FERRULE_DEFINE(void, ferrule_depthwise_weight_gradient_##S)                                               \
  (void* ctx, FerruleStore store, const T* p, const T* q, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin,     \
   int64_t tile_end, void*) {                                                                               \
    ferrule::kernels::depthwise_weight_gradient(ctx, store, p, q, FERRULE_SHAPE, tile_begin, tile_end);     \
  }
FERRULE_DEPTHWISE_WEIGHT_GRADIENT(f32, float)
FERRULE_DEPTHWISE_WEIGHT_GRADIENT(f64, double)
