// The depthwise skeletons called with constant shapes, for depthwise_test, made as static_instances.cpp is.
#include "kernels/conv/shape.h"
#include "kernels/skeletons.h"

#define FERRULE_INSTANCE(skeleton, id, ...)                                                                          \
  extern "C" void FERRULE_STATIC_NAME(skeleton##_##id)(void* ctx, FerruleStore store, const float* p, const float* q, \
                                                       int64_t tile_begin, int64_t tile_end) {                        \
    ferrule_##skeleton##_f32(ctx, store, p, q, __VA_ARGS__, tile_begin, tile_end, nullptr);                           \
  }
#define FERRULE_STATIC_SHAPE(id, ...)                          \
  FERRULE_INSTANCE(depthwise, id, __VA_ARGS__)                 \
  FERRULE_INSTANCE(depthwise_input_gradient, id, __VA_ARGS__)  \
  FERRULE_INSTANCE(depthwise_weight_gradient, id, __VA_ARGS__)
#include "kernels/conv/depthwise_shapes.inc"
