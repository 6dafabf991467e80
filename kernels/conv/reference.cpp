#include "kernels/conv/reference.h"

#include "kernels/matmul/reference.h"

namespace ferrule::kernels {
namespace {

int64_t panels(int64_t columns) { return (columns + 15) / 16; }

bool inside(int64_t position, int64_t size) { return position >= 0 && position < size; }

}  // namespace

template <typename T>
void reference_conv(const T* x, const T* weights, const ConvShape& s, T* y) {
  const int64_t channels = s.in_c / s.groups, columns = s.out_c / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t oh = 0; oh < s.out_h; ++oh)
      for (int64_t ow = 0; ow < s.out_w; ++ow)
        for (int64_t oc = 0; oc < s.out_c; ++oc) {
          const int64_t g = oc / columns, column = oc % columns;
          ContractionSum<T> sum;
          for (int64_t i = 0; i < s.kernel_h; ++i)
            for (int64_t j = 0; j < s.kernel_w; ++j)
              for (int64_t c = 0; c < channels; ++c) {
                const int64_t ih = oh * s.stride_h - s.pad_top + i * s.dilation_h;
                const int64_t iw = ow * s.stride_w - s.pad_left + j * s.dilation_w;
                const int64_t panel = g * panels(columns) + column / 16;
                const int64_t row = ((panel * s.kernel_h + i) * s.kernel_w + j) * channels + c;
                if (inside(ih, s.in_h) && inside(iw, s.in_w)) {
                  sum.add(x[((n * s.in_h + ih) * s.in_w + iw) * s.in_c + g * channels + c],
                          weights[row * 16 + column % 16]);
                } else {
                  sum.skip();
                }
              }
          y[((n * s.out_h + oh) * s.out_w + ow) * s.out_c + oc] = sum.finish();
        }
}

template <typename T>
void reference_conv_input_gradient(const T* dy, const T* weights, const ConvShape& s, T* dx) {
  const int64_t channels = s.out_c / s.groups, columns = s.in_c / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t ih = 0; ih < s.in_h; ++ih)
      for (int64_t iw = 0; iw < s.in_w; ++iw)
        for (int64_t ic = 0; ic < s.in_c; ++ic) {
          const int64_t g = ic / columns, column = ic % columns;
          ContractionSum<T> sum;
          for (int64_t i = 0; i < s.kernel_h; ++i)
            for (int64_t j = 0; j < s.kernel_w; ++j)
              for (int64_t c = 0; c < channels; ++c) {
                const int64_t h = ih + s.pad_top - i * s.dilation_h, w = iw + s.pad_left - j * s.dilation_w;
                const int64_t panel = g * panels(columns) + column / 16;
                const int64_t row = ((panel * s.kernel_h + i) * s.kernel_w + j) * channels + c;
                if (h % s.stride_h == 0 && w % s.stride_w == 0 && inside(h / s.stride_h, s.out_h) &&
                    inside(w / s.stride_w, s.out_w)) {
                  const int64_t pixel = (n * s.out_h + h / s.stride_h) * s.out_w + w / s.stride_w;
                  sum.add(dy[pixel * s.out_c + g * channels + c], weights[row * 16 + column % 16]);
                } else {
                  sum.skip();
                }
              }
          dx[((n * s.in_h + ih) * s.in_w + iw) * s.in_c + ic] = sum.finish();
        }
}

template <typename T>
void reference_conv_weight_gradient(const T* x, const T* dy, const ConvShape& s, T* dw) {
  const int64_t channels = s.in_c / s.groups, columns = s.out_c / s.groups;
  int64_t out = 0;
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t panel = 0; panel < panels(columns); ++panel)
      for (int64_t i = 0; i < s.kernel_h; ++i)
        for (int64_t j = 0; j < s.kernel_w; ++j)
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t lane = 0; lane < 16; ++lane) {
              const int64_t column = panel * 16 + lane;
              ContractionSum<T> sum;
              for (int64_t n = 0; column < columns && n < s.batch; ++n)
                for (int64_t oh = 0; oh < s.out_h; ++oh)
                  for (int64_t ow = 0; ow < s.out_w; ++ow) {
                    const int64_t ih = oh * s.stride_h - s.pad_top + i * s.dilation_h;
                    const int64_t iw = ow * s.stride_w - s.pad_left + j * s.dilation_w;
                    if (inside(ih, s.in_h) && inside(iw, s.in_w)) {
                      sum.add(x[((n * s.in_h + ih) * s.in_w + iw) * s.in_c + g * channels + c],
                              dy[((n * s.out_h + oh) * s.out_w + ow) * s.out_c + g * columns + column]);
                    } else {
                      sum.skip();
                    }
                  }
              dw[out++] = sum.finish();
            }
}

template <typename T>
void reference_transpose_panels(const T* src, T* dst, int64_t groups, int64_t n, int64_t taps, int64_t k) {
  int64_t out = 0;
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t panel = 0; panel < panels(k); ++panel)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t row = 0; row < n; ++row)
          for (int64_t lane = 0; lane < 16; ++lane) {
            const int64_t column = panel * 16 + lane;
            const int64_t from = (((g * panels(n) + row / 16) * taps + tap) * k + column) * 16 + row % 16;
            dst[out++] = column < k ? src[from] : T(0);
          }
}

#define FERRULE_INSTANTIATE(T)                                                                    \
  template void reference_conv<T>(const T*, const T*, const ConvShape&, T*);                      \
  template void reference_conv_input_gradient<T>(const T*, const T*, const ConvShape&, T*);       \
  template void reference_conv_weight_gradient<T>(const T*, const T*, const ConvShape&, T*);      \
  template void reference_transpose_panels<T>(const T*, T*, int64_t, int64_t, int64_t, int64_t);
FERRULE_INSTANTIATE(float)
FERRULE_INSTANTIATE(double)

}  // namespace ferrule::kernels
