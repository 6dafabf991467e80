// Floor division and its remainder, with Python's results, for one scalar or 16 lanes.
#ifndef FERRULE_KERNELS_ELEMENTWISE_DIVISION_H_
#define FERRULE_KERNELS_ELEMENTWISE_DIVISION_H_

#include "kernels/elementwise/exponential.h"

namespace ferrule::kernels {

// ---- integers: by zero gives 0, the smallest by -1 wraps ---------------------------------------------------------

template <typename V>
struct Division {
  V quotient, remainder;
};

template <typename V>
FERRULE_INLINE Division<V> divide_unsigned(V x, V y) {
  const auto by_zero = y == V{};
  const V quotient = x / select(by_zero, constant<V>(1), y);
  return {select(by_zero, V{}, quotient), select(by_zero, V{}, x - quotient * y)};
}

// Rounded towards zero, as the machine divides, but without its traps.
template <typename V>
FERRULE_INLINE Division<V> divide_truncated(V x, V y) {
  using T = ScalarOf<V>;
  const V zero = V{}, one = constant<V>(T(1));
  const auto by_zero = y == zero, by_minus_one = y == constant<V>(T(-1));
  const V quotient = x / select(by_zero | by_minus_one, one, y);
  const V remainder = x - quotient * select(by_zero | by_minus_one, one, y);
  // x is not divided by -1 but negated, where it may wrap.
  V negated;
  if constexpr (sizeof(V) == sizeof(T)) {
    using U = typename LaneTraits<T>::Unsigned;
    negated = static_cast<T>(U(0) - static_cast<U>(x));
  } else {
    negated = -x;
  }
  return {select(by_zero, zero, select(by_minus_one, negated, quotient)), remainder};
}

template <typename V>
FERRULE_INLINE Division<V> divide_integers(V x, V y) {
  if constexpr (static_cast<ScalarOf<V>>(-1) > ScalarOf<V>(0)) {
    return divide_unsigned(x, y);
  } else {
    const V zero = V{}, one = constant<V>(1);
    const Division<V> truncated = divide_truncated(x, y);
    const auto adjust = (truncated.remainder != zero) & ((truncated.remainder < zero) != (y < zero));
    return {select(adjust, truncated.quotient - one, truncated.quotient),
            select(adjust, truncated.remainder + y, truncated.remainder)};
  }
}

// ---- floats ------------------------------------------------------------------------------------------------------

// The exact remainder of positive finite numbers, bit by bit: for quotients too large for one fused step.
template <typename T>
FERRULE_INLINE T long_remainder(T x, T y) {
  using U = typename LaneTraits<T>::Unsigned;
  constexpr int kMantissa = LaneTraits<T>::kMantissa;
  constexpr U kOne = U(1) << kMantissa, kMask = kOne - 1;
  const auto split = [&](T v, int* exponent) __attribute__((always_inline)) {
    const U bits = bits_as<U>(v);
    *exponent = static_cast<int>(bits >> kMantissa);
    U m = bits & kMask;
    if (*exponent == 0) {
      *exponent = 1;
      for (; m < kOne; m <<= 1) --*exponent;
    } else {
      m |= kOne;
    }
    return m;
  };
  int ex, ey;
  U mx = split(x, &ex);
  const U my = split(y, &ey);
  if (ex < ey) return x;
  for (; ex > ey; --ex) {
    if (mx >= my) mx -= my;
    mx <<= 1;
  }
  if (mx >= my) mx -= my;
  if (mx == 0) return 0;
  for (; mx < kOne; mx <<= 1) --ex;
  if (ex >= 1) return bits_as<T>(static_cast<U>((static_cast<U>(ex) << kMantissa) | (mx & kMask)));
  return bits_as<T>(static_cast<U>(mx >> (1 - ex)));
}

// r = remainder where the quotient x/y is too large for one step; x, y >= 0.
template <typename T>
FERRULE_INLINE void remainder_where_long(T x, T y, T quotient, T* r) {
  constexpr T kInfinity = LaneTraits<T>::kInfinity;
  const T limit = static_cast<T>(int64_t{1} << (LaneTraits<T>::kMantissa - 1));
  if (quotient >= limit && x < kInfinity && y > 0) *r = long_remainder(x, y);
}
#ifdef __clang__
template <typename T>
FERRULE_INLINE void remainders_where_long(Vec<T> x, Vec<T> y, Vec<T> quotient, Vec<T>* r) {
  const T limit = static_cast<T>(int64_t{1} << (LaneTraits<T>::kMantissa - 1));
  if (!any(quotient >= splat(limit))) return;
  T xs[kLanes], ys[kLanes], quotients[kLanes], remainders[kLanes];
  store(xs, x);
  store(ys, y);
  store(quotients, quotient);
  store(remainders, *r);
#pragma clang loop unroll(disable)
  for (int i = 0; i < kLanes; ++i) remainder_where_long<T>(xs[i], ys[i], quotients[i], &remainders[i]);
  *r = load(remainders);
}
#endif

// The exact remainder with the sign of x (C's fmod).
template <typename V>
FERRULE_INLINE V truncated_remainder(V x, V y) {
  using T = ScalarOf<V>;
  const V infinity = constant<V>(LaneTraits<T>::kInfinity);
  const V ax = absolute(x), ay = absolute(y);
  const V quotient = ax / ay;
  // The rounded quotient may be one too large: then the exact difference is negative, and one divisor is too many.
  V r = fused(-round_to_zero(quotient), ay, ax);
  r = select(r < V{}, r + ay, r);
  if constexpr (sizeof(V) == sizeof(T)) {
    remainder_where_long<T>(ax, ay, quotient, &r);
#ifdef __clang__
  } else {
    remainders_where_long<T>(ax, ay, quotient, &r);
#endif
  }
  r = select((ay == infinity) & (ax < infinity), ax, r);
  r = select((ax == infinity) | (ay == V{}), constant<V>(T(__builtin_nan(""))), r);
  return copy_sign(r, x);
}

template <typename V>
FERRULE_INLINE V mod_floats(V x, V y) {
  const V r = truncated_remainder(x, y);
  const V adjusted = select((r < V{}) != (y < V{}), r + y, r);
  return select(r == V{}, copy_sign(r, y), adjusted);
}

// The floor of the exact quotient; division by zero as IEEE divides.
template <typename V>
FERRULE_INLINE V floor_div_floats(V x, V y) {
  using T = ScalarOf<V>;
  const V one = constant<V>(T(1));
  const V r = truncated_remainder(x, y);
  V quotient = (x - r) / y;
  quotient = select((r != V{}) & ((r < V{}) != (y < V{})), quotient - one, quotient);
  // (x - r)/y is an integer but for its rounding.
  V whole = round_down(quotient);
  whole = select(quotient - whole > constant<V>(T(0.5)), whole + one, whole);
  whole = select(quotient == V{}, copy_sign(V{}, x / y), whole);
  return select(y == V{}, x / y, whole);
}

template <typename V>
FERRULE_INLINE V floor_div(V x, V y) {
  if constexpr (static_cast<ScalarOf<V>>(0.5) != 0) {
    return floor_div_floats(x, y);
  } else {
    return divide_integers(x, y).quotient;
  }
}
template <typename V>
FERRULE_INLINE V mod(V x, V y) {
  if constexpr (static_cast<ScalarOf<V>>(0.5) != 0) {
    return mod_floats(x, y);
  } else {
    return divide_integers(x, y).remainder;
  }
}

// The remainder with the sign of x.
template <typename V>
FERRULE_INLINE V fmod(V x, V y) {
  using T = ScalarOf<V>;
  if constexpr (static_cast<T>(0.5) != 0) {
    return truncated_remainder(x, y);
  } else if constexpr (static_cast<T>(-1) > T(0)) {
    return divide_unsigned(x, y).remainder;
  } else {
    return divide_truncated(x, y).remainder;
  }
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_DIVISION_H_
