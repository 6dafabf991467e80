// Attention by strips of rows, whose scores stay in the cache.
#include "kernels/attention/strips.h"

namespace ferrule::kernels {
namespace {

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
struct Attention : Scores<T, BIAS, MASK, ABSENT, Keys::kInPlace> {
  using Base = Scores<T, BIAS, MASK, ABSENT, Keys::kInPlace>;
  using Base::shape;
  T* out;
  const T* q;
  const T* k;
  const T* v;
  const T* bias;
  const uint8_t* mask;

  struct Strip : Base::Strip {
    const T* v;
    T* out;
  };

  FERRULE_INLINE bool sees_one(const Strip& strip, int64_t row, int64_t key) const {
    if constexpr (ABSENT == Absent::kCausal) {
      return key <= strip.row + row;
    } else {
      return strip.mask[row * shape.mask.row + key * shape.mask.column] != 0;
    }
  }

  // The scores of one panel become exp(score - maximum) * (1 / sum).
  FERRULE_LATE_INLINE void normalize(const Strip& strip, int64_t panel) const {
    T* const column = strip.scores + panel * kLanes;
    const Vec<T> total = this->exponentiate(strip, panel);
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
  FERRULE_LATE_INLINE void repair_sums(const Strip& strip) const {
#pragma clang loop unroll(disable)
    for (int64_t row = 0; row < strip.rows; ++row) {
      T* const out_row = strip.out + row * shape.out.row;
#pragma clang loop unroll(disable)
      for (int64_t column = 0; column < shape.columns; ++column) {
        if (!is_broken(out_row[column])) continue;
        T total = 0, acc = 0;
        bool broken = false;
#pragma clang loop unroll(disable)
        for (int64_t key = 0; key < strip.keys; ++key) {
          T value = strip.v[key * shape.v.row + column];
          if (is_broken(value)) {
            broken = broken || sees_one(strip, row, key);
            value = 0;
          }
          acc = fused(strip.scores[key * strip.lanes() + row], value, acc);
          if ((key + 1) % kContractionBlock == 0) total = total + acc, acc = 0;
        }
        out_row[column] = broken ? static_cast<T>(__builtin_nan("")) : total + acc;
      }
    }
  }

  // Whether some sum is not finite.
  template <int HEIGHT, int PANELS, bool RAGGED>
  FERRULE_LATE_INLINE bool value_tile(const Strip& strip, int64_t row, int64_t column, int64_t last_count) const {
    Vec<T> total[HEIGHT][PANELS];
    contract<T, HEIGHT, PANELS, RAGGED>(strip.scores + row, 1, strip.lanes(), strip.v + column, shape.v.row, strip.keys,
                                        last_count, total);
    Vec<T> differences{};
#pragma unroll
    for (int r = 0; r < HEIGHT; ++r) {
#pragma unroll
      for (int p = 0; p < PANELS; ++p) {
        T* at = strip.out + (row + r) * shape.out.row + column + p * kLanes;
        store_first(at, total[r][p], RAGGED && p == PANELS - 1 ? last_count : kLanes);
        if constexpr (ABSENT != Absent::kNone) differences = differences + (total[r][p] - total[r][p]);
      }
    }
    return ABSENT != Absent::kNone && any(differences != 0);
  }

  FERRULE_INLINE void weigh_values(const Strip& strip, int64_t rows, int64_t columns) const {
    bool broken = false;
    for_column_tiles<T>(rows, columns, [&](auto height, auto width, auto ragged, int64_t row, int64_t column,
                                           int64_t last_count) __attribute__((always_inline)) {
      broken |= value_tile<decltype(height)::value, decltype(width)::value, decltype(ragged)::value>(strip, row, column,
                                                                                                     last_count);
    });
    if constexpr (ABSENT != Absent::kNone) {
      if (broken) repair_sums(strip);
    }
  }

  FERRULE_INLINE void run(int64_t tile_begin, int64_t tile_end, T* scratch) const {
    const int64_t all_rows = shape.rows, all_keys = shape.keys, columns = shape.columns;
    const int64_t strips = attention_strips(all_rows), panels = ceil_div(all_rows, kLanes);
    for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
      // Strips differ by one panel at most.
      const int64_t number = tile % strips, batch = tile / strips;
      const int64_t first = number * panels / strips, row = first * kLanes;
      const BatchIndex index(shape, batch);
      Strip strip;
      strip.q = q + index.offset(shape.q, row);
      strip.k = k + index.offset(shape.k, 0);
      strip.v = v + index.offset(shape.v, 0);
      if constexpr (BIAS) strip.bias = bias + index.offset(shape.bias, row);
      if constexpr (MASK) strip.mask = mask + index.offset(shape.mask, row);
      strip.out = out + index.offset(shape.out, row);
      const int64_t its_panels = (number + 1) * panels / strips - first;
      const int64_t rows = all_rows - row < its_panels * kLanes ? all_rows - row : its_panels * kLanes;
      const int64_t keys = ABSENT == Absent::kCausal && row + rows < all_keys ? row + rows : all_keys;
      Vec<T> maximum[kStripPanels];
      strip.maximum = maximum;
      strip.panels = its_panels;
      strip.rows = rows;
      strip.row = row;
      strip.keys = keys;
      strip.packed = scratch;
      strip.scores = scratch + shape.width * strip.lanes();
      this->pack_rows(strip, strip.q, shape.q, shape.width, strip.packed);
      this->score(strip, keys, its_panels);
      if constexpr (BIAS || MASK || ABSENT != Absent::kNone) this->edit(strip);
      for (int64_t panel = 0; panel < its_panels; ++panel) normalize(strip, panel);
      weigh_values(strip, rows, columns);
    }
  }
};

template <typename T, bool BIAS, bool MASK, Absent ABSENT>
FERRULE_INLINE void attention(T* out, const T* q, const T* k, const T* v, const T* bias, const void* mask,
                              const int64_t* table, double scale, double fill, int64_t tile_begin, int64_t tile_end,
                              void* scratch) {
  const Attention<T, BIAS, MASK, ABSENT> op{
      {*reinterpret_cast<const AttentionShape*>(table), static_cast<T>(scale), static_cast<T>(fill)},
      out,
      q,
      k,
      v,
      bias,
      static_cast<const uint8_t*>(mask)};
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
