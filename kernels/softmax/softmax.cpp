// softmax and log-softmax of produced rows; cross entropy of a matrix of logits, and its gradient.
#include "kernels/softmax/softmax.h"

namespace ferrule::kernels {
namespace {

template <typename Row>
FERRULE_INLINE void for_tile_rows(int64_t rows, int64_t tile_rows, int64_t tile_begin, int64_t tile_end, Row row) {
  const int64_t end = tile_end * tile_rows < rows ? tile_end * tile_rows : rows;
  for (int64_t r = tile_begin * tile_rows; r < end; ++r) row(r);
}

template <typename T, bool LOG>
FERRULE_INLINE void softmax_row(void* ctx, FerruleLoad load_element, FerruleStore store_result, int64_t row, int64_t n,
                                T* scratch) {
  const T maximum = row_maximum<T>(n, scratch, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    Vec<T> x;
    load_element(ctx, row, i, 0, count, &x);
    return x;
  });
  T scale;
  if constexpr (LOG) {
    const T sum = row_sum<T>(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
      return keep_lanes<T>(exp(load(scratch + i) - splat(maximum)), count);
    });
    scale = log(sum);
  } else {
    scale = T(1) / exponentials(n, scratch, maximum);
  }
  for_chunks(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    const Vec<T> x = load(scratch + i);
    const Vec<T> y = LOG ? (x - splat(maximum)) - splat(scale) : x * splat(scale);
    store_result(ctx, row, i, count, &y);
  });
}

template <typename T>
struct CrossEntropy {
  const T* logits;
  const int32_t* labels;
  int64_t n;
  int64_t has_ignore, ignore_index;
  double label_smooth;
  T* scratch;

  FERRULE_INLINE bool ignored(int64_t row) const { return has_ignore != 0 && labels[row] == ignore_index; }
  FERRULE_INLINE bool in_range(int64_t row) const { return labels[row] >= 0 && labels[row] < n; }
  FERRULE_INLINE T maximum(int64_t row) const {
    const T* x = logits + row * n;
    return row_maximum<T>(n, scratch, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
      return load_first(x + i, count);
    });
  }

  FERRULE_INLINE T loss(int64_t row) const {
    const T largest = maximum(row);
    const T at_label = scratch[labels[row]] - largest;
    T mean = 0;
    if (label_smooth != 0) {
      mean = row_sum<T>(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        return keep_lanes<T>(load(scratch + i) - splat(largest), count);
      });
      mean = mean / static_cast<T>(n);
    }
    const T log_sum = log(exponentials(n, scratch, largest));
    if (label_smooth == 0) return log_sum - at_label;
    const T smooth = static_cast<T>(label_smooth), rest = static_cast<T>(1 - label_smooth);
    return (log_sum - smooth * mean) - rest * at_label;
  }

  FERRULE_INLINE void gradient(int64_t row, T g, T* out) const {
    using Bits = typename LaneTraits<T>::Bits;
    const T scale = T(1) / exponentials(n, scratch, maximum(row));
    const Vec<Bits> label = splat(static_cast<Bits>(labels[row]));
    const T off = label_smooth == 0 ? T(0) : static_cast<T>(label_smooth) / static_cast<T>(n);
    const T on = label_smooth == 0 ? T(1) : static_cast<T>(1 - label_smooth) + off;
    for_chunks(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
      const Vec<Bits> index = lane_index<T>() + splat(static_cast<Bits>(i));
      const Vec<T> target = select(index == label, splat(on), splat(off));
      store_first(out + row * n + i, (load(scratch + i) * splat(scale) - target) * splat(g), count);
    });
  }
};

template <typename T>
FERRULE_INLINE int32_t cross_entropy_rows(const CrossEntropy<T>& rule, T* loss, int64_t rows, int64_t tile_rows,
                                          int64_t tile_begin, int64_t tile_end, FerruleKernelError* error) {
  int32_t result = kFerruleKernelOk;
  for_tile_rows(rows, tile_rows, tile_begin, tile_end, [&](int64_t row) __attribute__((always_inline)) {
    if (rule.ignored(row)) {
      loss[row] = 0;
    } else if (rule.in_range(row)) {
      loss[row] = rule.loss(row);
    } else {
      loss[row] = static_cast<T>(__builtin_nan(""));
      if (result == kFerruleKernelOk && error) {
        *error = FerruleKernelError{kFerruleKernelIndexOutOfRange, row, rule.labels[row], rule.n};
      }
      result = kFerruleKernelIndexOutOfRange;
    }
  });
  return result;
}

template <typename T>
FERRULE_INLINE void cross_entropy_rows_gradient(const CrossEntropy<T>& rule, const T* g, T* out, int64_t rows,
                                                int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  for_tile_rows(rows, tile_rows, tile_begin, tile_end, [&](int64_t row) __attribute__((always_inline)) {
    if (!rule.ignored(row) && rule.in_range(row)) {
      rule.gradient(row, g[row], out);
    } else {
      for_chunks(rule.n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
        store_first(out + row * rule.n + i, Vec<T>{}, count);
      });
    }
  });
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_SOFTMAX(name, LOG, S, T)                                                                            \
  FERRULE_DEFINE(void, ferrule_##name##_##S)                                                                        \
  (void* ctx, FerruleLoad load, FerruleStore store, int64_t rows, int64_t n, int64_t tile_rows, int64_t tile_begin, \
   int64_t tile_end, void* scratch) {                                                                               \
    using namespace ferrule::kernels;                                                                               \
    for_tile_rows(rows, tile_rows, tile_begin, tile_end, [&](int64_t row) __attribute__((always_inline)) {          \
      softmax_row<T, LOG>(ctx, load, store, row, n, static_cast<T*>(scratch));                                      \
    });                                                                                                             \
  }
FERRULE_SOFTMAX(softmax, false, f32, float)
FERRULE_SOFTMAX(softmax, false, f64, double)
FERRULE_SOFTMAX(log_softmax, true, f32, float)
FERRULE_SOFTMAX(log_softmax, true, f64, double)

#define FERRULE_CROSS_ENTROPY(S, T)                                                                                 \
  FERRULE_DEFINE(int32_t, ferrule_cross_entropy_rows_##S)                                                           \
  (const T* logits, const int32_t* labels, T* loss, int64_t rows, int64_t n, int64_t has_ignore,                    \
   int64_t ignore_index, double label_smooth, int64_t tile_rows, int64_t tile_begin, int64_t tile_end,              \
   void* scratch, FerruleKernelError* error) {                                                                      \
    using namespace ferrule::kernels;                                                                               \
    const CrossEntropy<T> rule{logits,       labels,       n,                                                       \
                               has_ignore,   ignore_index, label_smooth,                                            \
                               static_cast<T*>(scratch)};                                                           \
    return cross_entropy_rows(rule, loss, rows, tile_rows, tile_begin, tile_end, error);                            \
  }                                                                                                                 \
  FERRULE_DEFINE(void, ferrule_cross_entropy_rows_gradient_##S)                                                     \
  (const T* logits, const int32_t* labels, const T* g, T* out, int64_t rows, int64_t n, int64_t has_ignore,         \
   int64_t ignore_index, double label_smooth, int64_t tile_rows, int64_t tile_begin, int64_t tile_end,              \
   void* scratch) {                                                                                                 \
    using namespace ferrule::kernels;                                                                               \
    const CrossEntropy<T> rule{logits,       labels,       n,                                                       \
                               has_ignore,   ignore_index, label_smooth,                                            \
                               static_cast<T*>(scratch)};                                                           \
    cross_entropy_rows_gradient(rule, g, out, rows, tile_rows, tile_begin, tile_end);                               \
  }
FERRULE_CROSS_ENTROPY(f32, float)
FERRULE_CROSS_ENTROPY(f64, double)
