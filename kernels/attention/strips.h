// What the kernels of attention and of its gradient share: the scores of a strip of rows.
//
// A strip's scores are kept transposed, [key][row]: a lane is a row. So keys and values are read where they lie, nothing
// but the strip's few rows of q is packed, the softmax needs no step across lanes, and the sixteen partial sums of
// rule (c) are sixteen vectors.
#ifndef FERRULE_KERNELS_ATTENTION_STRIPS_H_
#define FERRULE_KERNELS_ATTENTION_STRIPS_H_

#include "kernels/attention/shape.h"
#include "kernels/base/contraction.h"
#include "kernels/base/define.h"
#include "kernels/base/lane_transpose.h"
#include "kernels/elementwise/exponential.h"
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
// The tests link the code of several targets into one program: a function of theirs that is not inlined must be a
// translation unit's own.
namespace {

static_assert(kAttentionStripRows % kLanes == 0, "a strip is a number of panels");
inline constexpr int kStripPanels = kAttentionStripRows / kLanes;

template <typename T>
constexpr int widest_tile() {
  return has_tile<T>(3) ? 3 : has_tile<T>(2) ? 2 : 1;
}
template <typename T, int PANELS>
constexpr int tile_height() {
  return smaller(8, max_rows<T>(PANELS));
}

// total[r, p] = sum over k of a[r * a_row_stride + k * a_k_stride] * b[p * 16 + k * b_k_stride + lane], by rule (b). With
// `last_count` below 16 only so many columns of the last panel are read.
template <typename T, int ROWS, int PANELS, bool RAGGED>
FERRULE_INLINE void contract(const T* a, int64_t a_row_stride, int64_t a_k_stride, const T* b, int64_t b_k_stride,
                             int64_t depth, int64_t last_count, Vec<T> (&total)[ROWS][PANELS]) {
  Tile<T, ROWS, PANELS> tile;
  tile.clear();
  if (depth == 0) tile.flush(total, true);
  for (int64_t block = 0; block < depth; block += kContractionBlock) {
    const int64_t end = block + kContractionBlock < depth ? block + kContractionBlock : depth;
    const auto columns = [&](int64_t k, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        const T* from = b + (block + k) * b_k_stride + p * kLanes;
        out[p] = RAGGED && p == PANELS - 1 ? load_first(from, last_count) : load(from);
      }
    };
    tile.accumulate(a + block * a_k_stride, a_row_stride, a_k_stride, end - block, columns);
    tile.flush(total, block == 0);
  }
}

// Calls run(Height, first) for `count` rows: the tallest tile as often as it fits, then lower ones.
template <int TALLEST, typename Run>
FERRULE_INLINE void for_heights(int64_t count, Run run) {
  int64_t r = 0;
#pragma clang loop unroll(disable)
  for (; r + TALLEST <= count; r += TALLEST) run(Height<TALLEST>{}, r);
  if constexpr (TALLEST > 4) {
    if (r + 4 <= count) run(Height<4>{}, r), r += 4;
  }
  if constexpr (TALLEST > 2) {
    if (r + 2 <= count) run(Height<2>{}, r), r += 2;
  }
  if constexpr (TALLEST > 1) {
    if (r < count) run(Height<1>{}, r);
  }
}

// `count` elements that lie `stride` apart.
template <typename T, typename E>
FERRULE_INLINE Vec<T> load_lanes(const E* from, int64_t stride, int64_t count) {
  typedef E Packed __attribute__((ext_vector_type(16)));
  if (stride == 0) return splat(static_cast<T>(*from));
  if constexpr (__is_same(T, E)) {
    if (stride == 1) return load_first(from, count);
  }
  if (stride == 1 && count == kLanes) {
    Packed packed;
    __builtin_memcpy(&packed, from, sizeof(packed));
    return __builtin_convertvector(packed, Vec<T>);
  }
  Vec<T> lanes{};
  for (int64_t i = 0; i < count; ++i) lanes[i] = static_cast<T>(from[i * stride]);
  return lanes;
}

// out[j] = the elements of key j of 16 rows, from a matrix of rows by keys; rows and keys beyond the counts are +0.
template <typename T, typename E>
FERRULE_LATE_INLINE void load_transposed(const E* from, const AttentionStrides& strides, int64_t rows, int64_t keys,
                                         Vec<T> (&out)[kLanes]) {
  if (strides.row == 0) {
#pragma clang loop unroll(disable)
    for (int64_t j = 0; j < keys; ++j) out[j] = splat(static_cast<T>(from[j * strides.column]));
    return;
  }
#pragma clang loop unroll(disable)
  for (int64_t i = 0; i < kLanes; ++i) {
    out[i] = i < rows ? load_lanes<T>(from + i * strides.row, strides.column, keys) : Vec<T>{};
  }
  transpose_lanes(out);
}

// Keys that take no part: those whose mask is false, or those after the row.
enum class Absent { kNone, kMasked, kCausal };

// x is NaN or infinite.
template <typename T>
FERRULE_INLINE bool is_broken(T x) {
  return x - x != 0;
}
// Calls run(Height, Width, key, panel) for tiles of keys by panels, the widest first.
template <typename T, int PANELS, typename Run>
FERRULE_INLINE void for_panel_tiles(int64_t keys, int64_t panel, Run run) {
  for_heights<tile_height<T, PANELS>()>(keys, [&](auto height, int64_t key) __attribute__((always_inline)) {
    run(height, Height<PANELS>{}, key, panel);
  });
}
template <typename T, typename Run>
FERRULE_INLINE void for_tiles(int64_t keys, int64_t panels, Run run) {
  constexpr int kWidest = widest_tile<T>();
  int64_t panel = 0;
  for (; panel + kWidest <= panels; panel += kWidest) for_panel_tiles<T, kWidest>(keys, panel, run);
  if constexpr (kWidest > 2) {
    if (panel + 2 <= panels) for_panel_tiles<T, 2>(keys, panel, run), panel += 2;
  }
  if constexpr (kWidest > 1) {
    if (panel < panels) for_panel_tiles<T, 1>(keys, panel, run);
  }
}

template <bool RAGGED>
struct Ragged {
  static constexpr bool value = RAGGED;
};

// Calls run(Height, Width, Ragged, row, column, last_count) for tiles of rows by panels of columns; of a ragged tile's last
// panel only `last_count` columns exist.
template <typename T, int PANELS, bool RAGGED, typename Run>
FERRULE_INLINE void for_column_panel(int64_t rows, int64_t column, int64_t last_count, Run run) {
  for_heights<tile_height<T, PANELS>()>(rows, [&](auto height, int64_t row) __attribute__((always_inline)) {
    run(height, Height<PANELS>{}, Ragged<RAGGED>{}, row, column, last_count);
  });
}
template <typename T, typename Run>
FERRULE_INLINE void for_column_tiles(int64_t rows, int64_t columns, Run run) {
  constexpr int kWidest = smaller(2, widest_tile<T>());
  int64_t column = 0;
  for (; column + kWidest * kLanes <= columns; column += kWidest * kLanes) {
    for_column_panel<T, kWidest, false>(rows, column, kLanes, run);
  }
  if constexpr (kWidest > 1) {
    if (column + kLanes <= columns) for_column_panel<T, 1, false>(rows, column, kLanes, run), column += kLanes;
  }
  if (column < columns) for_column_panel<T, 1, true>(rows, column, columns - column, run);
}

// The sum of term(key) over the keys, by rule (c).
template <typename T, typename Term>
FERRULE_INLINE Vec<T> sum_over_keys(int64_t keys, Term term) {
  Vec<T> total{};
  for (int64_t block = 0; block < keys; block += kReductionBlock) {
    const int64_t end = block + kReductionBlock < keys ? block + kReductionBlock : keys;
    SumOf<T, 1> lanes[kLanes];
#pragma clang loop unroll(disable)
    for (int i = 0; i < kLanes; ++i) lanes[i].clear();
#pragma clang loop unroll_count(2)
    for (int64_t key = block; key < end; ++key) {
      lanes[key % kLanes].value[0] = lanes[key % kLanes].value[0] + term(key);
    }
    fold_accumulators(lanes);
    total = total + lanes[0].value[0];
  }
  return total;
}

// Where the keys lie: in the operand, or in a copy [keys][width] in which 0 stands for what is not finite, if keys can be
// absent.
enum class Keys { kInPlace, kCopied };

// A batch of the operand, by its row-major position.
struct BatchIndex {
  int64_t axis[3];
  FERRULE_INLINE BatchIndex(const AttentionShape& shape, int64_t batch)
      : axis{batch / shape.batch[2] / shape.batch[1], batch / shape.batch[2] % shape.batch[1], batch % shape.batch[2]} {}
  FERRULE_INLINE int64_t offset(const AttentionStrides& strides, int64_t row) const {
    return strides.offset + axis[0] * strides.batch[0] + axis[1] * strides.batch[1] + axis[2] * strides.batch[2] +
           row * strides.row;
  }
};

template <typename T, bool BIAS, bool MASK, Absent ABSENT, Keys KEYS>
struct Scores {
  using Bits = typename LaneTraits<T>::Bits;
  // Whether some key may take no part for some row.
  static constexpr bool kHides = MASK || ABSENT == Absent::kCausal;
  const AttentionShape& shape;
  T scale, fill;

  // One strip of one head. It lies in memory while the instances that take it are functions, and what is read from there
  // is no constant: the sizes that choose among instances are read before and handed on by themselves; the maxima, which are
  // found by index, lie elsewhere, so that the rest ends up in registers.
  struct Strip {
    const T *q, *k, *bias;
    const uint8_t* mask;
    const T* broken;  // [keys], for a copy: NaN for a key that is not finite, else 0.
    int64_t row, rows, panels;
    int64_t keys;  // That any of its rows sees.
    T* packed;  // [width][panels * 16]
    T* scores;  // [keys][panels * 16]
    Vec<T>* maximum;  // [panels]
    FERRULE_INLINE int64_t lanes() const { return panels * kLanes; }
    FERRULE_INLINE int64_t rows_of(int64_t panel) const {
      return rows - panel * kLanes < kLanes ? rows - panel * kLanes : kLanes;
    }
  };

  FERRULE_INLINE int64_t key_row() const { return KEYS == Keys::kCopied ? shape.width : shape.k.row; }
  FERRULE_INLINE int64_t key_column() const { return KEYS == Keys::kCopied ? 1 : shape.k.column; }

  // packed[column][panels * 16] = the strip's rows; +0 in lanes that are no row.
  FERRULE_LATE_INLINE void pack_rows(const Strip& strip, const T* rows, const AttentionStrides& strides, int64_t width,
                                     T* packed) const {
    for (int64_t panel = 0; panel < strip.panels; ++panel) {
      const T* from = rows + panel * kLanes * strides.row;
      for (int64_t d = 0; d < width; d += kLanes) {
        const int64_t count = width - d < kLanes ? width - d : kLanes;
        Vec<T> block[kLanes];
        load_transposed<T>(from + d * strides.column, strides, strip.rows_of(panel), count, block);
#pragma clang loop unroll(disable)
        for (int64_t j = 0; j < count; ++j) store(packed + (d + j) * strip.lanes() + panel * kLanes, block[j]);
      }
    }
  }

  // Scores of HEIGHT keys for the rows of PANELS panels, scaled.
  template <int HEIGHT, int PANELS>
  FERRULE_LATE_INLINE void score_tile(Strip& strip, int64_t key, int64_t panel) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, false>(strip.k + key * key_row(), key_row(), key_column(), strip.packed + panel * kLanes,
                                       strip.lanes(), shape.width, kLanes, total);
#pragma unroll
    for (int p = 0; p < PANELS; ++p) {
      Vec<T> largest = strip.maximum[panel + p];
#pragma unroll
      for (int r = 0; r < HEIGHT; ++r) {
        const Vec<T> score = shape.divides ? total[r][p] / splat(scale) : total[r][p] * splat(scale);
        store(strip.scores + (key + r) * strip.lanes() + (panel + p) * kLanes, score);
        largest = larger(score, largest);
      }
      strip.maximum[panel + p] = largest;
    }
  }

  // A NaN need not win here: a row that holds one has a NaN among its exponentials, hence in their sum, hence everywhere.
  static FERRULE_INLINE Vec<T> larger(Vec<T> score, Vec<T> largest) { return select(score > largest, score, largest); }

  FERRULE_INLINE void clear_maximum(Strip& strip) const {
    for (int p = 0; p < kStripPanels; ++p) strip.maximum[p] = splat(-LaneTraits<T>::kInfinity);
  }

  FERRULE_INLINE void score(Strip& strip, int64_t keys, int64_t panels) const {
    clear_maximum(strip);
    for_tiles<T>(keys, panels, [&](auto height, auto width, int64_t key, int64_t panel) __attribute__((always_inline)) {
      score_tile<decltype(height)::value, decltype(width)::value>(strip, key, panel);
    });
  }

  // All ones where the rows of a panel see the key, given the mask of the rows.
  FERRULE_INLINE Vec<Bits> sees(const Strip& strip, int64_t panel, int64_t key, Vec<Bits> mask_of_rows) const {
    if constexpr (ABSENT == Absent::kCausal) {
      return splat(static_cast<Bits>(strip.row + panel * kLanes - key)) + lane_index<T>() >= 0;
    } else {
      return shape.fills_true ? mask_of_rows == 0 : mask_of_rows != 0;
    }
  }
  // The score of a key that is not finite is NaN, even if it came out infinite.
  FERRULE_LATE_INLINE Vec<T> repair_score(const Strip& strip, int64_t key, Vec<T> score) const {
    const T* from = strip.k + key * shape.k.row;
    for (int64_t d = 0; d < shape.width; ++d) {
      if (is_broken(from[d * shape.k.column])) return splat(static_cast<T>(__builtin_nan("")));
    }
    return score;
  }

  // Adds the bias to the scores, and puts the fill value or -infinity where the mask says so.
  FERRULE_LATE_INLINE void edit(Strip& strip) const {
    clear_maximum(strip);
    const T hidden = ABSENT == Absent::kNone ? fill : -LaneTraits<T>::kInfinity;
    const bool masks_first = MASK && ABSENT == Absent::kNone && shape.masks_first;
    for (int64_t key = 0; key < strip.keys; key += kLanes) {
      const int64_t count = strip.keys - key < kLanes ? strip.keys - key : kLanes;
      for (int64_t panel = 0; panel < strip.panels; ++panel) {
        const int64_t rows = strip.rows_of(panel), row = panel * kLanes;
        Vec<T> added[kLanes];
        Vec<Bits> masks[kLanes];
        if constexpr (BIAS) {
          load_transposed<T>(strip.bias + row * shape.bias.row + key * shape.bias.column, shape.bias, rows, count, added);
        }
        if constexpr (MASK) {
          load_transposed<Bits>(strip.mask + row * shape.mask.row + key * shape.mask.column, shape.mask, rows, count, masks);
        }
        Vec<T> largest = strip.maximum[panel];
        T* at = strip.scores + key * strip.lanes() + row;
#pragma clang loop unroll(disable)
        for (int64_t j = 0; j < count; ++j, at += strip.lanes()) {
          Vec<T> score = load(at);
          if constexpr (ABSENT != Absent::kNone && KEYS == Keys::kCopied) score = score + splat(strip.broken[key + j]);
          if constexpr (ABSENT != Absent::kNone && KEYS == Keys::kInPlace) {
            if (is_broken(score[0])) score = repair_score(strip, key + j, score);
          }
          if (BIAS && !masks_first) score = score + added[j];
          if constexpr (kHides) {
            score = select(sees(strip, panel, key + j, MASK ? masks[j] : Vec<Bits>{}), score, splat(hidden));
          }
          if (BIAS && masks_first) score = score + added[j];
          store(at, score);
          largest = larger(score, largest);
        }
        strip.maximum[panel] = largest;
      }
    }
  }
  // The scores of one panel become exp(score - maximum); gives their sum.
  FERRULE_LATE_INLINE Vec<T> exponentiate(const Strip& strip, int64_t panel) const {
    T* const column = strip.scores + panel * kLanes;
    Vec<T> maximum = strip.maximum[panel];
    // A row that sees no key, or only such of -infinity, has the weights 0.
    if constexpr (ABSENT != Absent::kNone) {
      maximum = select(maximum == -LaneTraits<T>::kInfinity, Vec<T>{}, maximum);
    }
    return sum_over_keys<T>(strip.keys, [&](int64_t key) __attribute__((always_inline)) {
      T* at = column + key * strip.lanes();
      const Vec<T> power = exp(load(at) - maximum);
      store(at, power);
      return power;
    });
  }
};

}  // namespace
}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_ATTENTION_STRIPS_H_
