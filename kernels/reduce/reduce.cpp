// Sum, product, maximum and minimum along rows or columns.
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
template <typename T>
using Sum = SumOf<T, 1>;
template <typename T>
using Sum2 = SumOf<T, 2>;
template <typename T>
using Sum3 = SumOf<T, 3>;
template <typename T>
using Sum4 = SumOf<T, 4>;
template <typename T>
using Maximum = Extremum<T, true>;
template <typename T>
using Minimum = Extremum<T, false>;
}  // namespace ferrule::kernels

#define FERRULE_REDUCE(op, S, T, State)                                                                           \
  FERRULE_DEFINE(void, ferrule_reduce_rows_##op##_##S)                                                            \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t outer, int64_t n, int64_t tile_rows,                  \
   int64_t tile_begin, int64_t tile_end) {                                                                        \
    using namespace ferrule::kernels;                                                                             \
    reduce_rows<T, State<T>>(ctx, load, store, outer, n, tile_rows, tile_begin, tile_end);                        \
  }                                                                                                               \
  FERRULE_DEFINE(void, ferrule_reduce_columns_##op##_##S)                                                         \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t, int64_t n, int64_t inner, int64_t tile_begin,        \
   int64_t tile_end) {                                                                                            \
    using namespace ferrule::kernels;                                                                             \
    reduce_columns<T, State<T>>(ctx, load, store, n, inner, tile_begin, tile_end);                                \
  }
#define FERRULE_REDUCE_TYPES(op, State)    \
  FERRULE_REDUCE(op, f32, float, State)    \
  FERRULE_REDUCE(op, f64, double, State)   \
  FERRULE_REDUCE(op, i32, int32_t, State)  \
  FERRULE_REDUCE(op, i64, int64_t, State)
FERRULE_REDUCE_TYPES(sum, Sum)
FERRULE_REDUCE_TYPES(max, Maximum)
FERRULE_REDUCE_TYPES(min, Minimum)
FERRULE_REDUCE_TYPES(prod, Product)
FERRULE_REDUCE(sum2, f32, float, Sum2)
FERRULE_REDUCE(sum2, f64, double, Sum2)
FERRULE_REDUCE(sum3, f32, float, Sum3)
FERRULE_REDUCE(sum3, f64, double, Sum3)
FERRULE_REDUCE(sum4, f32, float, Sum4)
FERRULE_REDUCE(sum4, f64, double, Sum4)
