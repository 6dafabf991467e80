// Vectors of 16 lanes, and the same operations on one scalar.
//
// Skeletons are written once over `Vec<T>`; clang splits a vector into what the target has (one zmm, two ymm, four
// q registers). Polynomials are written over a type that is either a vector or a plain scalar, so the scalar
// reference and the vector code are the same sequence of roundings. The scalar half compiles with any C++17
// compiler; the vector half needs clang.
#ifndef FERRULE_KERNELS_BASE_VECTOR_H_
#define FERRULE_KERNELS_BASE_VECTOR_H_

#include <stdint.h>

#define FERRULE_INLINE inline __attribute__((always_inline))

namespace ferrule::kernels {

inline constexpr int kLanes = 16;

// What a lane type's bit pattern looks like as an integer, and the float format's constants.
template <typename T>
struct LaneTraits;
template <>
struct LaneTraits<float> {
  using Bits = int32_t;
  using Unsigned = uint32_t;
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kInfinity = __builtin_inff();
  static constexpr float kMin = 0x1p-126f;
};
template <>
struct LaneTraits<double> {
  using Bits = int64_t;
  using Unsigned = uint64_t;
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kInfinity = __builtin_inf();
  static constexpr double kMin = 0x1p-1022;
};
template <>
struct LaneTraits<int16_t> {
  using Bits = int16_t;
  using Unsigned = uint16_t;
};
template <>
struct LaneTraits<int32_t> {
  using Bits = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct LaneTraits<int64_t> {
  using Bits = int64_t;
  using Unsigned = uint64_t;
};

// ---- One scalar -----------------------------------------------------------------------------------------------

FERRULE_INLINE float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
FERRULE_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
FERRULE_INLINE float square_root(float a) { return __builtin_sqrtf(a); }
FERRULE_INLINE double square_root(double a) { return __builtin_sqrt(a); }
FERRULE_INLINE float round_even(float a) { return __builtin_rintf(a); }
FERRULE_INLINE double round_even(double a) { return __builtin_rint(a); }
FERRULE_INLINE float round_down(float a) { return __builtin_floorf(a); }
FERRULE_INLINE double round_down(double a) { return __builtin_floor(a); }
FERRULE_INLINE float round_to_zero(float a) { return __builtin_truncf(a); }
FERRULE_INLINE double round_to_zero(double a) { return __builtin_trunc(a); }

template <typename T>
FERRULE_INLINE T select(bool mask, T yes, T no) {
  return mask ? yes : no;
}
FERRULE_INLINE bool any(bool mask) { return mask; }
// A mask as integers of type B, all ones where it is true.
template <typename B>
FERRULE_INLINE B mask_bits(bool mask) {
  return mask ? static_cast<B>(-1) : B(0);
}

// The scalar that a lane holds, and conversions named by what they produce.
template <typename V>
struct LaneOf {
  using Type = V;
};
template <typename To, typename From>
FERRULE_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From), "a bit cast keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}
// A type like V (scalar or vector) with lanes of type T.
template <typename V, typename T>
struct Rebind {
  using Type = T;
};

#ifdef __clang__

// ---- 16 lanes -------------------------------------------------------------------------------------------------

template <typename T>
struct VectorOf;
#define FERRULE_VECTOR_OF(T)                              \
  template <>                                             \
  struct VectorOf<T> {                                    \
    typedef T Type __attribute__((ext_vector_type(16)));  \
  };
FERRULE_VECTOR_OF(float)
FERRULE_VECTOR_OF(double)
FERRULE_VECTOR_OF(int8_t)
FERRULE_VECTOR_OF(int16_t)
FERRULE_VECTOR_OF(int32_t)
FERRULE_VECTOR_OF(int64_t)
FERRULE_VECTOR_OF(uint32_t)
FERRULE_VECTOR_OF(uint64_t)
#undef FERRULE_VECTOR_OF
template <typename T>
using Vec = typename VectorOf<T>::Type;

// The first 8 lanes of a Vec.
template <typename T>
struct HalfVectorOf {
  typedef T Type __attribute__((ext_vector_type(kLanes / 2)));
};
template <typename T>
using HalfVec = typename HalfVectorOf<T>::Type;

#define FERRULE_VECTOR_LANE(T)              \
  template <>                               \
  struct LaneOf<Vec<T>> {                   \
    using Type = T;                         \
  };                                        \
  template <typename To>                    \
  struct Rebind<Vec<T>, To> {               \
    using Type = Vec<To>;                   \
  };
FERRULE_VECTOR_LANE(float)
FERRULE_VECTOR_LANE(double)
FERRULE_VECTOR_LANE(int16_t)
FERRULE_VECTOR_LANE(int32_t)
FERRULE_VECTOR_LANE(int64_t)
FERRULE_VECTOR_LANE(uint32_t)
FERRULE_VECTOR_LANE(uint64_t)
#undef FERRULE_VECTOR_LANE

// A cast, never `Vec<T>{} + value`: that is an addition, and it rounds -0 to +0.
template <typename T>
FERRULE_INLINE Vec<T> splat(T value) {
  return (Vec<T>)value;
}

// Memory is aligned to the element only: rows of a tensor start anywhere.
template <typename T>
FERRULE_INLINE Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof(v));
  return v;
}
template <typename T>
FERRULE_INLINE void store(T* to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof(v));
}

// 16 lanes of which the upper 8 are +0.
template <typename T>
FERRULE_INLINE Vec<T> widen(HalfVec<T> lower) {
  Vec<T> v{};
  v.lo = lower;
  return v;
}

template <typename T>
FERRULE_INLINE Vec<typename LaneTraits<T>::Bits> lane_index() {
  return Vec<typename LaneTraits<T>::Bits>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
}
// All ones in the lanes below `count`.
template <typename T>
FERRULE_INLINE Vec<typename LaneTraits<T>::Bits> lanes_below(int64_t count) {
  using Bits = typename LaneTraits<T>::Bits;
  return lane_index<T>() < splat<Bits>(static_cast<Bits>(count));
}

// Reads `count` elements; the other lanes are +0. Never touches memory beyond them.
template <typename T>
FERRULE_INLINE Vec<T> load_first(const T* from, int64_t count) {
  if (count == kLanes) return load(from);
  typedef bool Mask __attribute__((ext_vector_type(16)));
  const Mask mask = __builtin_convertvector(lanes_below<T>(count) != 0, Mask);
  return __builtin_masked_load(mask, from, Vec<T>{});
}
template <typename T>
FERRULE_INLINE void store_first(T* to, Vec<T> v, int64_t count) {
  if (count == kLanes) return store(to, v);
  typedef bool Mask __attribute__((ext_vector_type(16)));
  const Mask mask = __builtin_convertvector(lanes_below<T>(count) != 0, Mask);
  __builtin_masked_store(mask, v, to);
}

#define FERRULE_VECTOR_FLOAT_OPS(T)                                                                               \
  FERRULE_INLINE Vec<T> fused(Vec<T> a, Vec<T> b, Vec<T> c) { return __builtin_elementwise_fma(a, b, c); }        \
  FERRULE_INLINE HalfVec<T> fused(HalfVec<T> a, HalfVec<T> b, HalfVec<T> c) {                                     \
    return __builtin_elementwise_fma(a, b, c);                                                                    \
  }                                                                                                               \
  FERRULE_INLINE Vec<T> square_root(Vec<T> a) { return __builtin_elementwise_sqrt(a); }                           \
  FERRULE_INLINE Vec<T> round_even(Vec<T> a) { return __builtin_elementwise_roundeven(a); }                       \
  FERRULE_INLINE Vec<T> round_down(Vec<T> a) { return __builtin_elementwise_floor(a); }                           \
  FERRULE_INLINE Vec<T> round_to_zero(Vec<T> a) { return __builtin_elementwise_trunc(a); }
FERRULE_VECTOR_FLOAT_OPS(float)
FERRULE_VECTOR_FLOAT_OPS(double)
#undef FERRULE_VECTOR_FLOAT_OPS

// Masks are integer vectors as wide as the data, all ones or all zeros, as vector comparisons make them.
template <typename V>
FERRULE_INLINE V select(Vec<int32_t> mask, V yes, V no) {
  return mask ? yes : no;
}
template <typename V>
FERRULE_INLINE V select(Vec<int64_t> mask, V yes, V no) {
  return mask ? yes : no;
}
template <typename B>
FERRULE_INLINE B mask_bits(Vec<int64_t> mask) {
  return __builtin_convertvector(mask, B);
}
FERRULE_INLINE bool any(Vec<int32_t> mask) { return __builtin_reduce_or(mask) != 0; }
FERRULE_INLINE bool any(Vec<int64_t> mask) { return __builtin_reduce_or(mask) != 0; }

// Converts lane by lane: number to number, rounding as a C++ cast does.
template <typename To, typename From>
FERRULE_INLINE To convert_to(From from) {
  if constexpr (__is_same(typename LaneOf<From>::Type, From)) {
    return static_cast<To>(from);
  } else {
    return __builtin_convertvector(from, To);
  }
}

// Folds lanes 8, 4, 2, 1 with `combine`: the one order in which 16 lanes become one value.
template <typename T, typename Combine>
FERRULE_INLINE T fold_lanes(Vec<T> v, Combine combine) {
  typedef T Half __attribute__((ext_vector_type(8)));
  typedef T Quarter __attribute__((ext_vector_type(4)));
  typedef T Pair __attribute__((ext_vector_type(2)));
  const Half half = combine(Half(v.lo), Half(v.hi));
  const Quarter quarter = combine(Quarter(half.lo), Quarter(half.hi));
  const Pair pair = combine(Pair(quarter.lo), Pair(quarter.hi));
  return combine(pair.x, pair.y);
}

#else

template <typename To, typename From>
FERRULE_INLINE To convert_to(From from) {
  return static_cast<To>(from);
}

#endif  // __clang__

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_VECTOR_H_
