// The measured skeletons with their shapes as constants and a store that is inlined, as in a generated kernel.
#include "kernels/conv/shape.h"
#include "kernels/skeletons.h"

namespace {

typedef float Lanes __attribute__((ext_vector_type(16)));

struct Output {
  float* data;
  int64_t columns;
};

inline __attribute__((always_inline)) void keep(void* ctx, int64_t row, int64_t col, int64_t count, const void* in) {
  const auto* out = static_cast<const Output*>(ctx);
  if (count == 16) {
    const Lanes lanes = *static_cast<const Lanes*>(in);
    __builtin_memcpy(out->data + row * out->columns + col, &lanes, sizeof(lanes));
    return;
  }
  for (int64_t i = 0; i < count; ++i) out->data[row * out->columns + col + i] = static_cast<const float*>(in)[i];
}

}  // namespace

#define FERRULE_MATMUL(id, M, N, K, tile_m, tile_panels)                                                             \
  extern "C" void FERRULE_STATIC_NAME(matmul_##id)(void* ctx, const float* p, const float* q, int64_t tile_begin,    \
                                                   int64_t tile_end) {                                               \
    ferrule_matmul_f32(ctx, keep, nullptr, p, K, 1, q, K * 16, 16, 1, 0, M, N, K, tile_m, tile_panels, tile_begin,      \
                       tile_end, nullptr);                                                                           \
  }
alignas(64) static unsigned char scratch[ferrule::kernels::conv_weight_gradient_scratch_bytes(
    1, ferrule::kernels::kWeightGradientChannels, 4096, 1, 1, 1, 1, sizeof(float))];
// `callbacks` in parentheses.
#define FERRULE_CONV_WITH(callbacks, skeleton, id, ...)                                                              \
  extern "C" void FERRULE_STATIC_NAME(skeleton##_##id)(void* ctx, const float* p, const float* q, int64_t tile_begin, \
                                                       int64_t tile_end) {                                           \
    ferrule_##skeleton##_f32(ctx, FERRULE_LIST callbacks, p, q, __VA_ARGS__, FERRULE_NO_DEPTH, tile_begin, tile_end, \
                             scratch);                                                                               \
  }
#define FERRULE_LIST(...) __VA_ARGS__
#define FERRULE_CONV(id, ...)                                                   \
  FERRULE_CONV_WITH((keep, nullptr), conv, id, __VA_ARGS__)                     \
  FERRULE_CONV_WITH((keep, nullptr), conv_input_gradient, id, __VA_ARGS__)      \
  FERRULE_CONV_WITH((keep), conv_weight_gradient, id, __VA_ARGS__)
#define FERRULE_DEPTHWISE(id, ...)                                     \
  FERRULE_CONV_WITH((keep), depthwise, id, __VA_ARGS__)                \
  FERRULE_CONV_WITH((keep), depthwise_input_gradient, id, __VA_ARGS__) \
  FERRULE_CONV_WITH((keep), depthwise_weight_gradient, id, __VA_ARGS__)
#include "kernels/bench/shapes.inc"
