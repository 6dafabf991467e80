// Maximum and average pooling on channels-last images, lanes along the channels; and their gradients.
#include "kernels/conv/shape.h"
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
namespace {

// The taps of one axis that lie inside the image, for one output position.
struct Taps {
  int64_t begin, end, first;  // taps [begin, end); tap i reads position first + i
};
FERRULE_INLINE Taps taps_inside(int64_t o, int64_t stride, int64_t pad, int64_t kernel, int64_t size) {
  const int64_t first = o * stride - pad;
  const int64_t begin = first < 0 ? -first : 0;
  const int64_t end = size - first < kernel ? size - first : kernel;
  return {begin, end < begin ? begin : end, first};
}

template <typename Window>
FERRULE_INLINE void for_windows(const ConvShape& s, int64_t oh, Window window) {
  const Taps rows = taps_inside(oh, s.stride_h, s.pad_top, s.kernel_h, s.in_h);
  for (int64_t ow = 0; ow < s.out_w; ++ow) window(ow, rows, taps_inside(ow, s.stride_w, s.pad_left, s.kernel_w, s.in_w));
}

template <typename Chunk>
FERRULE_INLINE void for_channels(int64_t channels, Chunk chunk) {
  const int64_t whole = channels - channels % kLanes;
  for (int64_t c = 0; c < whole; c += kLanes) chunk(c, int64_t{kLanes});
  if (channels % kLanes != 0) chunk(whole, channels % kLanes);
}

// Visits the elements of a window in scan order: tap(number of the tap, offset of the pixel in the image).
template <typename Tap>
FERRULE_INLINE void for_taps(const ConvShape& s, const Taps& rows, const Taps& columns, Tap tap) {
  for (int64_t i = rows.begin; i < rows.end; ++i) {
    for (int64_t j = columns.begin; j < columns.end; ++j) {
      tap(i * s.kernel_w + j, ((rows.first + i) * s.in_w + columns.first + j) * s.in_c);
    }
  }
}

template <typename T>
FERRULE_INLINE void max_pool(void* ctx, FerruleStore store, const T* x, const ConvShape& s, int64_t tile_begin,
                             int64_t tile_end) {
  using Max = Extremum<T, true>;
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const T* image = x + t / s.out_h * s.in_h * s.in_w * s.in_c;
    for_windows(s, t % s.out_h, [&](int64_t ow, Taps rows, Taps columns) __attribute__((always_inline)) {
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        Vec<T> largest = splat(Max::identity());
        for_taps(s, rows, columns, [&](int64_t, int64_t offset) __attribute__((always_inline)) {
          largest = Max::combine(largest, load_first(image + offset + c, count));
        });
        store(ctx, t * s.out_w + ow, c, count, &largest);
      });
    });
  }
}

template <typename T>
FERRULE_INLINE void clear_image(T* image, int64_t elements) {
  for_channels(elements, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    store_first(image + i, Vec<T>{}, count);
  });
}

template <typename T>
FERRULE_INLINE void max_pool_gradient(const T* x, const T* dy, T* dx, const ConvShape& s, int64_t tile_begin,
                                      int64_t tile_end) {
  using Bits = typename LaneTraits<T>::Bits;
  const int64_t elements = s.in_h * s.in_w * s.in_c;
  for (int64_t n = tile_begin; n < tile_end; ++n) {
    const T* image = x + n * elements;
    T* gradient = dx + n * elements;
    clear_image(gradient, elements);
    for (int64_t oh = 0; oh < s.out_h; ++oh) {
      for_windows(s, oh, [&](int64_t ow, Taps rows, Taps columns) __attribute__((always_inline)) {
        const T* cotangent = dy + ((n * s.out_h + oh) * s.out_w + ow) * s.in_c;
        for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
          // The first largest element: a later one wins only if it is larger, or is the first NaN.
          Vec<T> largest = splat(-LaneTraits<T>::kInfinity);
          Vec<Bits> winner = splat(Bits(-1));
          for_taps(s, rows, columns, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
            const Vec<T> value = load_first(image + offset + c, count);
            const Vec<Bits> wins = (winner < splat(Bits(0))) | (value > largest) | ((value != value) & (largest == largest));
            largest = select(wins, value, largest);
            winner = select(wins, splat(static_cast<Bits>(tap)), winner);
          });
          const Vec<T> g = load_first(cotangent + c, count);
          for_taps(s, rows, columns, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
            const Vec<T> before = load_first(gradient + offset + c, count);
            const Vec<T> after = select(winner == splat(static_cast<Bits>(tap)), before + g, before);
            store_first(gradient + offset + c, after, count);
          });
        });
      });
    }
  }
}

FERRULE_INLINE int64_t window_size(const ConvShape& s, const Taps& rows, const Taps& columns, int64_t include_pad) {
  return include_pad != 0 ? s.kernel_h * s.kernel_w : (rows.end - rows.begin) * (columns.end - columns.begin);
}

template <typename T>
FERRULE_INLINE void avg_pool(void* ctx, FerruleStore store, const T* x, const ConvShape& s, int64_t include_pad,
                             int64_t tile_begin, int64_t tile_end) {
  using Sum = SumOf<T, 1>;
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const T* image = x + t / s.out_h * s.in_h * s.in_w * s.in_c;
    for_windows(s, t % s.out_h, [&](int64_t ow, Taps rows, Taps columns) __attribute__((always_inline)) {
      const T size = static_cast<T>(window_size(s, rows, columns, include_pad));
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        // Rule (c) over the window: tap i of the whole window goes to accumulator i mod 16, in blocks of 4,096.
        Sum lanes[kLanes];
        for (Sum& lane : lanes) lane.clear();
        Vec<T> total{};
        int64_t block = 0;
        const auto finish = [&]() __attribute__((always_inline)) {
          fold_accumulators(lanes);
          total = total + lanes[0].value[0];
          for (Sum& lane : lanes) lane.clear();
        };
        for_taps(s, rows, columns, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
          if (s.kernel_h * s.kernel_w > kReductionBlock && tap / kReductionBlock != block) {
            finish();
            block = tap / kReductionBlock;
          }
          Vec<T>& lane = lanes[tap % kLanes].value[0];
          lane = lane + load_first(image + offset + c, count);
        });
        finish();
        const Vec<T> mean = total / splat(size);
        store(ctx, t * s.out_w + ow, c, count, &mean);
      });
    });
  }
}

template <typename T>
FERRULE_INLINE void avg_pool_gradient(const T* dy, T* dx, const ConvShape& s, int64_t include_pad, int64_t tile_begin,
                                      int64_t tile_end) {
  const int64_t elements = s.in_h * s.in_w * s.in_c;
  for (int64_t n = tile_begin; n < tile_end; ++n) {
    T* gradient = dx + n * elements;
    clear_image(gradient, elements);
    for (int64_t oh = 0; oh < s.out_h; ++oh) {
      for_windows(s, oh, [&](int64_t ow, Taps rows, Taps columns) __attribute__((always_inline)) {
        const T size = static_cast<T>(window_size(s, rows, columns, include_pad));
        const T* cotangent = dy + ((n * s.out_h + oh) * s.out_w + ow) * s.in_c;
        for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
          const Vec<T> share = load_first(cotangent + c, count) / splat(size);
          for_taps(s, rows, columns, [&](int64_t, int64_t offset) __attribute__((always_inline)) {
            store_first(gradient + offset + c, load_first(gradient + offset + c, count) + share, count);
          });
        });
      });
    }
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_POOL(S, T)                                                                                           \
  FERRULE_DEFINE(void, ferrule_max_pool_##S)                                                                         \
  (void* ctx, FerruleStore store, const T* x, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin, int64_t tile_end) {      \
    ferrule::kernels::max_pool(ctx, store, x, FERRULE_SHAPE, tile_begin, tile_end);                                  \
  }                                                                                                                  \
  FERRULE_DEFINE(void, ferrule_max_pool_gradient_##S)                                                                \
  (const T* x, const T* dy, T* dx, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin, int64_t tile_end) {                 \
    ferrule::kernels::max_pool_gradient(x, dy, dx, FERRULE_SHAPE, tile_begin, tile_end);                             \
  }                                                                                                                  \
  FERRULE_DEFINE(void, ferrule_avg_pool_##S)                                                                         \
  (void* ctx, FerruleStore store, const T* x, FERRULE_SHAPE_PARAMETERS, int64_t count_include_pad,                   \
   int64_t tile_begin, int64_t tile_end) {                                                                           \
    ferrule::kernels::avg_pool(ctx, store, x, FERRULE_SHAPE, count_include_pad, tile_begin, tile_end);               \
  }                                                                                                                  \
  FERRULE_DEFINE(void, ferrule_avg_pool_gradient_##S)                                                                \
  (const T* dy, T* dx, FERRULE_SHAPE_PARAMETERS, int64_t count_include_pad, int64_t tile_begin, int64_t tile_end) {  \
    ferrule::kernels::avg_pool_gradient(dy, dx, FERRULE_SHAPE, count_include_pad, tile_begin, tile_end);             \
  }
FERRULE_POOL(f32, float)
FERRULE_POOL(f64, double)
