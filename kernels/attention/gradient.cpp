// The gradient of attention, a head at a time: no matrix of scores in memory.
//
// The weights of a strip of rows are computed again, and with them the gradient of its scores; that gives the strip's
// gradient of q, and what its rows add to the gradients of all keys and values. Rows run upwards, so that those sums have
// the order of the products that they stand for: rule (b), a block of 4,096 rows at a time.
#include "kernels/attention/strips.h"

namespace ferrule::kernels {
namespace {

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
struct AttentionGradient : Scores<T, BIAS, MASK, ABSENT, Keys::kCopied> {
  using Base = Scores<T, BIAS, MASK, ABSENT, Keys::kCopied>;
  using Base::scale;
  using Base::shape;
  using Bits = typename Base::Bits;
  static constexpr bool kCausal = ABSENT == Absent::kCausal;
  const AttentionGradientShape& gradient;
  T* q_gradient;
  T* k_gradient;
  T* v_gradient;
  const T* q;
  const T* k;
  const T* v;
  const T* g;
  const T* bias;
  const uint8_t* mask;

  struct Strip : Base::Strip {
    const T* g;
    const T* v;       // A copy [keys][columns], in which 0 stands for what is not finite, if keys can be absent.
    T* q_gradient;
    T* packed_g;      // [columns][panels * 16]
    T* slopes;        // [keys][panels * 16]: the gradient of the weights, then of the products of q and k.
    Vec<T>* total;    // [panels]: the sums of the powers that `scores` holds.
  };
  // Of one head.
  struct Head {
    T *k, *v, *broken;       // Copies, and NaN for a key that is not finite, else 0.
    T *k_sums, *v_sums;      // [keys][width] and [keys][columns] of the current block of rows.
    T g_limit;               // Below it no product of g and v overflows.
  };

  // to[row][column] = from, row by row; with absent keys 0 in place of what is not finite, and NaN in `broken` (if it is
  // not null) for a row that holds such, else 0.
  FERRULE_LATE_INLINE void copy_rows(const T* from, const AttentionStrides& strides, int64_t rows, int64_t width, T* to,
                                     T* broken) const {
    for (int64_t row = 0; row < rows; ++row) {
      Vec<T> differences{};
      for (int64_t d = 0; d < width; d += kLanes) {
        const int64_t count = width - d < kLanes ? width - d : kLanes;
        Vec<T> x = load_lanes<T>(from + row * strides.row + d * strides.column, strides.column, count);
        if constexpr (ABSENT != Absent::kNone) {
          const Vec<T> difference = x - x;
          x = select(difference == 0, x, Vec<T>{});
          differences = differences + difference;
        }
        store_first(to + row * width + d, x, count);
      }
      if (ABSENT != Absent::kNone && broken) {
        broken[row] = any(differences != 0) ? static_cast<T>(__builtin_nan("")) : T(0);
      }
    }
  }

  static FERRULE_INLINE Vec<T> magnitude(Vec<T> x) { return select(x < 0, -x, x); }

  // If no |g| reaches it, sums of `columns` products of g with the `count` values stay finite.
  FERRULE_LATE_INLINE T limit_of_g(const T* values, int64_t count, int64_t columns) const {
    Vec<T> largest{};
    for (int64_t i = 0; i < count; i += kLanes) {
      const Vec<T> x = magnitude(load_first(values + i, count - i < kLanes ? count - i : kLanes));
      largest = select(x > largest, x, largest);
    }
    T limit = 0;
    for (int i = 0; i < kLanes; ++i) limit = largest[i] > limit ? largest[i] : limit;
    return 1 / LaneTraits<T>::kMin / (static_cast<T>(columns) * limit + 1);
  }

  // Whether all of `panels` vectors are below the limit; NaN is not.
  FERRULE_LATE_INLINE bool all_below(const T* vectors, int64_t panels, T limit) const {
    Vec<Bits> beyond{};
    for (int64_t i = 0; i < panels; ++i) beyond |= ~(magnitude(load(vectors + i * kLanes)) < limit);
    return !any(beyond);
  }

  // Whether keys that no row of the strip sees add nothing to any sum: 0 times a finite number. The scores of rows that see
  // them are 0 there, and a weight is 0 unless the row's sum is NaN.
  FERRULE_INLINE bool skips_safely(const Strip& strip, int64_t panels, T g_limit) const {
    Vec<Bits> broken{};
    for (int64_t panel = 0; panel < panels; ++panel) broken |= strip.total[panel] != strip.total[panel];
    return !any(broken) && all_below(strip.packed, shape.width * panels, LaneTraits<T>::kInfinity) &&
           all_below(strip.packed_g, shape.columns * panels, g_limit);
  }

  // slopes[key][row] = g[row] times v[key], the gradient of the weights.
  template <int HEIGHT, int PANELS>
  FERRULE_LATE_INLINE void slope_tile(const Strip& strip, int64_t key, int64_t panel) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, false>(strip.v + key * shape.columns, shape.columns, 1,
                                       strip.packed_g + panel * kLanes, strip.lanes(), shape.columns, kLanes, total);
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        store(strip.slopes + (key + r) * strip.lanes() + (panel + p) * kLanes, total[r][p]);
      }
    }
  }

  // Of one panel: powers become weights, and the gradient of the weights that of the products. slope(weight or power,
  // gradient) is the gradient of a score.
  template <typename Weight, typename Slope>
  FERRULE_INLINE void finish_slopes(const Strip& strip, int64_t panel, Weight weight, Slope slope) const {
    const int64_t rows = strip.rows_of(panel), row = panel * kLanes;
    for (int64_t key = 0; key < strip.keys; key += kLanes) {
      const int64_t count = strip.keys - key < kLanes ? strip.keys - key : kLanes;
      Vec<Bits> masks[kLanes];
      if constexpr (MASK) {
        load_transposed<Bits>(strip.mask + row * shape.mask.row + key * shape.mask.column, shape.mask, rows, count, masks);
      }
#pragma clang loop unroll(disable)
      for (int64_t j = 0; j < count; ++j) {
        const int64_t at = (key + j) * strip.lanes() + row;
        const Vec<T> power = load(strip.scores + at);
        Vec<T> result = slope(power, load(strip.slopes + at));
        if constexpr (Base::kHides) {
          result = select(this->sees(strip, panel, key + j, MASK ? masks[j] : Vec<Bits>{}), result, Vec<T>{});
        }
        store(strip.slopes + at, shape.divides ? result / splat(scale) : result * splat(scale));
        store(strip.scores + at, weight(power));
      }
    }
  }

  // softmax: y = e / sum, and its gradient y * (g - sum of g * y).
  FERRULE_LATE_INLINE void differentiate(const Strip& strip, int64_t panel) const {
    const Vec<T> reciprocal = splat(T(1)) / strip.total[panel];
    const Vec<T> product = sum_over_keys<T>(strip.keys, [&](int64_t key) __attribute__((always_inline)) {
      const int64_t at = key * strip.lanes() + panel * kLanes;
      const Vec<T> y = load(strip.scores + at) * reciprocal;
      store(strip.scores + at, y);
      return load(strip.slopes + at) * y;
    });
    finish_slopes(
        strip, panel, [](Vec<T> y) __attribute__((always_inline)) { return y; },
        [&](Vec<T> y, Vec<T> slope) __attribute__((always_inline)) { return y * (slope - product); });
  }

  // With absent keys: y = e * r, r = 1 / sum or 0; the gradient of e is g * r - (sum of g * e) * (r / sum), where it is
  // present.
  FERRULE_LATE_INLINE void differentiate_present(const Strip& strip, int64_t panel) const {
    const Vec<Bits> sees_none = strip.total[panel] == T(0);
    const Vec<T> total = select(sees_none, splat(T(1)), strip.total[panel]), inverse = splat(T(1)) / total;
    const Vec<T> reciprocal = select(sees_none, Vec<T>{}, inverse);
    const Vec<T> product = sum_over_keys<T>(strip.keys, [&](int64_t key) __attribute__((always_inline)) {
      const int64_t at = key * strip.lanes() + panel * kLanes;
      return load(strip.slopes + at) * load(strip.scores + at);
    });
    const Vec<T> shift = select(sees_none, Vec<T>{}, -(product * (inverse / total)));
    finish_slopes(
        strip, panel, [&](Vec<T> power) __attribute__((always_inline)) { return power * reciprocal; },
        [&](Vec<T> power, Vec<T> slope)
            __attribute__((always_inline)) { return (slope * reciprocal + shift) * power; });
  }

  template <int HEIGHT, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void query_tile(const Strip& strip, int64_t row, int64_t column, int64_t last_count) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, RAGGED>(strip.slopes + row, 1, strip.lanes(), strip.k + column, shape.width, strip.keys,
                                        last_count, total);
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        T* at = strip.q_gradient + (row + r) * gradient.q_gradient.row + column + p * kLanes;
        store_first(at, total[r][p], RAGGED && p == PANELS - 1 ? last_count : kLanes);
      }
    }
  }

  // sums[key][column] goes on with the strip's rows: fma(factors[key][row], from[row][column], sums).
  template <int HEIGHT, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE void sum_tile(const Strip& strip, const T* factors, const T* from, int64_t from_stride, T* sums,
                                    int64_t sums_stride, int64_t last_count) const {
    Tile<T, HEIGHT, PANELS> tile;
    const auto count_of = [&](int p) __attribute__((always_inline)) {
      return RAGGED && p == PANELS - 1 ? last_count : int64_t{kLanes};
    };
    tile.clear();
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) tile.acc[r][p] = load_first(sums + r * sums_stride + p * kLanes, count_of(p));
    }
    const auto columns = [&](int64_t row, Vec<T>(&out)[PANELS]) __attribute__((always_inline)) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) out[p] = load_first(from + row * from_stride + p * kLanes, count_of(p));
    };
    tile.accumulate(factors, strip.lanes(), 1, strip.rows, columns);
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) store_first(sums + r * sums_stride + p * kLanes, tile.acc[r][p], count_of(p));
    }
  }
  FERRULE_INLINE void add_rows(const Strip& strip, int64_t keys, const T* factors, const T* from, int64_t from_stride,
                               T* sums, int64_t width) const {
    for_column_tiles<T>(keys, width, [&](auto height, auto panels, auto ragged, int64_t key, int64_t column,
                                         int64_t last_count) __attribute__((always_inline)) {
      sum_tile<decltype(height)::value, decltype(panels)::value, decltype(ragged)::value>(
          strip, factors + key * strip.lanes(), from + column, from_stride, sums + key * width + column, width,
          last_count);
    });
  }

  // The end of a block of rows: out = out + sums, where out is +0 the first time; the sums become +0.
  FERRULE_LATE_INLINE void flush(T* sums, int64_t keys, int64_t width, T* out, int64_t out_row, bool first) const {
    for (int64_t key = 0; key < keys; ++key) {
      for (int64_t d = 0; d < width; d += kLanes) {
        const int64_t count = width - d < kLanes ? width - d : kLanes;
        T *at = out + key * out_row + d, *sum = sums + key * width + d;
        const Vec<T> before = first ? Vec<T>{} : load_first(at, count);
        store_first(at, before + load_first(sum, count), count);
        store_first(sum, Vec<T>{}, count);
      }
    }
  }

  FERRULE_INLINE void run_strip(Strip& strip, const Head& head, int64_t rows, int64_t panels) const {
    const int64_t all_keys = shape.keys, width = shape.width, columns = shape.columns;
    this->pack_rows(strip, strip.q, shape.q, width, strip.packed);
    this->pack_rows(strip, strip.g, shape.out, columns, strip.packed_g);
    strip.keys = kCausal && strip.row + rows < all_keys ? strip.row + rows : all_keys;
    for (bool done = false; !done;) {
      this->score(strip, strip.keys, panels);
      if constexpr (BIAS || Base::kHides) this->edit(strip);
      for (int64_t panel = 0; panel < panels; ++panel) strip.total[panel] = this->exponentiate(strip, panel);
      done = !kCausal || strip.keys == all_keys || skips_safely(strip, panels, head.g_limit);
      if (!done) strip.keys = all_keys;
    }
    for_tiles<T>(strip.keys, panels, [&](auto height, auto its_panels, int64_t key, int64_t panel)
                                         __attribute__((always_inline)) {
      slope_tile<decltype(height)::value, decltype(its_panels)::value>(strip, key, panel);
    });
    for (int64_t panel = 0; panel < panels; ++panel) {
      if constexpr (ABSENT == Absent::kNone) {
        differentiate(strip, panel);
      } else {
        differentiate_present(strip, panel);
      }
    }
    for_column_tiles<T>(rows, width, [&](auto height, auto its_panels, auto ragged, int64_t row, int64_t column,
                                         int64_t last_count) __attribute__((always_inline)) {
      query_tile<decltype(height)::value, decltype(its_panels)::value, decltype(ragged)::value>(strip, row, column,
                                                                                                last_count);
    });
    add_rows(strip, strip.keys, strip.slopes, strip.q, shape.q.row, head.k_sums, width);
    add_rows(strip, strip.keys, strip.scores, strip.g, shape.out.row, head.v_sums, columns);
  }

  // One block of the head's rows, by strips that differ by one panel at most.
  FERRULE_INLINE void run_block(const Head& head, const BatchIndex& index, int64_t begin, int64_t block_rows,
                                T* scratch) const {
    const int64_t strips = attention_strips(block_rows), panels = ceil_div(block_rows, kLanes);
    for (int64_t number = 0; number < strips; ++number) {
      const int64_t first = number * panels / strips, its_panels = (number + 1) * panels / strips - first;
      const int64_t left = block_rows - first * kLanes, row = begin + first * kLanes;
      const int64_t rows = left < its_panels * kLanes ? left : its_panels * kLanes;
      Vec<T> maximum[kStripPanels], total[kStripPanels];
      Strip strip;
      strip.q = q + index.offset(shape.q, row);
      strip.g = g + index.offset(shape.out, row);
      if constexpr (BIAS) strip.bias = bias + index.offset(shape.bias, row);
      if constexpr (MASK) strip.mask = mask + index.offset(shape.mask, row);
      strip.k = head.k, strip.v = head.v, strip.broken = head.broken;
      strip.q_gradient = q_gradient + index.offset(gradient.q_gradient, row);
      strip.maximum = maximum, strip.total = total;
      strip.panels = its_panels, strip.rows = rows, strip.row = row;
      strip.packed = scratch;
      strip.packed_g = strip.packed + shape.width * kAttentionStripRows;
      strip.scores = strip.packed_g + shape.columns * kAttentionStripRows;
      strip.slopes = strip.scores + shape.keys * kAttentionStripRows;
      run_strip(strip, head, rows, its_panels);
    }
  }

  FERRULE_INLINE void run(int64_t tile_begin, int64_t tile_end, T* scratch) const {
    const int64_t rows = shape.rows, keys = shape.keys, width = shape.width, columns = shape.columns;
    Head head;
    head.k = scratch + kAttentionStripRows * (width + columns + 2 * keys);
    head.v = head.k + keys * width;
    head.k_sums = head.v + keys * columns;
    head.v_sums = head.k_sums + keys * width;
    head.broken = head.v_sums + keys * columns;
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      const BatchIndex index(shape, tile);
      copy_rows(k + index.offset(shape.k, 0), shape.k, keys, width, head.k, head.broken);
      copy_rows(v + index.offset(shape.v, 0), shape.v, keys, columns, head.v, nullptr);
      if constexpr (kCausal) head.g_limit = limit_of_g(head.v, keys * columns, columns);
      for (int64_t i = 0; i < keys * (width + columns); ++i) head.k_sums[i] = 0;
      for (int64_t block = 0; block == 0 || block < rows; block += kContractionBlock) {
        run_block(head, index, block, rows - block < kContractionBlock ? rows - block : kContractionBlock, scratch);
        flush(head.k_sums, keys, width, k_gradient + index.offset(gradient.k_gradient, 0), gradient.k_gradient.row,
              block == 0);
        flush(head.v_sums, keys, columns, v_gradient + index.offset(gradient.v_gradient, 0), gradient.v_gradient.row,
              block == 0);
      }
    }
  }
};

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
FERRULE_INLINE void attention_gradient(T* q_gradient, T* k_gradient, T* v_gradient, const T* q, const T* k, const T* v,
                                       const T* g, const T* bias, const void* mask, const int64_t* table, double scale,
                                       double fill, int64_t tile_begin, int64_t tile_end, void* scratch) {
  const auto& gradient = *reinterpret_cast<const AttentionGradientShape*>(table);
  const AttentionGradient<T, BIAS, MASK, ABSENT> op{
      {gradient.attention, static_cast<T>(scale), static_cast<T>(fill)},
      gradient,
      q_gradient,
      k_gradient,
      v_gradient,
      q,
      k,
      v,
      g,
      bias,
      static_cast<const uint8_t*>(mask)};
  op.run(tile_begin, tile_end, static_cast<T*>(scratch));
}

}  // namespace
}  // namespace ferrule::kernels

// `operands` are those behind g; the others of the template's two are null.
#define FERRULE_ATTENTION_GRADIENT(name, S, T, operands, BIAS, MASK, ABSENT, the_bias, the_mask)                      \
  FERRULE_DEFINE(void, ferrule_attention_gradient##name##_##S)                                                       \
  (T * q_gradient, T * k_gradient, T * v_gradient, const T* q, const T* k, const T* v, const T* g,                   \
   operands const int64_t* table, double scale, double fill, int64_t tile_begin, int64_t tile_end, void* scratch) {  \
    using namespace ferrule::kernels;                                                                                \
    attention_gradient<T, BIAS, MASK, Absent::ABSENT>(q_gradient, k_gradient, v_gradient, q, k, v, g, the_bias,      \
                                                      the_mask, table, scale, fill, tile_begin, tile_end, scratch);  \
  }
#define FERRULE_NO_OPERAND
#define FERRULE_BIAS_OPERAND(T) const T *bias,
#define FERRULE_MASK_OPERAND const void *mask,
#define FERRULE_ATTENTION_GRADIENTS(S, T)                                                                            \
  FERRULE_ATTENTION_GRADIENT(, S, T, FERRULE_NO_OPERAND, false, false, kNone, nullptr, nullptr)                      \
  FERRULE_ATTENTION_GRADIENT(_bias, S, T, FERRULE_BIAS_OPERAND(T), true, false, kNone, bias, nullptr)                \
  FERRULE_ATTENTION_GRADIENT(_mask, S, T, FERRULE_MASK_OPERAND, false, true, kNone, nullptr, mask)                   \
  FERRULE_ATTENTION_GRADIENT(_mask_bias, S, T, FERRULE_MASK_OPERAND FERRULE_BIAS_OPERAND(T), true, true, kNone,      \
                             bias, mask)                                                                             \
  FERRULE_ATTENTION_GRADIENT(_causal, S, T, FERRULE_NO_OPERAND, false, false, kCausal, nullptr, nullptr)             \
  FERRULE_ATTENTION_GRADIENT(_present, S, T, FERRULE_MASK_OPERAND, false, true, kMasked, nullptr, mask)              \
  FERRULE_ATTENTION_GRADIENT(_present_bias, S, T, FERRULE_MASK_OPERAND FERRULE_BIAS_OPERAND(T), true, true, kMasked, \
                             bias, mask)
FERRULE_ATTENTION_GRADIENTS(f32, float)
FERRULE_ATTENTION_GRADIENTS(f64, double)
