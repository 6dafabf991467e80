// The functions that a skeleton calls back: generated code, known at compile time and inlined.
//
// A skeleton owns the loops of a family and the order of its arithmetic; a callback owns what was fused into it.
// Elements travel in vectors of 16 lanes on every target, by pointer to 16 elements aligned to their own size
// in bytes times 16, at most 64 (boolean values travel as bytes).
#ifndef FERRULE_KERNELS_BASE_CALLBACKS_H_
#define FERRULE_KERNELS_BASE_CALLBACKS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Computes and writes `count` (1..16) consecutive elements that start at column `col` of row `row`.
typedef void (*FerruleBody)(void* ctx, int64_t row, int64_t col, int64_t count);

// Produces elements for a reduction. Along rows: elements i .. i+count-1 of row `outer` (col is 0). Along columns:
// element i of the columns col .. col+count-1 of `outer`. Fills all 16 lanes: lanes at and beyond `count` are +0.
typedef void (*FerruleLoad)(void* ctx, int64_t outer, int64_t i, int64_t col, int64_t count, void* out);

// Asks for the memory that the store of up to 16 elements from column `col` of row `row` on will use. Null where a store
// uses nothing that has to be waited for.
typedef void (*FerruleFetch)(void* ctx, int64_t row, int64_t col);

// Consumes `count` (1..16) consecutive results that start at column `col` of row `row`; lanes beyond are unspecified.
typedef void (*FerruleStore)(void* ctx, int64_t row, int64_t col, int64_t count, const void* in);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // FERRULE_KERNELS_BASE_CALLBACKS_H_
