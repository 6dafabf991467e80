// A tile's sums as single registers, and factors that are read a register at a time: what NEON's product by one element of
// a register takes.
#ifndef FERRULE_KERNELS_BASE_REGISTER_SUMS_H_
#define FERRULE_KERNELS_BASE_REGISTER_SUMS_H_

#include "kernels/base/vector.h"

#if defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace ferrule::kernels {

// Bytes of a vector register.
#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif

// Whether a product can take one factor out of a register. Where factors of the left operand lie side by side, a register
// full of them is then read instead of a broadcast for each.
#if defined(__ARM_NEON)
inline constexpr bool kMultipliesByElement = true;
#else
inline constexpr bool kMultipliesByElement = false;
#endif

template <typename T>
inline constexpr int kRegisterLanes = kRegisterBytes / static_cast<int>(sizeof(T));
template <typename T>
struct RegisterOf {
  typedef T Type __attribute__((ext_vector_type(kRegisterLanes<T>)));
};
template <typename T>
using Register = typename RegisterOf<T>::Type;

// Reads COUNT elements, at most a register full; the other lanes are +0.
template <int COUNT, typename T>
FERRULE_INLINE Register<T> load_register(const T* from) {
  Register<T> v{};
  if constexpr (COUNT == kRegisterLanes<T>) {
    __builtin_memcpy(&v, from, sizeof(v));
  } else {
    static_assert(COUNT < 4, "two lanes and one more");
    if constexpr (COUNT >= 2) __builtin_memcpy(&v, from, 2 * sizeof(T));
    if constexpr (COUNT % 2 != 0) v[COUNT - 1] = from[COUNT - 1];
  }
  return v;
}

// 16 elements of a panel, of which ROWS rows take their products, or, if HALF, the first 8.
//
// A Neoverse N1 begins three operations a cycle, and the load of one register is two, of two by an offset three, of four one
// behind the other four. So few rows make so few products of a register that this counts, and leave the four registers side
// by side that it takes; five rows leave two. `apart`: the next 16 elements do not follow in memory. Their address is
// computed, then, and no offset, which would be too large for the load of two.
template <int ROWS, bool HALF = false, typename T>
FERRULE_INLINE Vec<T> load_panel(const T* from, [[maybe_unused]] bool apart = false) {
#if defined(__ARM_NEON)
  if constexpr (__is_same(T, float) && !HALF && ROWS <= 4) {
    return bits_as<Vec<T>>(vld1q_f32_x4(from));
  } else if constexpr (__is_same(T, float) && !HALF && ROWS == 5) {
    Vec<T> v;
    v.lo = bits_as<HalfVec<T>>(vld1q_f32_x2(from));
    v.hi = bits_as<HalfVec<T>>(vld1q_f32_x2(from + kLanes / 2));
    return v;
  }
  if (apart) asm("" : "+r"(from));
#endif
  return load(from);
}

// The sums of ROWS rows of WHOLE vectors (and of half a vector), columns before rows. Products are made in this order, so a
// register of the panel is needed for ROWS products in a row and no longer; by rows, a tile as tall as the registers allow
// would not fit, because every register of the panel would wait for the last row.
template <typename T, int ROWS, int WHOLE, bool HALF>
struct RegisterSums {
  static constexpr int kOfVector = kLanes / kRegisterLanes<T>;
  static constexpr int kWhole = WHOLE * kOfVector, kAll = kWhole + HALF * kOfVector / 2;
  Register<T> sums[kAll][ROWS];

  // Register i of a vector or half a vector.
  template <typename V>
  static FERRULE_INLINE Register<T> get(const V& vector, int i) {
    Register<T> out;
    __builtin_memcpy(&out, reinterpret_cast<const T*>(&vector) + i * kRegisterLanes<T>, sizeof(out));
    return out;
  }
  template <typename V>
  static FERRULE_INLINE void set(V& vector, int i, Register<T> value) {
    __builtin_memcpy(reinterpret_cast<T*>(&vector) + i * kRegisterLanes<T>, &value, sizeof(value));
  }

  template <int PANELS>
  FERRULE_INLINE void take(const Vec<T> (&acc)[ROWS][PANELS], const HalfVec<T> (&half)[ROWS]) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int i = 0; i < kWhole; ++i) sums[i][r] = get(acc[r][i / kOfVector], i % kOfVector);
#pragma unroll
      for (int i = kWhole; i < kAll; ++i) sums[i][r] = get(half[r], i - kWhole);
    }
  }
  template <int PANELS>
  FERRULE_INLINE void give(Vec<T> (&acc)[ROWS][PANELS], HalfVec<T> (&half)[ROWS]) const {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int i = 0; i < kWhole; ++i) set(acc[r][i / kOfVector], i % kOfVector, sums[i][r]);
#pragma unroll
      for (int i = kWhole; i < kAll; ++i) set(half[r], i - kWhole, sums[i][r]);
    }
  }

  // Adds factor(r) times the panels' vectors to the rows [first, last), which are constants.
  template <int PANELS, typename Factor>
  FERRULE_INLINE void add(const Vec<T> (&b)[PANELS], int64_t first, int64_t last, Factor factor) {
#pragma unroll
    for (int i = 0; i < kAll; ++i) {
      const Register<T> column = get(b[i / kOfVector], i % kOfVector);
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (r < first || r >= last) continue;
        sums[i][r] = __builtin_elementwise_fma((Register<T>)(T)factor(r), column, sums[i][r]);
      }
    }
  }
};

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_REGISTER_SUMS_H_
