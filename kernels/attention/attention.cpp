// Attention by strips of rows, whose scores stay in the cache.
//
// A strip's scores are kept transposed, [key][row]: a lane is a row. So keys and values are read where they lie, nothing
// but the strip's few rows of q is packed, the softmax needs no step across lanes, and the sixteen partial sums of
// rule (c) are sixteen vectors.
#include "kernels/attention/shape.h"

#include "kernels/base/contraction.h"
#include "kernels/base/define.h"
#include "kernels/base/lane_transpose.h"
#include "kernels/elementwise/exponential.h"
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {
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

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
struct Attention {
  using Bits = typename LaneTraits<T>::Bits;
  const AttentionShape& shape;
  T* out;
  const T* q;
  const T* k;
  const T* v;
  const T* bias;
  const uint8_t* mask;
  T scale, fill;

  // One strip of one head.
  struct Strip {
    const T *q, *k, *v, *bias;
    const uint8_t* mask;
    T* out;
    int64_t row, rows, panels;
    int64_t keys;  // That any of its rows sees.
    T* packed;  // [width][panels * 16]
    T* scores;  // [keys][panels * 16]
    Vec<T> maximum[kStripPanels];
    FERRULE_INLINE int64_t lanes() const { return panels * kLanes; }
    FERRULE_INLINE int64_t rows_of(int64_t panel) const {
      return rows - panel * kLanes < kLanes ? rows - panel * kLanes : kLanes;
    }
  };

  FERRULE_LATE_INLINE void pack_rows(Strip& strip) const {
    for (int64_t panel = 0; panel < strip.panels; ++panel) {
      const T* from = strip.q + panel * kLanes * shape.q.row;
      for (int64_t d = 0; d < shape.width; d += kLanes) {
        const int64_t count = shape.width - d < kLanes ? shape.width - d : kLanes;
        Vec<T> block[kLanes];
        load_transposed<T>(from + d * shape.q.column, shape.q, strip.rows_of(panel), count, block);
#pragma clang loop unroll(disable)
        for (int64_t j = 0; j < count; ++j) store(strip.packed + (d + j) * strip.lanes() + panel * kLanes, block[j]);
      }
    }
  }

  // Scores of HEIGHT keys for the rows of PANELS panels, scaled.
  template <int HEIGHT, int PANELS>
  FERRULE_LATE_INLINE void score_tile(Strip& strip, int64_t key, int64_t panel) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, false>(strip.k + key * shape.k.row, shape.k.row, shape.k.column,
                                       strip.packed + panel * kLanes, strip.lanes(), shape.width, kLanes, total);
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

  template <int PANELS>
  FERRULE_INLINE void score_panels(Strip& strip, int64_t panel) const {
    for_heights<tile_height<T, PANELS>()>(strip.keys, [&](auto height, int64_t key) __attribute__((always_inline)) {
      score_tile<decltype(height)::value, PANELS>(strip, key, panel);
    });
  }

  FERRULE_INLINE void clear_maximum(Strip& strip) const {
    for (int p = 0; p < kStripPanels; ++p) strip.maximum[p] = splat(-LaneTraits<T>::kInfinity);
  }

  FERRULE_INLINE void score(Strip& strip) const {
    clear_maximum(strip);
    constexpr int kWidest = widest_tile<T>();
    int64_t panel = 0;
    for (; panel + kWidest <= strip.panels; panel += kWidest) score_panels<kWidest>(strip, panel);
    if constexpr (kWidest > 2) {
      if (panel + 2 <= strip.panels) score_panels<2>(strip, panel), panel += 2;
    }
    if constexpr (kWidest > 1) {
      if (panel < strip.panels) score_panels<1>(strip, panel);
    }
  }

  // All ones where the rows of a panel see the key, given the mask of the rows.
  FERRULE_INLINE Vec<Bits> sees(const Strip& strip, int64_t panel, int64_t key, Vec<Bits> mask_of_rows) const {
    if constexpr (ABSENT == Absent::kCausal) {
      return splat(static_cast<Bits>(strip.row + panel * kLanes - key)) + lane_index<T>() >= 0;
    } else {
      return shape.fills_true ? mask_of_rows == 0 : mask_of_rows != 0;
    }
  }
  FERRULE_INLINE bool sees_one(const Strip& strip, int64_t row, int64_t key) const {
    if constexpr (ABSENT == Absent::kCausal) {
      return key <= strip.row + row;
    } else {
      return strip.mask[row * shape.mask.row + key * shape.mask.column] != 0;
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
          if constexpr (ABSENT != Absent::kNone) {
            if (is_broken(score[0])) score = repair_score(strip, key + j, score);
          }
          if (BIAS && !masks_first) score = score + added[j];
          if constexpr (MASK || ABSENT == Absent::kCausal) {
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

  // The scores of one panel become exp(score - maximum) * (1 / sum).
  FERRULE_LATE_INLINE void normalize(const Strip& strip, int64_t panel) const {
    T* const column = strip.scores + panel * kLanes;
    Vec<T> maximum = strip.maximum[panel];
    // A row that sees no key, or only such of -infinity, has the weights 0.
    if constexpr (ABSENT != Absent::kNone) {
      maximum = select(maximum == -LaneTraits<T>::kInfinity, Vec<T>{}, maximum);
    }
    Vec<T> total{};
    for (int64_t block = 0; block < strip.keys; block += kReductionBlock) {
      const int64_t end = block + kReductionBlock < strip.keys ? block + kReductionBlock : strip.keys;
      SumOf<T, 1> lanes[kLanes];
#pragma clang loop unroll(disable)
      for (int i = 0; i < kLanes; ++i) lanes[i].clear();
#pragma clang loop unroll_count(2)
      for (int64_t key = block; key < end; ++key) {
        T* at = column + key * strip.lanes();
        const Vec<T> e = exp(load(at) - maximum);
        store(at, e);
        lanes[key % kLanes].value[0] = lanes[key % kLanes].value[0] + e;
      }
      fold_accumulators(lanes);
      total = total + lanes[0].value[0];
    }
    Vec<T> reciprocal = splat(T(1)) / total;
    if constexpr (ABSENT != Absent::kNone) reciprocal = select(total == T(0), Vec<T>{}, reciprocal);
#pragma clang loop unroll_count(4)
    for (int64_t key = 0; key < strip.keys; ++key) {
      T* at = column + key * strip.lanes();
      store(at, load(at) * reciprocal);
    }
  }

  // Values that are not finite count as 0; the sum is NaN if the row sees one. A finite sum held none: even the weight 0
  // makes NaN of it.
  FERRULE_LATE_INLINE Vec<T> repair_sums(const Strip& strip, int64_t row, int64_t column, int64_t count) const {
    Vec<T> sums{};
#pragma clang loop unroll(disable)
    for (int64_t c = 0; c < count; ++c) {
      T total = 0, acc = 0;
      bool broken = false;
      for (int64_t key = 0; key < strip.keys; ++key) {
        T value = strip.v[key * shape.v.row + column + c];
        if (is_broken(value)) {
          broken = broken || sees_one(strip, row, key);
          value = 0;
        }
        acc = fused(strip.scores[key * strip.lanes() + row], value, acc);
        if ((key + 1) % kContractionBlock == 0) total = total + acc, acc = 0;
      }
      sums[c] = broken ? static_cast<T>(__builtin_nan("")) : total + acc;
    }
    return sums;
  }

  template <int HEIGHT, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void value_tile(const Strip& strip, int64_t row, int64_t column, int64_t last_count) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, RAGGED>(strip.scores + row, 1, strip.lanes(), strip.v + column, shape.v.row, strip.keys,
                                        last_count, total);
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        T* at = strip.out + (row + r) * shape.out.row + column + p * kLanes;
        const int64_t count = RAGGED && p == PANELS - 1 ? last_count : kLanes;
        if constexpr (ABSENT != Absent::kNone) {
          if (any(total[r][p] - total[r][p] != 0)) total[r][p] = repair_sums(strip, row + r, column + p * kLanes, count);
        }
        store_first(at, total[r][p], count);
      }
    }
  }

  template <int PANELS, bool RAGGED>
  FERRULE_INLINE void value_panels(const Strip& strip, int64_t column, int64_t last_count) const {
    for_heights<tile_height<T, PANELS>()>(strip.rows, [&](auto height, int64_t row) __attribute__((always_inline)) {
      value_tile<decltype(height)::value, PANELS, RAGGED>(strip, row, column, last_count);
    });
  }

  FERRULE_INLINE void weigh_values(const Strip& strip) const {
    constexpr int kWidest = smaller(2, widest_tile<T>());
    int64_t column = 0;
    for (; column + kWidest * kLanes <= shape.columns; column += kWidest * kLanes) {
      value_panels<kWidest, false>(strip, column, kLanes);
    }
    if constexpr (kWidest > 1) {
      if (column + kLanes <= shape.columns) value_panels<1, false>(strip, column, kLanes), column += kLanes;
    }
    if (column < shape.columns) value_panels<1, true>(strip, column, shape.columns - column);
  }

  FERRULE_INLINE void run(int64_t tile_begin, int64_t tile_end, T* scratch) const {
    const int64_t strips = attention_strips(shape.rows), panels = ceil_div(shape.rows, kLanes);
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      // Strips differ by one panel at most.
      const int64_t number = tile % strips, batch = tile / strips;
      const int64_t first = number * panels / strips, row = first * kLanes;
      const int64_t index[3] = {batch / shape.batch[2] / shape.batch[1], batch / shape.batch[2] % shape.batch[1],
                                batch % shape.batch[2]};
      const auto at = [&](const AttentionStrides& strides, int64_t its_row) __attribute__((always_inline)) {
        return strides.offset + index[0] * strides.batch[0] + index[1] * strides.batch[1] +
               index[2] * strides.batch[2] + its_row * strides.row;
      };
      Strip strip;
      strip.q = q + at(shape.q, row);
      strip.k = k + at(shape.k, 0);
      strip.v = v + at(shape.v, 0);
      if constexpr (BIAS) strip.bias = bias + at(shape.bias, row);
      if constexpr (MASK) strip.mask = mask + at(shape.mask, row);
      strip.out = out + at(shape.out, row);
      strip.panels = (number + 1) * panels / strips - first;
      strip.rows = shape.rows - row < strip.lanes() ? shape.rows - row : strip.lanes();
      strip.row = row;
      strip.keys = shape.keys;
      if (ABSENT == Absent::kCausal && row + strip.rows < shape.keys) strip.keys = row + strip.rows;
      strip.packed = scratch;
      strip.scores = scratch + shape.width * strip.lanes();
      pack_rows(strip);
      score(strip);
      if constexpr (BIAS || MASK || ABSENT != Absent::kNone) edit(strip);
      for (int64_t panel = 0; panel < strip.panels; ++panel) normalize(strip, panel);
      weigh_values(strip);
    }
  }
};

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
FERRULE_INLINE void attention(T* out, const T* q, const T* k, const T* v, const T* bias, const void* mask,
                              const int64_t* table, double scale, double fill, int64_t tile_begin, int64_t tile_end,
                              void* scratch) {
  const Attention<T, BIAS, MASK, ABSENT> op{*reinterpret_cast<const AttentionShape*>(table),
                                            out,
                                            q,
                                            k,
                                            v,
                                            bias,
                                            static_cast<const uint8_t*>(mask),
                                            static_cast<T>(scale),
                                            static_cast<T>(fill)};
  op.run(tile_begin, tile_end, static_cast<T*>(scratch));
}

}  // namespace
}  // namespace ferrule::kernels

// `operands` are those behind v; the others of the template's two are null.
#define FERRULE_ATTENTION(name, S, T, operands, BIAS, MASK, ABSENT, the_bias, the_mask)                               \
  FERRULE_DEFINE(void, ferrule_attention##name##_##S)                                                                \
  (T * out, const T* q, const T* k, const T* v, operands const int64_t* table, double scale, double fill,            \
   int64_t tile_begin, int64_t tile_end, void* scratch) {                                                            \
    using namespace ferrule::kernels;                                                                                \
    attention<T, BIAS, MASK, Absent::ABSENT>(out, q, k, v, the_bias, the_mask, table, scale, fill, tile_begin,       \
                                             tile_end, scratch);                                                     \
  }
#define FERRULE_NO_OPERAND
#define FERRULE_BIAS_OPERAND(T) const T *bias,
#define FERRULE_MASK_OPERAND const void *mask,
#define FERRULE_ATTENTIONS(S, T)                                                                                     \
  FERRULE_ATTENTION(, S, T, FERRULE_NO_OPERAND, false, false, kNone, nullptr, nullptr)                               \
  FERRULE_ATTENTION(_bias, S, T, FERRULE_BIAS_OPERAND(T), true, false, kNone, bias, nullptr)                         \
  FERRULE_ATTENTION(_mask, S, T, FERRULE_MASK_OPERAND, false, true, kNone, nullptr, mask)                            \
  FERRULE_ATTENTION(_mask_bias, S, T, FERRULE_MASK_OPERAND FERRULE_BIAS_OPERAND(T), true, true, kNone, bias, mask)   \
  FERRULE_ATTENTION(_causal, S, T, FERRULE_NO_OPERAND, false, false, kCausal, nullptr, nullptr)                      \
  FERRULE_ATTENTION(_present, S, T, FERRULE_MASK_OPERAND, false, true, kMasked, nullptr, mask)                       \
  FERRULE_ATTENTION(_present_bias, S, T, FERRULE_MASK_OPERAND FERRULE_BIAS_OPERAND(T), true, true, kMasked, bias, mask)
FERRULE_ATTENTIONS(f32, float)
FERRULE_ATTENTIONS(f64, double)
