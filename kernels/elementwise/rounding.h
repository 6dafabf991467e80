// Conversions between floats of different widths, for one scalar or 16 lanes. 16-bit floats are handled as their bits.
#ifndef FERRULE_KERNELS_ELEMENTWISE_ROUNDING_H_
#define FERRULE_KERNELS_ELEMENTWISE_ROUNDING_H_

#include "kernels/elementwise/exponential.h"

namespace ferrule::kernels {

// f32 to bfloat16, half to even: bfloat16 is the upper half of an f32, so a carry out of the lower half rounds it, up to
// infinity. A NaN must not carry.
template <typename V>
FERRULE_INLINE typename Rebind<V, int16_t>::Type bfloat16_bits(V x) {
  using B = BitsOf<V>;
  const B bits = bits_as<B>(x);
  const B rounded = bits + ((bits >> 16) & 1) + 0x7fff;
  return convert_to<typename Rebind<V, int16_t>::Type>(select(x == x, rounded, bits | 0x400000) >> 16);
}

// f64 to f32, rounded to odd: of the two neighbours of an inexact result the one with an odd last bit. A second rounding,
// to 16 bits, is then the rounding of x itself.
template <typename V>
FERRULE_INLINE typename Rebind<V, float>::Type round_to_odd(V x) {
  using F = typename Rebind<V, float>::Type;
  using B = BitsOf<F>;
  const F nearest = convert_to<F>(x);
  const V back = convert_to<V>(nearest);
  const B truncated = bits_as<B>(nearest) + mask_bits<B>(absolute(back) > absolute(x));
  return bits_as<F>(static_cast<B>(truncated | (mask_bits<B>(back != x) & 1)));
}

// ---- One scalar. Vectors of halves are converted by the processor (F16C on x86). -------------------------------------

// f32 to half, half to even.
inline uint16_t half_bits(float x) {
  const uint32_t bits = bits_as<uint32_t>(x), magnitude = bits & 0x7fffffff;
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= bits_as<uint32_t>(65520.0f)) return sign | 0x7c00;
  if (magnitude < bits_as<uint32_t>(0x1p-14f)) {
    // The last place of 0.5 is that of half's denormals: the addition rounds.
    const float sum = bits_as<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (bits_as<uint32_t>(sum) - bits_as<uint32_t>(0.5f)));
  }
  const uint32_t rebiased = magnitude - ((127u - 15u) << 23);
  return static_cast<uint16_t>(sign | (rebiased + (rebiased >> 13 & 1) + 0xfff) >> 13);
}

inline float half_value(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31, mantissa = half & 0x3ff;
  if (exponent == 0) return bits_as<float>(sign | bits_as<uint32_t>(static_cast<float>(mantissa) * 0x1p-24f));
  const uint32_t biased = exponent == 31 ? 255 : exponent + (127 - 15);
  return bits_as<float>(sign | biased << 23 | mantissa << 13);
}

inline float bfloat16_value(uint16_t bits) { return bits_as<float>(static_cast<uint32_t>(bits) << 16); }

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_ROUNDING_H_
