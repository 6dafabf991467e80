// The shape of a convolution or a pool, as skeletons.inc lists it.
#ifndef FERRULE_KERNELS_CONV_SHAPE_H_
#define FERRULE_KERNELS_CONV_SHAPE_H_

#include <stdint.h>

namespace ferrule::kernels {

struct ConvShape {
  int64_t batch, in_h, in_w, in_c, out_h, out_w, out_c, groups, kernel_h, kernel_w, stride_h, stride_w, pad_top,
      pad_left, dilation_h, dilation_w;
};

}  // namespace ferrule::kernels

// The 16 parameters of a skeleton, and a ConvShape of them.
#define FERRULE_SHAPE_PARAMETERS                                                                              \
  int64_t batch, int64_t in_h, int64_t in_w, int64_t in_c, int64_t out_h, int64_t out_w, int64_t out_c,       \
      int64_t groups, int64_t kernel_h, int64_t kernel_w, int64_t stride_h, int64_t stride_w,                 \
      int64_t pad_top, int64_t pad_left, int64_t dilation_h, int64_t dilation_w
#define FERRULE_SHAPE                                                                                          \
  ferrule::kernels::ConvShape {                                                                                \
    batch, in_h, in_w, in_c, out_h, out_w, out_c, groups, kernel_h, kernel_w, stride_h, stride_w, pad_top,     \
        pad_left, dilation_h, dilation_w                                                                       \
  }

#endif  // FERRULE_KERNELS_CONV_SHAPE_H_
