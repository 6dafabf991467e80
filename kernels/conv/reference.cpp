#include "kernels/conv/reference.h"

#include "kernels/matmul/reference.h"

namespace ferrule::kernels {
namespace {

int64_t panels(int64_t columns) { return (columns + 15) / 16; }

bool inside(int64_t position, int64_t size) { return position >= 0 && position < size; }

struct Position {
  int64_t d, h, w;
};

// The position in the source of one output position and one tap, on all three axes; false if it lies outside.
bool input_position(const ConvShape& s, const Position& output, const Position& tap, Position* input) {
  *input = {output.d * s.stride_d - s.pad_front + tap.d * s.dilation_d,
            output.h * s.stride_h - s.pad_top + tap.h * s.dilation_h,
            output.w * s.stride_w - s.pad_left + tap.w * s.dilation_w};
  return inside(input->d, s.in_d) && inside(input->h, s.in_h) && inside(input->w, s.in_w);
}

// The output position that meets `input` at `tap`; false if there is none.
bool output_position(const ConvShape& s, const Position& input, const Position& tap, Position* output) {
  const int64_t d = input.d + s.pad_front - tap.d * s.dilation_d, h = input.h + s.pad_top - tap.h * s.dilation_h,
                w = input.w + s.pad_left - tap.w * s.dilation_w;
  *output = {d / s.stride_d, h / s.stride_h, w / s.stride_w};
  return d % s.stride_d == 0 && h % s.stride_h == 0 && w % s.stride_w == 0 && d >= 0 && h >= 0 && w >= 0 &&
         output->d < s.out_d && output->h < s.out_h && output->w < s.out_w;
}

int64_t input_pixel(const ConvShape& s, int64_t n, const Position& at) {
  return ((n * s.in_d + at.d) * s.in_h + at.h) * s.in_w + at.w;
}

int64_t output_pixel(const ConvShape& s, int64_t n, const Position& at) {
  return ((n * s.out_d + at.d) * s.out_h + at.h) * s.out_w + at.w;
}

// Calls each(position) in row-major order.
template <typename Each>
void each_position(int64_t d, int64_t h, int64_t w, Each each) {
  for (int64_t i = 0; i < d; ++i)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t k = 0; k < w; ++k) each(Position{i, j, k});
}

template <typename Each>
void each_tap(const ConvShape& s, Each each) {
  each_position(s.kernel_d, s.kernel_h, s.kernel_w, each);
}

// The row of packed weights [panel][kd][kh][kw][channels] of one tap and channel.
int64_t weight_row(const ConvShape& s, int64_t panel, const Position& tap, int64_t channels, int64_t channel) {
  return (((panel * s.kernel_d + tap.d) * s.kernel_h + tap.h) * s.kernel_w + tap.w) * channels + channel;
}

}  // namespace

template <typename T>
void reference_conv(const T* x, const T* weights, const ConvShape& s, T* y) {
  const int64_t channels = s.in_c / s.groups, columns = s.out_c / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    each_position(s.out_d, s.out_h, s.out_w, [&](const Position& output) {
      for (int64_t oc = 0; oc < s.out_c; ++oc) {
        const int64_t g = oc / columns, column = oc % columns, panel = g * panels(columns) + column / 16;
        ContractionSum<T> sum;
        each_tap(s, [&](const Position& tap) {
          Position input;
          const bool present = input_position(s, output, tap, &input);
          for (int64_t c = 0; c < channels; ++c) {
            if (present) {
              sum.add(x[input_pixel(s, n, input) * s.in_c + g * channels + c],
                      weights[weight_row(s, panel, tap, channels, c) * 16 + column % 16]);
            } else {
              sum.skip();
            }
          }
        });
        y[output_pixel(s, n, output) * s.out_c + oc] = sum.finish();
      }
    });
}

template <typename T>
void reference_conv_input_gradient(const T* dy, const T* weights, const ConvShape& s, T* dx) {
  const int64_t channels = s.out_c / s.groups, columns = s.in_c / s.groups;
  for (int64_t n = 0; n < s.batch; ++n)
    each_position(s.in_d, s.in_h, s.in_w, [&](const Position& input) {
      for (int64_t ic = 0; ic < s.in_c; ++ic) {
        const int64_t g = ic / columns, column = ic % columns, panel = g * panels(columns) + column / 16;
        ContractionSum<T> sum;
        each_tap(s, [&](const Position& tap) {
          Position output;
          const bool present = output_position(s, input, tap, &output);
          for (int64_t c = 0; c < channels; ++c) {
            if (present) {
              sum.add(dy[output_pixel(s, n, output) * s.out_c + g * channels + c],
                      weights[weight_row(s, panel, tap, channels, c) * 16 + column % 16]);
            } else {
              sum.skip();
            }
          }
        });
        dx[input_pixel(s, n, input) * s.in_c + ic] = sum.finish();
      }
    });
}

template <typename T>
void reference_conv_weight_gradient(const T* x, const T* dy, const ConvShape& s, T* dw) {
  const int64_t channels = s.in_c / s.groups, columns = s.out_c / s.groups;
  int64_t out = 0;
  for (int64_t g = 0; g < s.groups; ++g)
    for (int64_t panel = 0; panel < panels(columns); ++panel)
      each_tap(s, [&](const Position& tap) {
        for (int64_t c = 0; c < channels; ++c)
          for (int64_t lane = 0; lane < 16; ++lane) {
            const int64_t column = panel * 16 + lane;
            ContractionSum<T> sum;
            for (int64_t n = 0; column < columns && n < s.batch; ++n)
              each_position(s.out_d, s.out_h, s.out_w, [&](const Position& output) {
                Position input;
                if (input_position(s, output, tap, &input)) {
                  sum.add(x[input_pixel(s, n, input) * s.in_c + g * channels + c],
                          dy[output_pixel(s, n, output) * s.out_c + g * columns + column]);
                } else {
                  sum.skip();
                }
              });
            dw[out++] = sum.finish();
          }
      });
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
