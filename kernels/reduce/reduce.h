// The loops of reductions: along contiguous rows, and along the middle axis of [outer, n, inner].
//
// Rule (c): blocks of 4,096 elements; element i goes to lane i mod 16, ascending; lanes fold 8, 4, 2, 1; blocks are
// combined ascending. Along columns the 16 "lanes" of one column are 16 accumulator vectors.
#ifndef FERRULE_KERNELS_REDUCE_REDUCE_H_
#define FERRULE_KERNELS_REDUCE_REDUCE_H_

#include "kernels/base/define.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {

inline constexpr int64_t kReductionBlock = 4096;

// What a reduction over 16 accumulators needs: `State` is what one lane carries (a struct of vectors), and
//   clear(state), add(state, elements, mask of the lanes that exist), combine(a, b).
// Sums never become -0 (they start at +0), so an absent lane may add its +0.

template <typename T, int COUNT>
struct SumOf {
  static constexpr int kInputs = COUNT;
  Vec<T> value[COUNT];
  FERRULE_INLINE void clear() {
    for (int j = 0; j < COUNT; ++j) value[j] = Vec<T>{};
  }
  FERRULE_INLINE void add(const Vec<T> (&x)[COUNT], Vec<typename LaneTraits<T>::Bits>) {
    for (int j = 0; j < COUNT; ++j) value[j] = combine(value[j], x[j]);
  }
  template <typename V>
  static FERRULE_INLINE V combine(V a, V b) {
    return a + b;
  }
};

template <typename T>
struct Product {
  static constexpr int kInputs = 1;
  Vec<T> value[1];
  FERRULE_INLINE void clear() { value[0] = splat(T(1)); }
  FERRULE_INLINE void add(const Vec<T> (&x)[1], Vec<typename LaneTraits<T>::Bits> mask) {
    value[0] = select(mask, value[0] * x[0], value[0]);
  }
  template <typename V>
  static FERRULE_INLINE V combine(V a, V b) {
    return a * b;
  }
};

// maximum and minimum: NaN wins, and -0 < +0. The scalar of the last fold step takes the same path.
template <typename T, bool MAX>
struct Extremum {
  static constexpr int kInputs = 1;
  static constexpr bool kFloat = static_cast<T>(0.5) != 0;
  Vec<T> value[1];
  static FERRULE_INLINE T identity() {
    if constexpr (kFloat) {
      return MAX ? -LaneTraits<T>::kInfinity : LaneTraits<T>::kInfinity;
    } else {
      const T lowest = static_cast<T>(typename LaneTraits<T>::Unsigned(1) << (sizeof(T) * 8 - 1));
      return MAX ? lowest : static_cast<T>(~lowest);
    }
  }
  FERRULE_INLINE void clear() { value[0] = splat(identity()); }
  FERRULE_INLINE void add(const Vec<T> (&x)[1], Vec<typename LaneTraits<T>::Bits> mask) {
    value[0] = select(mask, combine(value[0], x[0]), value[0]);
  }
  template <typename V>
  static FERRULE_INLINE V combine(V a, V b) {
    if constexpr (kFloat) {
      return MAX ? __builtin_elementwise_maximum(a, b) : __builtin_elementwise_minimum(a, b);
    } else {
      return MAX ? __builtin_elementwise_max(a, b) : __builtin_elementwise_min(a, b);
    }
  }
};

// Rows in groups of four, then one by one: four independent chains hide the latency of an addition.
template <typename Row4, typename Row1>
FERRULE_INLINE void for_rows(int64_t outer, int64_t tile_rows, int64_t tile_begin, int64_t tile_end, Row4 four,
                             Row1 one) {
  const int64_t end = tile_end * tile_rows < outer ? tile_end * tile_rows : outer;
  int64_t row = tile_begin * tile_rows;
  for (; row + 4 <= end; row += 4) four(row);
  for (; row < end; ++row) one(row);
}

// Reduces ROWS rows at once. `Op` is one of the states above.
template <typename T, typename Op, int ROWS>
FERRULE_INLINE void reduce_rows_at(void* ctx, FerruleLoad load, FerruleStore store, int64_t row, int64_t n) {
  using Mask = Vec<typename LaneTraits<T>::Bits>;
  constexpr int kInputs = Op::kInputs;
  Vec<T> total[ROWS][kInputs];
  for (int64_t block = 0; block == 0 || block < n; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < n ? block + kReductionBlock : n;
    Op lanes[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) lanes[r].clear();
    Vec<T> x[kInputs];
    int64_t i = block;
    for (; i + kLanes <= end; i += kLanes) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        load(ctx, row + r, i, 0, kLanes, x);
        lanes[r].add(x, ~Mask{});
      }
    }
    // Only the last block can end between two multiples of 16.
    if (n % kLanes != 0 && i < end) {
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        load(ctx, row + r, i, 0, n % kLanes, x);
        lanes[r].add(x, lanes_below<T>(n % kLanes));
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int j = 0; j < kInputs; ++j) {
        const T folded =
            fold_lanes<T>(lanes[r].value[j], [](auto a, auto b) { return Op::combine(a, b); });
        Op start;
        start.clear();
        const Vec<T> before = block == 0 ? start.value[j] : total[r][j];
        total[r][j] = Op::combine(before, splat(folded));
      }
    }
  }
#pragma clang loop unroll(disable)
  for (int r = 0; r < ROWS; ++r) store(ctx, row + r, 0, 1, total[r]);
}

template <typename T, typename Op>
FERRULE_INLINE void reduce_rows(void* ctx, FerruleLoad load, FerruleStore store, int64_t outer, int64_t n,
                                int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  for_rows(
      outer, tile_rows, tile_begin, tile_end,
      [&](int64_t row) __attribute__((always_inline)) { reduce_rows_at<T, Op, 4>(ctx, load, store, row, n); },
      [&](int64_t row) __attribute__((always_inline)) { reduce_rows_at<T, Op, 1>(ctx, load, store, row, n); });
}

// Visits tiles of a column reduction: column(outer index, first column, count).
template <typename Column>
FERRULE_INLINE void for_columns(int64_t inner, int64_t tile_begin, int64_t tile_end, Column column) {
  const int64_t chunks = ceil_div(inner, kLanes);
  for (int64_t t = tile_begin; t < tile_end; ++t) {
    const int64_t col = t % chunks * kLanes;
    if (inner % kLanes != 0 && col + kLanes > inner) {
      column(t / chunks, col, inner % kLanes);
    } else {
      column(t / chunks, col, int64_t{kLanes});
    }
  }
}

// The same, up to kColumnVectors tiles of 16 columns at once: column(outer index, first column, count, vectors), where
// count is less than 16 for a single vector only. A row's columns lie side by side. Read in short pieces, each row
// would be fetched from memory by lines that lie far apart, which the processor does not foresee.
template <typename T>
inline constexpr int64_t kColumnVectors = kReducedColumnBytes / (kLanes * static_cast<int64_t>(sizeof(T)));

template <typename T, typename Column>
FERRULE_INLINE void for_wide_columns(int64_t inner, int64_t tile_begin, int64_t tile_end, Column column) {
  const int64_t chunks = ceil_div(inner, kLanes), whole = inner / kLanes;
  for (int64_t t = tile_begin; t < tile_end;) {
    const int64_t chunk = t % chunks;
    int64_t vectors = kColumnVectors<T> < tile_end - t ? kColumnVectors<T> : tile_end - t;
    if (vectors > whole - chunk) vectors = whole - chunk;
    if (inner % kLanes != 0 && vectors == 0) {
      column(t / chunks, chunk * kLanes, inner % kLanes, int64_t{1});
      vectors = 1;
    } else {
      column(t / chunks, chunk * kLanes, int64_t{kLanes}, vectors);
    }
    t += vectors;
  }
}

// So many rows are added to an accumulator while it stands in registers.
template <int ROWS>
struct RowsAtOnce {
  static constexpr int value = ROWS;
};
inline constexpr int kDeepRows = 4;

// Visits the rows [block, end) of `vectors` vectors of columns: visit(RowsAtOnce, vector, lane, row) takes the rows
// row, row + 16, ... of one lane. So memory is read as a few streams that each go on without a gap, and an accumulator,
// of which there are too many for registers, is read and written once for several rows.
template <typename Visit>
FERRULE_INLINE void for_lanes(int64_t block, int64_t end, int64_t vectors, Visit visit) {
  int64_t i = block;
#pragma clang loop unroll(disable)
  for (; i + kDeepRows * kLanes <= end; i += kDeepRows * kLanes) {
#pragma clang loop unroll(disable)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
#pragma clang loop unroll(disable)
      for (int64_t v = 0; v < vectors; ++v) visit(RowsAtOnce<kDeepRows>{}, v, lane, i + lane);
    }
  }
#pragma clang loop unroll(disable)
  for (; i < end; ++i) {
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) visit(RowsAtOnce<1>{}, v, i % kLanes, i);
  }
}

// Folds 16 accumulators per column (8, 4, 2, 1) into the first.
template <typename Op>
FERRULE_INLINE void fold_accumulators(Op (&lanes)[kLanes]) {
#pragma clang loop unroll(disable)
  for (int half = 8; half > 0; half /= 2) {
#pragma clang loop unroll(disable)
    for (int i = 0; i < half; ++i) {
      for (int j = 0; j < Op::kInputs; ++j) {
        lanes[i].value[j] = Op::combine(lanes[i].value[j], lanes[i + half].value[j]);
      }
    }
  }
}

template <typename T, typename Op>
FERRULE_INLINE void reduce_columns_at(void* ctx, FerruleLoad load, FerruleStore store, int64_t o, int64_t n,
                                      int64_t col, int64_t count, int64_t vectors) {
  Vec<T> total[kColumnVectors<T>][Op::kInputs];
  Op lanes[kColumnVectors<T>][kLanes];
  for (int64_t block = 0; block == 0 || block < n; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < n ? block + kReductionBlock : n;
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) {
#pragma clang loop unroll(disable)
      for (int i = 0; i < kLanes; ++i) lanes[v][i].clear();
    }
    for_lanes(block, end, vectors, [&](auto rows, int64_t v, int64_t lane, int64_t row)
                                       __attribute__((always_inline)) {
      Op sums = lanes[v][lane];
#pragma unroll
      for (int r = 0; r < decltype(rows)::value; ++r) {
        Vec<T> x[Op::kInputs];
        load(ctx, o, row + r * kLanes, col + v * kLanes, count, x);
        sums.add(x, ~Vec<typename LaneTraits<T>::Bits>{});
      }
      lanes[v][lane] = sums;
    });
#pragma clang loop unroll(disable)
    for (int64_t v = 0; v < vectors; ++v) {
      fold_accumulators(lanes[v]);
      for (int j = 0; j < Op::kInputs; ++j) {
        Op start;
        start.clear();
        const Vec<T> before = block == 0 ? start.value[j] : total[v][j];
        total[v][j] = Op::combine(before, lanes[v][0].value[j]);
      }
    }
  }
#pragma clang loop unroll(disable)
  for (int64_t v = 0; v < vectors; ++v) store(ctx, o, col + v * kLanes, count, total[v]);
}

template <typename T, typename Op>
FERRULE_INLINE void reduce_columns(void* ctx, FerruleLoad load, FerruleStore store, int64_t n, int64_t inner,
                                   int64_t tile_begin, int64_t tile_end) {
  for_wide_columns<T>(inner, tile_begin, tile_end,
                      [&](int64_t o, int64_t col, int64_t count, int64_t vectors) __attribute__((always_inline)) {
                        reduce_columns_at<T, Op>(ctx, load, store, o, n, col, count, vectors);
                      });
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_REDUCE_REDUCE_H_
