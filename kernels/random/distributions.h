// From words to numbers of a distribution, for one block or 16; gamma and poisson for one element.
#ifndef FERRULE_KERNELS_RANDOM_DISTRIBUTIONS_H_
#define FERRULE_KERNELS_RANDOM_DISTRIBUTIONS_H_

#include "kernels/elementwise/trigonometry.h"
#include "kernels/random/philox.h"

namespace ferrule::kernels {

// How many elements of T a block holds.
template <typename T>
inline constexpr int kPerBlock = 16 / sizeof(T);

// W is a word vector; the elements come in the order of the words.
template <typename W>
using WideOf = typename Rebind<W, uint64_t>::Type;
template <typename W>
FERRULE_INLINE WideOf<W> join(W low, W high) {
  return convert_to<WideOf<W>>(low) | convert_to<WideOf<W>>(high) << 32;
}

template <typename W>
FERRULE_INLINE void bits_of(const PhiloxBlock<W>& block, typename Rebind<W, int32_t>::Type (&out)[4]) {
  for (int i = 0; i < 4; ++i) out[i] = convert_to<typename Rebind<W, int32_t>::Type>(block.word[i]);
}
template <typename W>
FERRULE_INLINE void bits_of(const PhiloxBlock<W>& block, typename Rebind<W, int64_t>::Type (&out)[2]) {
  for (int i = 0; i < 2; ++i) {
    out[i] = convert_to<typename Rebind<W, int64_t>::Type>(join(block.word[2 * i], block.word[2 * i + 1]));
  }
}

// [0, 1), or with `from_zero` false (0, 1]: the same numbers plus the smallest step.
template <typename W>
FERRULE_INLINE typename Rebind<W, float>::Type uniform_f32(W word, bool from_zero) {
  using F = typename Rebind<W, float>::Type;
  return convert_to<F>((word >> 8) + (from_zero ? 0u : 1u)) * 0x1p-24f;
}
template <typename W>
FERRULE_INLINE typename Rebind<W, double>::Type uniform_f64(W low, W high, bool from_zero) {
  using F = typename Rebind<W, double>::Type;
  return convert_to<F>((join(low, high) >> 11) + (from_zero ? uint64_t{0} : uint64_t{1})) * 0x1p-53;
}
template <typename W>
FERRULE_INLINE void uniform_of(const PhiloxBlock<W>& block, typename Rebind<W, float>::Type (&out)[4]) {
  for (int i = 0; i < 4; ++i) out[i] = uniform_f32(block.word[i], true);
}
template <typename W>
FERRULE_INLINE void uniform_of(const PhiloxBlock<W>& block, typename Rebind<W, double>::Type (&out)[2]) {
  for (int i = 0; i < 2; ++i) out[i] = uniform_f64(block.word[2 * i], block.word[2 * i + 1], true);
}

// Two normal numbers from u in (0, 1] and v in [0, 1).
template <typename V>
FERRULE_INLINE void box_muller(V u, V v, V* first, V* second) {
  using T = ScalarOf<V>;
  const V radius = square_root(log(u) * static_cast<T>(-2)), angle = v * static_cast<T>(6.283185307179586477);
  *first = radius * cos(angle);
  *second = radius * sin(angle);
}
template <typename W>
FERRULE_INLINE void normal_of(const PhiloxBlock<W>& block, typename Rebind<W, float>::Type (&out)[4]) {
  for (int i = 0; i < 4; i += 2) {
    box_muller(uniform_f32(block.word[i], false), uniform_f32(block.word[i + 1], true), &out[i], &out[i + 1]);
  }
}
template <typename W>
FERRULE_INLINE void normal_of(const PhiloxBlock<W>& block, typename Rebind<W, double>::Type (&out)[2]) {
  box_muller(uniform_f64(block.word[0], block.word[1], false), uniform_f64(block.word[2], block.word[3], true),
             &out[0], &out[1]);
}

// (0, 1), for logarithms.
FERRULE_INLINE double open_uniform(uint32_t low, uint32_t high) {
  return (static_cast<double>(static_cast<int64_t>(join(low, high) >> 12)) + 0.5) * 0x1p-52;
}

// An attempt fails with a probability below 0.1, so that many do not.
inline constexpr uint32_t kMaxAttempts = 1000;

// Marsaglia and Tsang (2000); a shape below 1 by u^(1/shape) of one larger by 1.
FERRULE_INLINE double gamma_of(const RandomState& state, uint64_t element, double shape) {
  if (!(shape >= 0)) return __builtin_nan("");
  const bool boosted = shape < 1;
  const double d = (boosted ? shape + 1 : shape) - 1.0 / 3, c = 1 / square_root(9 * d);
  double result = d;
  double boost = 1;
  for (uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    double normal[2];
    normal_of(state.block(element, 2 * attempt), normal);
    const PhiloxBlock<uint32_t> words = state.block(element, 2 * attempt + 1);
    const double u = open_uniform(words.word[0], words.word[1]), x = normal[0], t = 1 + c * x, v = t * t * t;
    if (boosted) boost = exp(log(open_uniform(words.word[2], words.word[3])) / shape);
    if (!(v > 0)) continue;
    result = d * v;
    if (log(u) < 0.5 * x * x + d - d * v + d * log(v)) break;
  }
  return result * boost;
}

// log(k!) for an integer k: Stirling's series from 10 on, its error below 1e-10.
FERRULE_INLINE double log_factorial(double k) {
  if (k < 10) {
    double product = 1;
    for (double i = 2; i <= k; i += 1) product = product * i;
    return log(product);
  }
  const double r = 1 / k, r2 = r * r;
  return 0.91893853320467274178 + (k + 0.5) * log(k) - k + r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260)));
}

// Knuth's products of uniforms below 10, else Hoermann's transformed rejection (1993).
FERRULE_INLINE double poisson_of(const RandomState& state, uint64_t element, double mean) {
  if (!(mean >= 0)) return __builtin_nan("");
  if (mean < 10) {
    const double limit = exp(-mean);
    double product = 1, k = 0;
    for (uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt, k += 1) {
      const PhiloxBlock<uint32_t> words = state.block(element, attempt);
      product = product * open_uniform(words.word[0], words.word[1]);
      if (product <= limit) break;
    }
    return k;
  }
  const double b = 0.931 + 2.53 * square_root(mean), a = -0.059 + 0.02483 * b;
  const double scale = log(1.1239 + 1.1328 / (b - 3.4)), accepted = 0.9277 - 3.6224 / (b - 2), log_mean = log(mean);
  for (uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const PhiloxBlock<uint32_t> words = state.block(element, attempt);
    const double u = open_uniform(words.word[0], words.word[1]) - 0.5, v = open_uniform(words.word[2], words.word[3]);
    const double us = 0.5 - (u < 0 ? -u : u), k = round_down((2 * a / us + b) * u + mean + 0.43);
    if (us >= 0.07 && v <= accepted) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v) + scale - log(a / (us * us) + b) <= k * log_mean - mean - log_factorial(k)) return k;
  }
  return round_down(mean);
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_RANDOM_DISTRIBUTIONS_H_
