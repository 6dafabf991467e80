// Running sums, products and extremes, and linear recurrences, along the middle axis of [outer, n, inner].
//
// A step is one operation on 16 columns. Along contiguous rows (inner = 1) only one lane is used: the steps of one run
// depend on each other, and rows are far apart.
#include "kernels/base/define.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {
namespace {

// visit(element index of the first column, columns) for each chunk of the tiles.
template <typename Visit>
FERRULE_INLINE void for_chunks(int64_t n, int64_t inner, int64_t tile_begin, int64_t tile_end, Visit visit) {
  const int64_t chunks = (inner + kLanes - 1) / kLanes;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t column = tile % chunks * kLanes;
    visit(tile / chunks * n * inner + column, inner - column < kLanes ? inner - column : kLanes);
  }
}

template <typename T>
constexpr bool is_float() {
  return static_cast<T>(0.5) != 0;
}

template <typename T>
struct Sum {
  static FERRULE_INLINE Vec<T> start(Vec<T>) { return Vec<T>{}; }
  static FERRULE_INLINE Vec<T> step(Vec<T> total, Vec<T> x) { return total + x; }
};
template <typename T>
struct Product {
  static FERRULE_INLINE Vec<T> start(Vec<T>) { return splat(T(1)); }
  static FERRULE_INLINE Vec<T> step(Vec<T> total, Vec<T> x) { return total * x; }
};
template <typename T, bool MAX>
struct Extremum {
  static FERRULE_INLINE Vec<T> start(Vec<T> first) { return first; }
  static FERRULE_INLINE Vec<T> step(Vec<T> total, Vec<T> x) {
    if constexpr (is_float<T>()) {
      return MAX ? __builtin_elementwise_maximum(total, x) : __builtin_elementwise_minimum(total, x);
    } else {
      return MAX ? __builtin_elementwise_max(total, x) : __builtin_elementwise_min(total, x);
    }
  }
};
template <typename T>
using Maximum = Extremum<T, true>;
template <typename T>
using Minimum = Extremum<T, false>;

template <typename T, typename Operation>
FERRULE_INLINE void run(T* y, const T* x, int64_t n, int64_t inner, bool reverse, bool exclusive, int64_t tile_begin,
                        int64_t tile_end) {
  if (n == 0) return;
  const int64_t stride = reverse ? -inner : inner;
  for_chunks(n, inner, tile_begin, tile_end, [&](int64_t at, int64_t count) __attribute__((always_inline)) {
    if (reverse) at += (n - 1) * inner;
    Vec<T> total = Operation::start(load_first(x + at, count));
    for (int64_t i = 0; i < n; ++i, at += stride) {
      const Vec<T> next = Operation::step(total, load_first(x + at, count));
      store_first(y + at, exclusive ? total : next, count);
      total = next;
    }
  });
}

// All ones where a ranks strictly before b: larger (MAX) or smaller, NaN before every number.
template <typename T, bool MAX>
FERRULE_INLINE Vec<typename LaneTraits<T>::Bits> ranks_before(Vec<T> a, Vec<T> b) {
  const auto beyond = MAX ? a > b : a < b;
  if constexpr (is_float<T>()) {
    return beyond | ((a != a) & (b == b));
  } else {
    return beyond;
  }
}

template <typename T, bool MAX>
FERRULE_INLINE void run_arg(int32_t* y, const T* x, int64_t n, int64_t inner, int64_t tile_begin, int64_t tile_end) {
  using Bits = typename LaneTraits<T>::Bits;
  if (n == 0) return;
  for_chunks(n, inner, tile_begin, tile_end, [&](int64_t at, int64_t count) __attribute__((always_inline)) {
    Vec<T> best = load_first(x + at, count);
    Vec<Bits> index{};
    for (int64_t i = 0; i < n; ++i, at += inner) {
      const Vec<T> value = load_first(x + at, count);
      const Vec<Bits> wins = ranks_before<T, MAX>(value, best);
      best = select(wins, value, best);
      index = select(wins, splat(static_cast<Bits>(i)), index);
      store_first(y + at, convert_to<Vec<int32_t>>(index), count);
    }
  });
}

template <typename T>
FERRULE_INLINE void run_recurrence(T* y, const T* a, const T* b, int64_t n, int64_t inner, bool reverse,
                                   bool exclusive, bool lagged, int64_t tile_begin, int64_t tile_end) {
  if (n == 0) return;
  const int64_t stride = reverse ? -inner : inner;
  for_chunks(n, inner, tile_begin, tile_end, [&](int64_t at, int64_t count) __attribute__((always_inline)) {
    if (reverse) at += (n - 1) * inner;
    Vec<T> value = load_first(b + at, count), factor = load_first(a + at, count);
    store_first(y + at, exclusive ? Vec<T>{} : value, count);
    for (int64_t i = 1; i < n; ++i) {
      at += stride;
      const Vec<T> own = load_first(a + at, count);
      const Vec<T> next = fused(lagged ? factor : own, value, load_first(b + at, count));
      store_first(y + at, exclusive ? value : next, count);
      value = next;
      factor = own;
    }
  });
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_RUN(op, S, T, Operation)                                                                             \
  FERRULE_DEFINE(void, ferrule_##op##_##S)                                                                           \
  (T * y, const T* x, int64_t, int64_t n, int64_t inner, int64_t reverse, int64_t exclusive, int64_t tile_begin,     \
   int64_t tile_end) {                                                                                               \
    using namespace ferrule::kernels;                                                                                \
    run<T, Operation<T>>(y, x, n, inner, reverse != 0, exclusive != 0, tile_begin, tile_end);                        \
  }
#define FERRULE_EXTREME_RUN(op, S, T, Operation)                                                                     \
  FERRULE_DEFINE(void, ferrule_##op##_##S)                                                                           \
  (T * y, const T* x, int64_t, int64_t n, int64_t inner, int64_t tile_begin, int64_t tile_end) {                     \
    using namespace ferrule::kernels;                                                                                \
    run<T, Operation<T>>(y, x, n, inner, false, false, tile_begin, tile_end);                                        \
  }
#define FERRULE_ARG_RUN(op, S, T, MAX)                                                                               \
  FERRULE_DEFINE(void, ferrule_##op##_##S)                                                                           \
  (int32_t * y, const T* x, int64_t, int64_t n, int64_t inner, int64_t tile_begin, int64_t tile_end) {               \
    ferrule::kernels::run_arg<T, MAX>(y, x, n, inner, tile_begin, tile_end);                                         \
  }
#define FERRULE_RUNS(S, T)                     \
  FERRULE_RUN(cumsum, S, T, Sum)               \
  FERRULE_RUN(cumprod, S, T, Product)          \
  FERRULE_EXTREME_RUN(cummax, S, T, Maximum)   \
  FERRULE_EXTREME_RUN(cummin, S, T, Minimum)   \
  FERRULE_ARG_RUN(cumargmax, S, T, true)       \
  FERRULE_ARG_RUN(cumargmin, S, T, false)
FERRULE_RUNS(f32, float)
FERRULE_RUNS(f64, double)
FERRULE_RUNS(i32, int32_t)
FERRULE_RUNS(i64, int64_t)

#define FERRULE_RECURRENCE(S, T)                                                                                     \
  FERRULE_DEFINE(void, ferrule_linear_recurrence_##S)                                                                \
  (T * y, const T* a, const T* b, int64_t, int64_t n, int64_t inner, int64_t reverse, int64_t exclusive,             \
   int64_t lagged, int64_t tile_begin, int64_t tile_end) {                                                           \
    ferrule::kernels::run_recurrence<T>(y, a, b, n, inner, reverse != 0, exclusive != 0, lagged != 0, tile_begin,    \
                                        tile_end);                                                                   \
  }
FERRULE_RECURRENCE(f32, float)
FERRULE_RECURRENCE(f64, double)
