// Maximum and average pooling on channels-last images, lanes along the channels; and their gradients.
#include "kernels/conv/shape.h"
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
namespace {

// The taps of one axis for one output position: tap i reads position first + i * step, and the taps [begin, end) of the
// window's `width` lie inside the image.
struct Taps {
  int64_t begin, end, width, first, step;
  FERRULE_INLINE int64_t count() const { return end - begin; }
};

// stride 0: adaptive windows over the `size` positions, `out` of them (skeletons.inc).
FERRULE_INLINE Taps taps_inside(int64_t o, int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t dilation,
                                int64_t size) {
  if (stride == 0) {
    const int64_t first = o * size / out, width = ceil_div((o + 1) * size, out) - first;
    return {0, width, width, first, 1};
  }
  const int64_t first = o * stride - pad;
  const int64_t begin = first < 0 ? ceil_div(-first, dilation) : 0;
  const int64_t room = first < size ? ceil_div(size - first, dilation) : 0;
  const int64_t end = room < kernel ? room : kernel;
  return {begin, end < begin ? begin : end, kernel, first, dilation};
}

struct Window {
  Taps planes, rows, columns;
  // The number of taps, and of those that lie inside.
  FERRULE_INLINE int64_t size() const { return planes.width * rows.width * columns.width; }
  FERRULE_INLINE int64_t present() const { return planes.count() * rows.count() * columns.count(); }
};

// Visits the windows of output row (od, oh): each(output column, window).
template <typename Each>
FERRULE_INLINE void for_windows(const ConvShape& s, int64_t od, int64_t oh, Each each) {
  const Taps planes = taps_inside(od, s.out_d, s.stride_d, s.pad_front, s.kernel_d, s.dilation_d, s.in_d);
  const Taps rows = taps_inside(oh, s.out_h, s.stride_h, s.pad_top, s.kernel_h, s.dilation_h, s.in_h);
  for (int64_t ow = 0; ow < s.out_w; ++ow) {
    each(ow, Window{planes, rows,
                    taps_inside(ow, s.out_w, s.stride_w, s.pad_left, s.kernel_w, s.dilation_w, s.in_w)});
  }
}

// Visits the rows of the tiles: row(tile, image number, od, oh).
template <typename Row>
FERRULE_INLINE void for_output_rows(const ConvShape& s, int64_t tile_begin, int64_t tile_end, Row row) {
  for (int64_t t = tile_begin; t < tile_end; ++t) row(t, t / (s.out_d * s.out_h), t / s.out_h % s.out_d, t % s.out_h);
}

FERRULE_INLINE int64_t elements_of_image(const ConvShape& s) { return s.in_d * s.in_h * s.in_w * s.in_c; }

template <typename Chunk>
FERRULE_INLINE void for_channels(int64_t channels, Chunk chunk) {
  const int64_t whole = channels - channels % kLanes;
  for (int64_t c = 0; c < whole; c += kLanes) chunk(c, int64_t{kLanes});
  if (channels % kLanes != 0) chunk(whole, channels % kLanes);
}

// Visits the elements of a window in scan order: tap(number of the tap, offset of the pixel in the image).
template <typename Tap>
FERRULE_INLINE void for_taps(const ConvShape& s, const Window& w, Tap tap) {
  for (int64_t d = w.planes.begin; d < w.planes.end; ++d) {
    for (int64_t i = w.rows.begin; i < w.rows.end; ++i) {
      const int64_t row = (w.planes.first + d * w.planes.step) * s.in_h + w.rows.first + i * w.rows.step;
      const int64_t number = (d * w.rows.width + i) * w.columns.width;
      for (int64_t j = w.columns.begin; j < w.columns.end; ++j) {
        tap(number + j, (row * s.in_w + w.columns.first + j * w.columns.step) * s.in_c);
      }
    }
  }
}

template <typename T>
FERRULE_INLINE void max_pool(void* ctx, FerruleStore store, const T* x, const ConvShape& s, int64_t tile_begin,
                             int64_t tile_end) {
  using Max = Extremum<T, true>;
  for_output_rows(s, tile_begin, tile_end, [&](int64_t t, int64_t n, int64_t od, int64_t oh)
                                               __attribute__((always_inline)) {
    const T* image = x + n * elements_of_image(s);
    for_windows(s, od, oh, [&](int64_t ow, const Window& window) __attribute__((always_inline)) {
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        Vec<T> largest = splat(Max::identity());
        for_taps(s, window, [&](int64_t, int64_t offset) __attribute__((always_inline)) {
          largest = Max::combine(largest, load_first(image + offset + c, count));
        });
        store(ctx, t * s.out_w + ow, c, count, &largest);
      });
    });
  });
}

// The tap that a window's maximum comes from: a later one wins only if it is larger, or is the first NaN. -1 in a window
// that lies wholly in padding.
template <typename T>
FERRULE_INLINE Vec<typename LaneTraits<T>::Bits> find_winner(const ConvShape& s, const Window& window, const T* image,
                                                             int64_t count) {
  using Bits = typename LaneTraits<T>::Bits;
  Vec<T> largest = splat(-LaneTraits<T>::kInfinity);
  Vec<Bits> winner = splat(Bits(-1));
  for_taps(s, window, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
    const Vec<T> value = load_first(image + offset, count);
    const Vec<Bits> wins = (winner < splat(Bits(0))) | (value > largest) | ((value != value) & (largest == largest));
    largest = select(wins, value, largest);
    winner = select(wins, splat(static_cast<Bits>(tap)), winner);
  });
  return winner;
}

template <typename T>
FERRULE_INLINE void max_pool_select(void* ctx, FerruleStore store, const T* x, const T* v, const ConvShape& s,
                                    int64_t tile_begin, int64_t tile_end) {
  using Bits = typename LaneTraits<T>::Bits;
  for_output_rows(s, tile_begin, tile_end, [&](int64_t t, int64_t n, int64_t od, int64_t oh)
                                               __attribute__((always_inline)) {
    const int64_t first = n * elements_of_image(s);
    for_windows(s, od, oh, [&](int64_t ow, const Window& window) __attribute__((always_inline)) {
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        const Vec<Bits> winner = find_winner(s, window, x + first + c, count);
        Vec<T> chosen{};
        for_taps(s, window, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
          chosen = select(winner == splat(static_cast<Bits>(tap)), load_first(v + first + offset + c, count), chosen);
        });
        store(ctx, t * s.out_w + ow, c, count, &chosen);
      });
    });
  });
}

template <typename T>
FERRULE_INLINE void clear_image(T* image, int64_t elements) {
  for_channels(elements, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    store_first(image + i, Vec<T>{}, count);
  });
}

// Visits the windows of one image, row-major: each(cotangent of the window's first channel, window).
template <typename T, typename Each>
FERRULE_INLINE void for_image_windows(const ConvShape& s, const T* dy, int64_t n, Each each) {
  for (int64_t od = 0; od < s.out_d; ++od) {
    for (int64_t oh = 0; oh < s.out_h; ++oh) {
      const T* row = dy + ((n * s.out_d + od) * s.out_h + oh) * s.out_w * s.in_c;
      for_windows(s, od, oh, [&](int64_t ow, const Window& window) __attribute__((always_inline)) {
        each(row + ow * s.in_c, window);
      });
    }
  }
}

template <typename T>
FERRULE_INLINE void max_pool_gradient(const T* x, const T* dy, T* dx, const ConvShape& s, int64_t tile_begin,
                                      int64_t tile_end) {
  using Bits = typename LaneTraits<T>::Bits;
  const int64_t elements = elements_of_image(s);
  for (int64_t n = tile_begin; n < tile_end; ++n) {
    const T* image = x + n * elements;
    T* gradient = dx + n * elements;
    clear_image(gradient, elements);
    for_image_windows(s, dy, n, [&](const T* cotangent, const Window& window) __attribute__((always_inline)) {
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        const Vec<Bits> winner = find_winner(s, window, image + c, count);
        const Vec<T> g = load_first(cotangent + c, count);
        for_taps(s, window, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
          const Vec<T> before = load_first(gradient + offset + c, count);
          const Vec<T> after = select(winner == splat(static_cast<Bits>(tap)), before + g, before);
          store_first(gradient + offset + c, after, count);
        });
      });
    });
  }
}

template <typename T>
FERRULE_INLINE Vec<T> divisor(const Window& window, int64_t include_pad) {
  return splat(static_cast<T>(include_pad != 0 ? window.size() : window.present()));
}

template <typename T>
FERRULE_INLINE void avg_pool(void* ctx, FerruleStore store, const T* x, const ConvShape& s, int64_t include_pad,
                             int64_t tile_begin, int64_t tile_end) {
  using Sum = SumOf<T, 1>;
  for_output_rows(s, tile_begin, tile_end, [&](int64_t t, int64_t n, int64_t od, int64_t oh)
                                               __attribute__((always_inline)) {
    const T* image = x + n * elements_of_image(s);
    for_windows(s, od, oh, [&](int64_t ow, const Window& window) __attribute__((always_inline)) {
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
        for_taps(s, window, [&](int64_t tap, int64_t offset) __attribute__((always_inline)) {
          if (window.size() > kReductionBlock && tap / kReductionBlock != block) {
            finish();
            block = tap / kReductionBlock;
          }
          Vec<T>& lane = lanes[tap % kLanes].value[0];
          lane = lane + load_first(image + offset + c, count);
        });
        finish();
        const Vec<T> mean = total / divisor<T>(window, include_pad);
        store(ctx, t * s.out_w + ow, c, count, &mean);
      });
    });
  });
}

template <typename T>
FERRULE_INLINE void avg_pool_gradient(const T* dy, T* dx, const ConvShape& s, int64_t include_pad, int64_t tile_begin,
                                      int64_t tile_end) {
  const int64_t elements = elements_of_image(s);
  for (int64_t n = tile_begin; n < tile_end; ++n) {
    T* gradient = dx + n * elements;
    clear_image(gradient, elements);
    for_image_windows(s, dy, n, [&](const T* cotangent, const Window& window) __attribute__((always_inline)) {
      for_channels(s.in_c, [&](int64_t c, int64_t count) __attribute__((always_inline)) {
        const Vec<T> share = load_first(cotangent + c, count) / divisor<T>(window, include_pad);
        for_taps(s, window, [&](int64_t, int64_t offset) __attribute__((always_inline)) {
          store_first(gradient + offset + c, load_first(gradient + offset + c, count) + share, count);
        });
      });
    });
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
  FERRULE_DEFINE(void, ferrule_max_pool_select_##S)                                                                  \
  (void* ctx, FerruleStore store, const T* x, const T* v, FERRULE_SHAPE_PARAMETERS, int64_t tile_begin,              \
   int64_t tile_end) {                                                                                               \
    ferrule::kernels::max_pool_select(ctx, store, x, v, FERRULE_SHAPE, tile_begin, tile_end);                        \
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
