#include "kernels/random/reference.h"

#include "kernels/random/distributions.h"

namespace ferrule::kernels {
namespace {

template <typename T, typename Make>
void for_each_block(const int64_t* state, int64_t total, T* y, Make make) {
  const RandomState random(state);
  for (int64_t i = 0; i < total; ++i) {
    T elements[kPerBlock<T>];
    make(random.block(static_cast<uint64_t>(i / kPerBlock<T>)), elements);
    y[i] = elements[i % kPerBlock<T>];
  }
}

}  // namespace

std::array<uint32_t, 4> reference_philox(const std::array<uint32_t, 4>& counter, uint32_t key0, uint32_t key1) {
  const PhiloxBlock<uint32_t> block =
      philox(PhiloxBlock<uint32_t>{{counter[0], counter[1], counter[2], counter[3]}}, key0, key1);
  return {block.word[0], block.word[1], block.word[2], block.word[3]};
}

template <typename T>
void reference_random_bits(const int64_t* state, int64_t total, T* y) {
  for_each_block(state, total, y, [](const auto& block, auto& out) { bits_of(block, out); });
}
template <typename T>
void reference_random_uniform(const int64_t* state, int64_t total, T* y) {
  for_each_block(state, total, y, [](const auto& block, auto& out) { uniform_of(block, out); });
}
template <typename T>
void reference_random_normal(const int64_t* state, int64_t total, T* y) {
  for_each_block(state, total, y, [](const auto& block, auto& out) { normal_of(block, out); });
}
template <typename T>
void reference_random_gamma(const int64_t* state, const T* shape, int64_t total, T* y) {
  const RandomState random(state);
  for (int64_t i = 0; i < total; ++i) y[i] = static_cast<T>(gamma_of(random, static_cast<uint64_t>(i), shape[i]));
}
template <typename T>
void reference_random_poisson(const int64_t* state, const T* mean, int64_t total, T* y) {
  const RandomState random(state);
  for (int64_t i = 0; i < total; ++i) y[i] = static_cast<T>(poisson_of(random, static_cast<uint64_t>(i), mean[i]));
}

template void reference_random_bits(const int64_t*, int64_t, int32_t*);
template void reference_random_bits(const int64_t*, int64_t, int64_t*);
#define FERRULE_INSTANCES(T)                                                             \
  template void reference_random_uniform(const int64_t*, int64_t, T*);                   \
  template void reference_random_normal(const int64_t*, int64_t, T*);                    \
  template void reference_random_gamma(const int64_t*, const T*, int64_t, T*);           \
  template void reference_random_poisson(const int64_t*, const T*, int64_t, T*);
FERRULE_INSTANCES(float)
FERRULE_INSTANCES(double)
#undef FERRULE_INSTANCES

}  // namespace ferrule::kernels
