// Indices of the largest or smallest element. Ties: the lower index. NaN counts as the largest.
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
namespace {

// All ones where a ranks strictly before b: larger (MAX) or smaller, NaN above every number.
template <typename T, bool MAX>
FERRULE_INLINE Vec<typename LaneTraits<T>::Bits> ranks_before(Vec<T> a, Vec<T> b) {
  if constexpr (!Extremum<T, MAX>::kFloat) {
    return MAX ? a > b : a < b;
  } else {
    return MAX ? (a > b) | ((a != a) & (b == b)) : (a < b) | ((b != b) & (a == a));
  }
}

template <typename T, bool MAX>
struct Best {
  using Bits = typename LaneTraits<T>::Bits;
  Vec<T> value;
  Vec<Bits> index;
  // Takes the later elements `x` numbered `at` where they rank strictly before.
  FERRULE_INLINE void add(Vec<T> x, Vec<Bits> at, Vec<Bits> mask) {
    const Vec<Bits> wins = ranks_before<T, MAX>(x, value) & mask;
    value = select(wins, x, value);
    index = select(wins, at, index);
  }
};

template <typename T, bool MAX>
FERRULE_INLINE void arg_row(void* ctx, FerruleLoad load, FerruleStore store, int64_t row, int64_t n) {
  using Bits = typename LaneTraits<T>::Bits;
  Best<T, MAX> best;
  Vec<T> x{};
  load(ctx, row, 0, 0, n < kLanes ? n : kLanes, &x);
  best.value = x;
  best.index = lane_index<T>();
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) {
    load(ctx, row, i, 0, kLanes, &x);
    best.add(x, lane_index<T>() + splat(static_cast<Bits>(i)), ~Vec<Bits>{});
  }
  if (i < n) {
    load(ctx, row, i, 0, n % kLanes, &x);
    best.add(x, lane_index<T>() + splat(static_cast<Bits>(i)), lanes_below<T>(n % kLanes));
  }
  // Lanes in order of their number; an equal value wins if its index is lower.
  T value = best.value[0];
  Bits index = best.index[0];
  const int lanes = n < kLanes ? static_cast<int>(n) : kLanes;
  T values[kLanes];
  Bits indices[kLanes];
  store_first<T>(values, best.value, kLanes);
  store_first<Bits>(indices, best.index, kLanes);
#pragma clang loop unroll(disable)
  for (int lane = 1; lane < lanes; ++lane) {
    const T a = values[lane];
    bool before = MAX ? a > value : a < value;
    bool equal = a == value;
    if constexpr (Extremum<T, MAX>::kFloat) {
      before = before || (MAX ? a != a && value == value : a == a && value != value);
      equal = equal || (a != a && value != value);
    }
    if (before || (equal && indices[lane] < index)) {
      value = a;
      index = indices[lane];
    }
  }
  const Vec<int32_t> out = splat(static_cast<int32_t>(index));
  store(ctx, row, 0, 1, &out);
}

template <typename T, bool MAX>
FERRULE_INLINE void arg_columns(void* ctx, FerruleLoad load, FerruleStore store, int64_t o, int64_t n, int64_t col,
                                int64_t count) {
  using Bits = typename LaneTraits<T>::Bits;
  Best<T, MAX> best;
  Vec<T> x;
  load(ctx, o, 0, col, count, &x);
  best.value = x;
  best.index = Vec<Bits>{};
  for (int64_t i = 1; i < n; ++i) {
    load(ctx, o, i, col, count, &x);
    best.add(x, splat(static_cast<Bits>(i)), ~Vec<Bits>{});
  }
  const Vec<int32_t> out = convert_to<Vec<int32_t>>(best.index);
  store(ctx, o, col, count, &out);
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_ARG(op, MAX, S, T)                                                                                 \
  FERRULE_DEFINE(void, ferrule_##op##_rows##_##S)                                                             \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t outer, int64_t n, int64_t tile_rows,                   \
   int64_t tile_begin, int64_t tile_end) {                                                                         \
    const int64_t end = tile_end * tile_rows < outer ? tile_end * tile_rows : outer;                               \
    for (int64_t row = tile_begin * tile_rows; row < end; ++row) {                                                 \
      ferrule::kernels::arg_row<T, MAX>(ctx, load, store, row, n);                                                 \
    }                                                                                                              \
  }                                                                                                                \
  FERRULE_DEFINE(void, ferrule_##op##_columns##_##S)                                                          \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t, int64_t n, int64_t inner, int64_t tile_begin,         \
   int64_t tile_end) {                                                                                             \
    using namespace ferrule::kernels;                                                                              \
    for_columns(inner, tile_begin, tile_end,                                                                       \
                [&](int64_t o, int64_t col, int64_t count) __attribute__((always_inline)) {                        \
                  arg_columns<T, MAX>(ctx, load, store, o, n, col, count);                                         \
                });                                                                                                \
  }
#define FERRULE_ARG_TYPES(op, MAX)    \
  FERRULE_ARG(op, MAX, f32, float)    \
  FERRULE_ARG(op, MAX, f64, double)   \
  FERRULE_ARG(op, MAX, i32, int32_t)  \
  FERRULE_ARG(op, MAX, i64, int64_t)
FERRULE_ARG_TYPES(argmax, true)
FERRULE_ARG_TYPES(argmin, false)
