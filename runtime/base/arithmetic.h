// Arithmetic on sizes that come from a file or a caller: every function returns false instead of wrapping.
#ifndef FERRULE_RUNTIME_BASE_ARITHMETIC_H_
#define FERRULE_RUNTIME_BASE_ARITHMETIC_H_

#include <stdint.h>

namespace ferrule::runtime {

template <typename T>
[[nodiscard]] inline bool checked_add(T a, T b, T* out) {
  return !__builtin_add_overflow(a, b, out);
}

template <typename T>
[[nodiscard]] inline bool checked_subtract(T a, T b, T* out) {
  return !__builtin_sub_overflow(a, b, out);
}

template <typename T>
[[nodiscard]] inline bool checked_multiply(T a, T b, T* out) {
  return !__builtin_mul_overflow(a, b, out);
}

// offset + size <= total without computing the sum.
[[nodiscard]] inline bool range_fits(uint64_t offset, uint64_t size, uint64_t total) {
  return size <= total && offset <= total - size;
}

// Rounds up to a multiple of `alignment`, a power of two; false on overflow.
[[nodiscard]] inline bool checked_align(uint64_t value, uint64_t alignment, uint64_t* out) {
  if (!checked_add(value, alignment - 1, out)) return false;
  *out &= ~(alignment - 1);
  return true;
}

inline bool is_power_of_two(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Division and remainder of Python: the quotient rounds towards minus infinity, the remainder has the divisor's sign.
// False when the divisor is 0 or the quotient overflows.
[[nodiscard]] inline bool checked_floor_divide(int64_t a, int64_t b, int64_t* out) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return false;
  const int64_t quotient = a / b;
  *out = quotient - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
  return true;
}

[[nodiscard]] inline bool checked_floor_modulo(int64_t a, int64_t b, int64_t* out) {
  if (b == 0) return false;
  if (b == -1) {
    *out = 0;
    return true;
  }
  const int64_t remainder = a % b;
  *out = (remainder != 0 && (remainder < 0) != (b < 0)) ? remainder + b : remainder;
  return true;
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_BASE_ARITHMETIC_H_
