// The shape of a convolution or a pool, as skeletons.inc lists it.
#ifndef FERRULE_KERNELS_CONV_SHAPE_H_
#define FERRULE_KERNELS_CONV_SHAPE_H_

#include <stdint.h>

namespace ferrule::kernels {

struct ConvShape {
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c, groups, kernel_h, kernel_w, stride_h, stride_w, pad_top,
      pad_left, dilation_h, dilation_w;
  int64_t in_d = 1, out_d = 1, kernel_d = 1, stride_d = 1, pad_front = 0, dilation_d = 1;
};

}  // namespace ferrule::kernels

// The 22 parameters of a skeleton, a ConvShape of them, and the last six of images without depth.
#define FERRULE_SHAPE_PARAMETERS                                                                              \
  int64_t batch, int64_t in_h, int64_t in_w, int64_t in_c, int64_t out_h, int64_t out_w, int64_t out_c,       \
      int64_t groups, int64_t kernel_h, int64_t kernel_w, int64_t stride_h, int64_t stride_w,                 \
      int64_t pad_top, int64_t pad_left, int64_t dilation_h, int64_t dilation_w, int64_t in_d, int64_t out_d, \
      int64_t kernel_d, int64_t stride_d, int64_t pad_front, int64_t dilation_d
#define FERRULE_SHAPE                                                                                          \
  ferrule::kernels::ConvShape {                                                                                \
    batch, in_h, in_w, in_c, out_h, out_w, out_c, groups, kernel_h, kernel_w, stride_h, stride_w, pad_top,     \
        pad_left, dilation_h, dilation_w, in_d, out_d, kernel_d, stride_d, pad_front, dilation_d                \
  }
#define FERRULE_NO_DEPTH 1, 1, 1, 1, 0, 1

#endif  // FERRULE_KERNELS_CONV_SHAPE_H_
