// The convolution skeletons called with constant shapes, for conv_test. Goes through the compiler's own steps: linked
// with the bitcode module, optimised, compiled.
#include "kernels/conv/shape.h"
#include "kernels/skeletons.h"

alignas(64) static unsigned char scratch[ferrule::kernels::conv_weight_gradient_scratch_bytes(
    1, ferrule::kernels::kWeightGradientChannels, 4096, 1, 1, 1, 1, sizeof(float))];

#define FERRULE_INSTANCE(skeleton, id, ...)                                                                          \
  extern "C" void FERRULE_STATIC_NAME(skeleton##_##id)(void* ctx, FerruleStore store, const float* p, const float* q, \
                                                       int64_t tile_begin, int64_t tile_end) {                        \
    ferrule_##skeleton##_f32(ctx, store, p, q, __VA_ARGS__, tile_begin, tile_end, scratch);                           \
  }
// Any address will do: none is read.
static inline void fetch(void* ctx, int64_t row, int64_t col) {
  __builtin_prefetch(static_cast<const char*>(ctx) + row * 64 + col);
}
#define FERRULE_FETCHING_INSTANCE(skeleton, id, ...)                                                                  \
  extern "C" void FERRULE_STATIC_NAME(skeleton##_##id)(void* ctx, FerruleStore store, const float* p, const float* q, \
                                                       int64_t tile_begin, int64_t tile_end) {                        \
    ferrule_##skeleton##_f32(ctx, store, fetch, p, q, __VA_ARGS__, tile_begin, tile_end, scratch);                    \
  }
#define FERRULE_STATIC_SHAPE(id, ...)                             \
  FERRULE_FETCHING_INSTANCE(conv, id, __VA_ARGS__)                \
  FERRULE_FETCHING_INSTANCE(conv_input_gradient, id, __VA_ARGS__) \
  FERRULE_INSTANCE(conv_weight_gradient, id, __VA_ARGS__)
#include "kernels/conv/static_shapes.inc"
