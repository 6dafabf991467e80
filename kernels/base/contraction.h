// The register tile that matmul and the convolutions share: ROWS rows by PANELS panels of 16 columns.
//
// Rule (b): acc = fma(a, b, acc) with k ascending; total = total + acc at every multiple of kContractionBlock and at
// the end. A tile keeps acc in registers and total in memory, so a contraction up to one block long (nearly all) pays
// one addition of +0 an element, which also makes every zero result +0.
#ifndef FERRULE_KERNELS_BASE_CONTRACTION_H_
#define FERRULE_KERNELS_BASE_CONTRACTION_H_

#include "kernels/base/callbacks.h"
#include "kernels/base/register_sums.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {

inline constexpr int64_t kContractionBlock = 4096;

// The vector registers that accumulators may take. The rest hold panel vectors and factors.
#if defined(__AVX512F__)
inline constexpr int kAccumulatorRegisters = 28, kMaxPanels = 3;
#elif defined(__AVX2__)
inline constexpr int kAccumulatorRegisters = 12, kMaxPanels = 1;
#else
inline constexpr int kAccumulatorRegisters = 24, kMaxPanels = 1;
#endif

constexpr int smaller(int a, int b) { return a < b ? a : b; }

// How often the condition of a loop over k holds, and those over the rows and the panels of a finished tile. Where
// nothing is said every loop counts as some thirty rounds: two inside of one another outweigh the one over k, and what
// the polynomials of an epilogue need takes the registers of the sums.
inline constexpr double kOfK = 0.9999, kOfRows = 0.9, kOfPanels = 0.6;

// The tallest tile of that many panels; no tile is taller than 14 (112, 56, 28, 14 and 7 split without a remainder).
// `half`: of the last panel only the first 8 columns exist.
template <typename T>
constexpr int max_rows(int panels, bool half = false) {
  const int row_bytes = (panels * 16 - half * 8) * static_cast<int>(sizeof(T));
  const int row_registers = (row_bytes + kRegisterBytes - 1) / kRegisterBytes;
  // A row needs a register for its factors, and two hold the panel: 6x16 and 10x8 in float.
  if (kMultipliesByElement) return (32 - 2) / (row_registers + 1);
  const int rows = smaller(14, kAccumulatorRegisters / row_registers);
  return panels == 3 ? smaller(8, rows) : rows;
}
// Several panels pay only while there are rows enough to reuse them.
template <typename T>
constexpr bool has_tile(int panels) {
  return panels <= kMaxPanels && (panels == 1 || max_rows<T>(panels) >= 7);
}

// HALF: the last panel has no more than 8 columns, which take half the work where a panel is more than one register, or
// where half a register costs half; its sums are in `half`, and nothing is in acc[r][PANELS - 1].
template <typename T, int ROWS, int PANELS, bool HALF = false>
struct Tile {
  static constexpr int kWhole = PANELS - HALF;
  Vec<T> acc[ROWS][PANELS];
  HalfVec<T> half[ROWS];

  FERRULE_INLINE void clear() {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) acc[r][p] = Vec<T>{};
      half[r] = HalfVec<T>{};
    }
  }

  // `length` k's for the rows [first, last): row r reads a[r * a_row_stride + k * a_k_stride], and columns(k, b) sets b to
  // the panels' vectors. With constant bounds nothing is left of the comparisons. UNROLLED: the bounds become constants when
  // the loop around is unrolled, which is later than such a question is answered.
  template <bool UNROLLED = false, typename Columns>
  FERRULE_INLINE void accumulate(const T* a, int64_t a_row_stride, int64_t a_k_stride, int64_t length, Columns columns,
                                 int64_t first = 0, int64_t last = ROWS) {
    int64_t k = 0;
    if constexpr (kMultipliesByElement) {
      // Asked in the conditions: clang would evaluate the initializer of a constant, and answer no.
      if (UNROLLED || (__builtin_constant_p(first) && __builtin_constant_p(last))) {
        if (__builtin_constant_p(a_k_stride) && a_k_stride == 1) {
          k = accumulate_steps(a, a_row_stride, length, columns, first, last);
        } else if (ROWS > 1 && __builtin_constant_p(a_row_stride) && a_row_stride == 1 && first == 0 && last == ROWS) {
          return accumulate_rows(a, a_k_stride, length, columns);
        }
      }
    }
#pragma clang loop unroll(disable)
    for (; __builtin_expect_with_probability(k < length, 1, kOfK); ++k) {
      Vec<T> b[PANELS];
      columns(k, b);
      step_rows(a + k * a_k_stride, a_row_stride, b, first, last);
    }
  }

  // `length` k's for all rows, and, if `fetches`, fetch(r) for each row r: what the epilogue of a row reads comes from memory
  // meanwhile. Some k's pass between two rows, because only so many lines can be on their way at once; not where the loop
  // takes several k's in long code. The k's that no row is left for are one part more, so that the loop over k stands there
  // once.
  template <typename Columns, typename Fetch>
  FERRULE_INLINE void accumulate_and_fetch(const T* a, int64_t a_row_stride, int64_t a_k_stride, int64_t length,
                                           Columns columns, bool fetches, Fetch fetch) {
    if constexpr (kMultipliesByElement) {
#pragma clang loop unroll(disable)
      for (int64_t r = fetches ? 0 : ROWS; r < ROWS; ++r) fetch(r);
      return accumulate(a, a_row_stride, a_k_stride, length, columns);
    }
    const int64_t even = length / ROWS, steps = even < 16 ? even : 16;
    int64_t begin = 0;
#pragma clang loop unroll(disable)
    for (int64_t r = fetches ? 0 : ROWS; r <= ROWS; ++r) {
      int64_t end = length;
      if (r < ROWS) {
        fetch(r);
        end = begin + steps;
      }
      const auto part = [&](int64_t k, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) { columns(begin + k, out); };
      accumulate(a + begin * a_k_stride, a_row_stride, a_k_stride, end - begin, part);
      begin = end;
    }
  }

  // How many rows beyond its own a tile had better ask for: a sum over so few k's is done before memory answers.
  static constexpr int64_t rows_ahead(int64_t depth) { return depth < 4 * ROWS ? ROWS : 0; }

  // One k for the rows [first, last): the others have no element there.
  FERRULE_INLINE void step_rows(const T* a, int64_t a_row_stride, const Vec<T> (&b)[PANELS], int64_t first,
                                int64_t last) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      if (r < first || r >= last) continue;
      const Vec<T> broadcast = splat(a[r * a_row_stride]);
#pragma unroll
      for (int p = 0; p < kWhole; ++p) acc[r][p] = fused(broadcast, b[p], acc[r][p]);
      if constexpr (HALF) half[r] = fused(HalfVec<T>(broadcast.lo), HalfVec<T>(b[kWhole].lo), half[r]);
    }
  }

  // As many k's as fill registers, a row's being neighbours; returns how many.
  template <typename Columns>
  FERRULE_INLINE int64_t accumulate_steps(const T* a, int64_t a_row_stride, int64_t length, Columns columns,
                                          int64_t first, int64_t last) {
    constexpr int kSteps = kRegisterLanes<T>;
    RegisterSums<T, ROWS, kWhole, HALF> sums;
    sums.take(acc, half);
    int64_t k = 0;
#pragma clang loop unroll(disable)
    for (; k + kSteps <= length; k += kSteps) {
      Register<T> factors[ROWS];
#pragma unroll
      for (int r = 0; r < ROWS; ++r) {
        if (r >= first && r < last) factors[r] = load_register<kSteps>(a + r * a_row_stride + k);
      }
#pragma unroll
      for (int j = 0; j < kSteps; ++j) {
        Vec<T> b[PANELS];
        columns(k + j, b);
        sums.add(b, first, last, [&](int r) __attribute__((always_inline)) { return factors[r][j]; });
      }
    }
    sums.give(acc, half);
    return k;
  }

  // All k's, where the rows of one are neighbours; four at a time, for the loop itself takes its share of each.
  template <typename Columns>
  FERRULE_INLINE void accumulate_rows(const T* a, int64_t a_k_stride, int64_t length, Columns columns) {
    constexpr int64_t kAtOnce = 4;
    RegisterSums<T, ROWS, kWhole, HALF> sums;
    sums.take(acc, half);
    int64_t k = 0;
#pragma clang loop unroll(disable)
    for (; k + kAtOnce <= length; k += kAtOnce) {
#pragma unroll
      for (int64_t j = 0; j < kAtOnce; ++j) add_rows(sums, a + (k + j) * a_k_stride, k + j, columns);
    }
#pragma clang loop unroll(disable)
    for (; k < length; ++k) add_rows(sums, a + k * a_k_stride, k, columns);
    sums.give(acc, half);
  }
  template <typename Columns>
  static FERRULE_INLINE void add_rows(RegisterSums<T, ROWS, kWhole, HALF>& sums, const T* a, int64_t k,
                                      Columns columns) {
    constexpr int kWidth = kRegisterLanes<T>, kFull = ROWS / kWidth, kRest = ROWS % kWidth;
    Register<T> factors[kFull + 1];
#pragma unroll
    for (int i = 0; i < kFull; ++i) factors[i] = load_register<kWidth>(a + i * kWidth);
    if constexpr (kRest != 0) factors[kFull] = load_register<kRest>(a + kFull * kWidth);
    Vec<T> b[PANELS];
    columns(k, b);
    sums.add(b, 0, ROWS, [&](int r) __attribute__((always_inline)) { return factors[r / kWidth][r % kWidth]; });
  }

  // total = total + acc, where total is +0 the first time; acc becomes +0.
  FERRULE_INLINE void flush(Vec<T> (&total)[ROWS][PANELS], bool first_time) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
#pragma unroll
      for (int p = 0; p < kWhole; ++p) {
        const Vec<T> before = first_time ? Vec<T>{} : total[r][p];
        total[r][p] = before + acc[r][p];
        acc[r][p] = Vec<T>{};
      }
      if constexpr (HALF) {
        const HalfVec<T> before = first_time ? HalfVec<T>{} : HalfVec<T>(total[r][kWhole].lo);
        total[r][kWhole] = widen<T>(before + half[r]);
        half[r] = HalfVec<T>{};
      }
    }
  }
};

// Hands a finished tile to the store callback: row r goes to `row + r * row_step`; the last panel holds `last_count`
// columns. The loops stay rolled so that the callback is inlined once or twice, not once a vector.
template <typename T, int ROWS, int PANELS>
FERRULE_INLINE void store_tile(void* ctx, FerruleStore store, const Vec<T> (&total)[ROWS][PANELS], int64_t row,
                               int64_t row_step, int64_t col, int64_t last_count) {
  const int full_panels = last_count == kLanes ? PANELS : PANELS - 1;
#pragma clang loop unroll(disable)
  for (int r = 0; __builtin_expect_with_probability(r < ROWS, 1, kOfRows); ++r) {
#pragma clang loop unroll(disable)
    for (int p = 0; __builtin_expect_with_probability(p < full_panels, 1, kOfPanels); ++p) {
      store(ctx, row + r * row_step, col + p * kLanes, kLanes, &total[r][p]);
    }
    if (last_count != kLanes) {
      store(ctx, row + r * row_step, col + (PANELS - 1) * kLanes, last_count, &total[r][PANELS - 1]);
    }
  }
}

// Calls `run` with the compile-time tile height that `rows` names (1 .. 14, at most max_rows). After inlining into a
// caller with constant shapes one instance is left. Where the height is known at run time only, a sequence of heights
// 8, 4, 2, 1 bounds the code instead: run(std::integral_constant-like height, first row).
template <int N>
struct Height {
  static constexpr int value = N;
};

template <typename T, int PANELS, bool HALF = false, typename Run>
FERRULE_INLINE void with_height(int64_t rows, Run run) {
  constexpr int kMax = max_rows<T>(PANELS, HALF);
#define FERRULE_HEIGHT(N)                         \
  case N:                                         \
    if constexpr (N <= kMax) run(Height<N>{}, 0); \
    return;
#define FERRULE_TWO_HEIGHTS(N, A, B) \
  case N:                            \
    if constexpr (N <= kMax) {       \
      run(Height<A>{}, 0);           \
      run(Height<B>{}, A);           \
    }                                \
    return;
  if (__builtin_constant_p(rows)) {
    switch (rows) {
      FERRULE_HEIGHT(1)
      FERRULE_HEIGHT(2)
      FERRULE_HEIGHT(3)
      FERRULE_HEIGHT(4)
      FERRULE_HEIGHT(5)
      FERRULE_HEIGHT(6)
      FERRULE_HEIGHT(7)
      FERRULE_HEIGHT(8)
      FERRULE_TWO_HEIGHTS(9, 5, 4)
      FERRULE_HEIGHT(10)
      FERRULE_TWO_HEIGHTS(11, 6, 5)
      FERRULE_HEIGHT(12)
      FERRULE_TWO_HEIGHTS(13, 7, 6)
      FERRULE_HEIGHT(14)
      default:
        return;
    }
  }
#undef FERRULE_HEIGHT
#undef FERRULE_TWO_HEIGHTS
  constexpr int kStep = kMax >= 8 ? 8 : kMax >= 4 ? 4 : kMax >= 2 ? 2 : 1;
  int64_t r = 0;
  for (; r + kStep <= rows; r += kStep) run(Height<kStep>{}, r);
  if constexpr (kStep > 4) {
    if (r + 4 <= rows) run(Height<4>{}, r), r += 4;
  }
  if constexpr (kStep > 2) {
    if (r + 2 <= rows) run(Height<2>{}, r), r += 2;
  }
  if constexpr (kStep > 1) {
    if (r + 1 <= rows) run(Height<1>{}, r);
  }
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_CONTRACTION_H_
