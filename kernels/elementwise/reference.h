// Elementwise ops on arrays, one scalar at a time: the definition of the bits, and the compiler's constant folder.
//
// Ops go by their names in the graph dialect. Every function returns false, and writes nothing, if the op does not
// exist for the type. `in`, `out`, ... hold `count` elements of the stated type; booleans are bytes 0 or 1.
#ifndef FERRULE_KERNELS_ELEMENTWISE_REFERENCE_H_
#define FERRULE_KERNELS_ELEMENTWISE_REFERENCE_H_

#include <cstdint>
#include <string_view>

#include "kernels/base/data_type.h"

namespace ferrule::kernels {

// neg abs sign floor ceil round trunc relu on all numbers (floor, ceil, round and trunc leave integers as they are; integer
// neg and abs wrap; sign of a float NaN is NaN); exp exp2 expm1 log log2 log10 log1p sqrt cbrt sigmoid erf erfc sin cos tan
// asin acos atan sinh cosh tanh asinh acosh atanh on f32 and f64; bitwise_not on integers; logical_not on bool. Result
// type = operand type.
bool reference_unary(std::string_view op, DataType type, const void* in, void* out, int64_t count);

// add sub mul floor_div mod fmod maximum minimum on all numbers; div pow atan2 hypot copysign on f32 and f64; bitwise_and
// bitwise_or bitwise_xor left_shift right_shift on integers. Result type = operand type.
// equal not_equal less less_equal greater greater_equal on every type, logical_and logical_or logical_xor on bool:
// the result is bool.
bool reference_binary(std::string_view op, DataType type, const void* x, const void* y, void* out, int64_t count);

// out = mask ? x : y, mask of bool.
bool reference_where(DataType type, const void* mask, const void* x, const void* y, void* out, int64_t count);

// out = a * b + c with one rounding, on f32 and f64.
bool reference_fma(DataType type, const void* a, const void* b, const void* c, void* out, int64_t count);

// Any type to any, 16-bit floats included. Integers become 16-bit floats by way of f32; a wider float rounds half to even,
// once. Float to integer rounds towards zero and saturates, NaN gives 0; integer to integer wraps; to bool
// is "not equal to 0" (NaN is true).
bool reference_cast(DataType from, DataType to, const void* in, void* out, int64_t count);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ELEMENTWISE_REFERENCE_H_
