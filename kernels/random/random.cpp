// Random numbers: 16 blocks at a time where a distribution takes a fixed number of words, else element by element.
#include "kernels/base/define.h"
#include "kernels/random/distributions.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// make(block of 16, Vec<T>[kPerBlock]) fills the elements of 16 blocks, which lie in memory block by block.
template <typename T, typename Make>
FERRULE_INLINE void fill(T* y, const RandomState& state, int64_t total, int64_t tile_size, int64_t tile_begin,
                         int64_t tile_end, Make make) {
  constexpr int kCount = kPerBlock<T>, kGroup = kLanes * kCount;
  const int64_t end = least(total, tile_end * tile_size);
  for (int64_t at = tile_begin * tile_size; at < end; at += kGroup) {
    const Vec<uint64_t> blocks =
        splat(static_cast<uint64_t>(at / kCount)) + convert_to<Vec<uint64_t>>(lane_index<int64_t>());
    Vec<T> made[kCount];
    make(state.block(blocks), made);
    T apart[kCount][kLanes];
    for (int w = 0; w < kCount; ++w) store(apart[w], made[w]);
    const int64_t count = least(kGroup, end - at);
    for (int64_t i = 0; i < count; ++i) y[at + i] = apart[i % kCount][i / kCount];
  }
}

template <typename T, typename Make>
FERRULE_INLINE void fill_each(T* y, int64_t total, int64_t tile_size, int64_t tile_begin, int64_t tile_end, Make make) {
  const int64_t end = least(total, tile_end * tile_size);
  for (int64_t i = tile_begin * tile_size; i < end; ++i) y[i] = static_cast<T>(make(i));
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_RANDOM(name, function, S, T)                                                                         \
  FERRULE_DEFINE(void, ferrule_##name##_##S)                                                                         \
  (T * y, const int64_t* state, int64_t total, int64_t tile_size, int64_t tile_begin, int64_t tile_end) {            \
    using namespace ferrule::kernels;                                                                                \
    fill<T>(y, RandomState(state), total, tile_size, tile_begin, tile_end,                                           \
            [](const PhiloxBlock<Vec<uint32_t>>& block, Vec<T>(&out)[kPerBlock<T>])                                  \
                __attribute__((always_inline)) { function(block, out); });                                           \
  }
FERRULE_RANDOM(random_bits, bits_of, i32, int32_t)
FERRULE_RANDOM(random_bits, bits_of, i64, int64_t)
FERRULE_RANDOM(random_uniform, uniform_of, f32, float)
FERRULE_RANDOM(random_uniform, uniform_of, f64, double)
FERRULE_RANDOM(random_normal, normal_of, f32, float)
FERRULE_RANDOM(random_normal, normal_of, f64, double)

#define FERRULE_RANDOM_PARAMETER(name, function, S, T)                                                               \
  FERRULE_DEFINE(void, ferrule_##name##_##S)                                                                         \
  (T * y, const int64_t* state, const T* p, int64_t total, int64_t tile_size, int64_t tile_begin,                    \
   int64_t tile_end) {                                                                                               \
    using namespace ferrule::kernels;                                                                                \
    const RandomState random(state);                                                                                 \
    fill_each<T>(y, total, tile_size, tile_begin, tile_end, [&](int64_t i) __attribute__((always_inline)) {          \
      return function(random, static_cast<uint64_t>(i), static_cast<double>(p[i]));                                  \
    });                                                                                                              \
  }
FERRULE_RANDOM_PARAMETER(random_gamma, gamma_of, f32, float)
FERRULE_RANDOM_PARAMETER(random_gamma, gamma_of, f64, double)
FERRULE_RANDOM_PARAMETER(random_poisson, poisson_of, f32, float)
FERRULE_RANDOM_PARAMETER(random_poisson, poisson_of, f64, double)
