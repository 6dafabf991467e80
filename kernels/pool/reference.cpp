#include "kernels/pool/reference.h"

#include <cstring>
#include <limits>

#include "kernels/reduce/reference.h"

namespace ferrule::kernels {
namespace {

// Calls window(first source row, first source column, index of the output element, channel).
template <typename Window>
void each_window(const ConvShape& s, Window window) {
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oh = 0; oh < s.out_h; ++oh)
      for (int64_t ow = 0; ow < s.out_w; ++ow)
        for (int64_t c = 0; c < s.in_c; ++c)
          window(n, oh * s.stride_h - s.pad_top, ow * s.stride_w - s.pad_left,
                 ((n * s.out_h + oh) * s.out_w + ow) * s.in_c + c, c);
}

// Calls element(index in the source, or -1 for a position in the padding) in scan order.
template <typename Element>
void each_element(const ConvShape& s, int64_t n, int64_t row, int64_t column, int64_t c, Element element) {
  for (int64_t i = row; i < row + s.kernel_h; ++i)
    for (int64_t j = column; j < column + s.kernel_w; ++j) {
      const bool inside = i >= 0 && i < s.in_h && j >= 0 && j < s.in_w;
      element(inside ? ((n * s.in_h + i) * s.in_w + j) * s.in_c + c : -1);
    }
}

template <typename T>
T window_size(const ConvShape& s, bool include_pad, int64_t n, int64_t row, int64_t column, int64_t c) {
  int64_t size = 0;
  each_element(s, n, row, column, c, [&](int64_t at) { size += include_pad || at >= 0; });
  return static_cast<T>(size);
}

template <typename T>
void clear(const ConvShape& s, T* dx) {
  std::memset(dx, 0, s.batch * s.in_h * s.in_w * s.in_c * sizeof(T));
}

}  // namespace

template <typename T>
void reference_max_pool(const T* x, const ConvShape& s, T* y) {
  each_window(s, [&](int64_t n, int64_t row, int64_t column, int64_t out, int64_t c) {
    T pair[2] = {-std::numeric_limits<T>::infinity(), 0};
    each_element(s, n, row, column, c, [&](int64_t at) {
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
  each_window(s, [&](int64_t n, int64_t row, int64_t column, int64_t out, int64_t c) {
    int64_t best = -1;
    each_element(s, n, row, column, c, [&](int64_t at) {
      if (at < 0) return;
      const bool first_nan = best >= 0 && x[at] != x[at] && x[best] == x[best];
      if (best < 0 || x[at] > x[best] || first_nan) best = at;
    });
    if (best >= 0) dx[best] = dx[best] + dy[out];
  });
}

template <typename T>
void reference_avg_pool(const T* x, const ConvShape& s, bool include_pad, T* y) {
  each_window(s, [&](int64_t n, int64_t row, int64_t column, int64_t out, int64_t c) {
    LaneSum<T> sum;
    each_element(s, n, row, column, c, [&](int64_t at) {
      if (at < 0) sum.skip();
      else sum.add(x[at]);
    });
    y[out] = sum.finish() / window_size<T>(s, include_pad, n, row, column, c);
  });
}

template <typename T>
void reference_avg_pool_gradient(const T* dy, const ConvShape& s, bool include_pad, T* dx) {
  clear(s, dx);
  each_window(s, [&](int64_t n, int64_t row, int64_t column, int64_t out, int64_t c) {
    const T share = dy[out] / window_size<T>(s, include_pad, n, row, column, c);
    each_element(s, n, row, column, c, [&](int64_t at) {
      if (at >= 0) dx[at] = dx[at] + share;
    });
  });
}

#define FERRULE_INSTANTIATE(T)                                                              \
  template void reference_max_pool<T>(const T*, const ConvShape&, T*);                      \
  template void reference_max_pool_gradient<T>(const T*, const T*, const ConvShape&, T*);   \
  template void reference_avg_pool<T>(const T*, const ConvShape&, bool, T*);                \
  template void reference_avg_pool_gradient<T>(const T*, const ConvShape&, bool, T*);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
