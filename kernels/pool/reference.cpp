#include "kernels/pool/reference.h"

#include <cstring>
#include <limits>

#include "kernels/reduce/reference.h"

namespace ferrule::kernels {
namespace {

// The window of one axis for one output: `width` taps, tap i at position first + i * step.
struct AxisWindow {
  int64_t first, width, step;
};

AxisWindow axis_window(int64_t o, int64_t out, int64_t stride, int64_t pad, int64_t kernel, int64_t dilation,
                       int64_t size) {
  if (stride != 0) return {o * stride - pad, kernel, dilation};
  const int64_t first = o * size / out;
  return {first, ((o + 1) * size + out - 1) / out - first, 1};
}

struct PoolWindow {
  AxisWindow d, h, w;
};

// Calls each(image, window, channel, index of the output element).
template <typename Each>
void each_window(const ConvShape& s, Each each) {
  int64_t out = 0;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t od = 0; od < s.out_d; ++od)
      for (int64_t oh = 0; oh < s.out_h; ++oh)
        for (int64_t ow = 0; ow < s.out_w; ++ow) {
          const PoolWindow window{
              axis_window(od, s.out_d, s.stride_d, s.pad_front, s.kernel_d, s.dilation_d, s.in_d),
              axis_window(oh, s.out_h, s.stride_h, s.pad_top, s.kernel_h, s.dilation_h, s.in_h),
              axis_window(ow, s.out_w, s.stride_w, s.pad_left, s.kernel_w, s.dilation_w, s.in_w)};
          for (int64_t c = 0; c < s.in_c; ++c) each(n, window, c, out++);
        }
}

// Calls element(index in the source, or -1 for a position in the padding) in scan order.
template <typename Element>
void each_element(const ConvShape& s, int64_t n, const PoolWindow& window, int64_t c, Element element) {
  for (int64_t a = 0; a < window.d.width; ++a)
    for (int64_t b = 0; b < window.h.width; ++b)
      for (int64_t e = 0; e < window.w.width; ++e) {
        const int64_t i = window.d.first + a * window.d.step, j = window.h.first + b * window.h.step,
                      k = window.w.first + e * window.w.step;
        const bool inside = i >= 0 && i < s.in_d && j >= 0 && j < s.in_h && k >= 0 && k < s.in_w;
        element(inside ? (((n * s.in_d + i) * s.in_h + j) * s.in_w + k) * s.in_c + c : -1);
      }
}

template <typename T>
T window_size(const ConvShape& s, bool include_pad, int64_t n, const PoolWindow& window, int64_t c) {
  int64_t size = 0;
  each_element(s, n, window, c, [&](int64_t at) { size += include_pad || at >= 0; });
  return static_cast<T>(size);
}

// The index of the first largest element, or of the first NaN; -1 if the window lies wholly in padding.
template <typename T>
int64_t find_winner(const T* x, const ConvShape& s, int64_t n, const PoolWindow& window, int64_t c) {
  int64_t best = -1;
  each_element(s, n, window, c, [&](int64_t at) {
    if (at < 0) return;
    const bool first_nan = best >= 0 && x[at] != x[at] && x[best] == x[best];
    if (best < 0 || x[at] > x[best] || first_nan) best = at;
  });
  return best;
}

template <typename T>
void clear(const ConvShape& s, T* dx) {
  std::memset(dx, 0, s.batch * s.in_d * s.in_h * s.in_w * s.in_c * sizeof(T));
}

}  // namespace

template <typename T>
void reference_max_pool(const T* x, const ConvShape& s, T* y) {
  each_window(s, [&](int64_t n, const PoolWindow& window, int64_t c, int64_t out) {
    T pair[2] = {-std::numeric_limits<T>::infinity(), 0};
    each_element(s, n, window, c, [&](int64_t at) {
      if (at < 0) return;
      pair[1] = x[at];
      reference_reduce("max", pair, 1, 2, 1, pair);
    });
    y[out] = pair[0];
  });
}

template <typename T>
void reference_max_pool_gradient(const T* x, const T* dy, const ConvShape& s, T* dx) {
  clear(s, dx);
  each_window(s, [&](int64_t n, const PoolWindow& window, int64_t c, int64_t out) {
    const int64_t best = find_winner(x, s, n, window, c);
    if (best >= 0) dx[best] = dx[best] + dy[out];
  });
}

template <typename T>
void reference_max_pool_select(const T* x, const T* v, const ConvShape& s, T* y) {
  each_window(s, [&](int64_t n, const PoolWindow& window, int64_t c, int64_t out) {
    const int64_t best = find_winner(x, s, n, window, c);
    y[out] = best < 0 ? T(0) : v[best];
  });
}

template <typename T>
void reference_avg_pool(const T* x, const ConvShape& s, bool include_pad, T* y) {
  each_window(s, [&](int64_t n, const PoolWindow& window, int64_t c, int64_t out) {
    LaneSum<T> sum;
    each_element(s, n, window, c, [&](int64_t at) {
      if (at < 0) sum.skip();
      else sum.add(x[at]);
    });
    y[out] = sum.finish() / window_size<T>(s, include_pad, n, window, c);
  });
}

template <typename T>
void reference_avg_pool_gradient(const T* dy, const ConvShape& s, bool include_pad, T* dx) {
  clear(s, dx);
  each_window(s, [&](int64_t n, const PoolWindow& window, int64_t c, int64_t out) {
    const T share = dy[out] / window_size<T>(s, include_pad, n, window, c);
    each_element(s, n, window, c, [&](int64_t at) {
      if (at >= 0) dx[at] = dx[at] + share;
    });
  });
}

#define FERRULE_INSTANTIATE(T)                                                              \
  template void reference_max_pool<T>(const T*, const ConvShape&, T*);                      \
  template void reference_max_pool_gradient<T>(const T*, const T*, const ConvShape&, T*);   \
  template void reference_max_pool_select<T>(const T*, const T*, const ConvShape&, T*);     \
  template void reference_avg_pool<T>(const T*, const ConvShape&, bool, T*);                \
  template void reference_avg_pool_gradient<T>(const T*, const ConvShape&, bool, T*);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
