// Mean, biased variance and 1/sqrt(variance + eps), along rows or columns.
//
// Computed in f64: with d = x - x0, x0 the first element, S1 = sum of d and S2 by fma(d, d, lane), both by rule (c);
// mean = x0 + S1/n, variance = max(0, (S2 - S1*S1/n)/n) with NaN kept. f64 elements take two passes instead: the mean,
// then d = x - mean.
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
namespace {

using Doubles = Vec<double>;

// One accumulator: S1 and S2 of up to 16 columns (or 16 lanes of a row).
struct MomentSums {
  static constexpr int kInputs = 2;
  Doubles value[2];
  FERRULE_INLINE void clear() { value[0] = value[1] = Doubles{}; }
  FERRULE_INLINE void add(Doubles d) {
    value[0] = value[0] + d;
    value[1] = fused(d, d, value[1]);
  }
  template <typename V>
  static FERRULE_INLINE V combine(V a, V b) {
    return a + b;
  }
};

template <typename T>
FERRULE_INLINE void finish(Doubles x0, Doubles s1, Doubles s2, int64_t n, double eps, Vec<T> (&out)[3]) {
  const Doubles count = splat(static_cast<double>(n));
  const Doubles mean = x0 + s1 / count;
  // f64 passes x0 = mean and s1 = 0.
  Doubles variance = (s2 - s1 * s1 / count) / count;
  variance = select(variance < Doubles{}, Doubles{}, variance);
  const Doubles rstd = splat(1.0) / square_root(variance + splat(eps));
  out[0] = convert_to<Vec<T>>(mean);
  out[1] = convert_to<Vec<T>>(variance);
  out[2] = convert_to<Vec<T>>(rstd);
}

template <typename T>
FERRULE_INLINE Doubles widen(Vec<T> x) {
  return convert_to<Doubles>(x);
}

// Both sums of one row of differences to `origin`.
template <typename T>
FERRULE_INLINE void row_sums(void* ctx, FerruleLoad load, int64_t row, int64_t n, double origin, double* s1, double* s2) {
  *s1 = *s2 = 0;
  for (int64_t block = 0; block < n; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < n ? block + kReductionBlock : n;
    MomentSums lanes;
    lanes.clear();
    Vec<T> x;
    int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) {
      load(ctx, row, i, 0, kLanes, &x);
      lanes.add(widen<T>(x) - splat(origin));
    }
    if (n % kLanes != 0 && i < end) {
      load(ctx, row, i, 0, n % kLanes, &x);
      lanes.add(select(lanes_below<double>(n % kLanes), widen<T>(x) - splat(origin), Doubles{}));
    }
    *s1 = *s1 + fold_lanes<double>(lanes.value[0], [](auto a, auto b) { return a + b; });
    *s2 = *s2 + fold_lanes<double>(lanes.value[1], [](auto a, auto b) { return a + b; });
  }
}

template <typename T>
FERRULE_INLINE void moments_row(void* ctx, FerruleLoad load, FerruleStore store, int64_t row, int64_t n, double eps) {
  Vec<T> first{}, out[3];
  if (n > 0) load(ctx, row, 0, 0, 1, &first);
  double s1, s2, origin = static_cast<double>(first[0]);
  if constexpr (sizeof(T) == 8) {
    row_sums<T>(ctx, load, row, n, 0.0, &s1, &s2);
    origin = s1 / static_cast<double>(n);
    row_sums<T>(ctx, load, row, n, origin, &s1, &s2);
    s1 = 0;
  } else {
    row_sums<T>(ctx, load, row, n, origin, &s1, &s2);
  }
  finish<T>(splat(origin), splat(s1), splat(s2), n, eps, out);
  store(ctx, row, 0, 1, out);
}

// Sums of the differences to `origin`, of `vectors` vectors of columns side by side.
template <typename T>
FERRULE_INLINE void column_sums(void* ctx, FerruleLoad load, int64_t o, int64_t n, int64_t col, int64_t count,
                                int64_t vectors, const Doubles (&origin)[kColumnVectors<T>],
                                MomentSums (&sums)[kColumnVectors<T>]) {
  MomentSums lanes[kColumnVectors<T>][kLanes];
#pragma clang loop unroll(disable)
  for (int64_t v = 0; v < vectors; ++v) sums[v].clear();
  for (int64_t block = 0; block < n; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < n ? block + kReductionBlock : n;
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) {
#pragma clang loop unroll(disable)
      for (int i = 0; i < kLanes; ++i) lanes[v][i].clear();
    }
    for_lanes(block, end, vectors, [&](auto rows, int64_t v, int64_t lane, int64_t row)
                                       __attribute__((always_inline)) {
      MomentSums added = lanes[v][lane];
#pragma unroll
      for (int r = 0; r < decltype(rows)::value; ++r) {
        Vec<T> x;
        load(ctx, o, row + r * kLanes, col + v * kLanes, count, &x);
        added.add(widen<T>(x) - origin[v]);
      }
      lanes[v][lane] = added;
    });
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) {
      fold_accumulators(lanes[v]);
      for (int j = 0; j < MomentSums::kInputs; ++j) sums[v].value[j] = sums[v].value[j] + lanes[v][0].value[j];
    }
  }
}

template <typename T>
FERRULE_INLINE void moments_columns(void* ctx, FerruleLoad load, FerruleStore store, int64_t o, int64_t n, int64_t col,
                                    int64_t count, int64_t vectors, double eps) {
  Doubles origin[kColumnVectors<T>];
  MomentSums sums[kColumnVectors<T>];
#pragma clang loop unroll(disable)
  for (int64_t v = 0; v < vectors; ++v) {
    Vec<T> first{};
    if (sizeof(T) < 8 && n > 0) load(ctx, o, 0, col + v * kLanes, count, &first);
    origin[v] = widen<T>(first);
  }
  if constexpr (sizeof(T) == 8) {
    column_sums<T>(ctx, load, o, n, col, count, vectors, origin, sums);
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) origin[v] = sums[v].value[0] / splat(static_cast<double>(n));
  }
  column_sums<T>(ctx, load, o, n, col, count, vectors, origin, sums);
#pragma clang loop unroll(disable)
  for (int64_t v = 0; v < vectors; ++v) {
    Vec<T> out[3];
    finish<T>(origin[v], sizeof(T) == 8 ? Doubles{} : sums[v].value[0], sums[v].value[1], n, eps, out);
    store(ctx, o, col + v * kLanes, count, out);
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_MOMENTS(S, T)                                                                                       \
  FERRULE_DEFINE(void, ferrule_moments_rows_##S)                                                                    \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t outer, int64_t n, int64_t tile_rows,                    \
   int64_t tile_begin, int64_t tile_end, double eps) {                                                              \
    const int64_t end = tile_end * tile_rows < outer ? tile_end * tile_rows : outer;                                \
    for (int64_t row = tile_begin * tile_rows; row < end; ++row) {                                                  \
      ferrule::kernels::moments_row<T>(ctx, load, store, row, n, eps);                                              \
    }                                                                                                               \
  }                                                                                                                 \
  FERRULE_DEFINE(void, ferrule_moments_columns_##S)                                                                 \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t, int64_t n, int64_t inner, int64_t tile_begin,          \
   int64_t tile_end, double eps) {                                                                                  \
    using namespace ferrule::kernels;                                                                               \
    for_wide_columns<T>(inner, tile_begin, tile_end,                                                                \
                     [&](int64_t o, int64_t col, int64_t count, int64_t vectors) __attribute__((always_inline)) {   \
                       moments_columns<T>(ctx, load, store, o, n, col, count, vectors, eps);                        \
                     });                                                                                            \
  }
FERRULE_MOMENTS(f32, float)
FERRULE_MOMENTS(f64, double)
