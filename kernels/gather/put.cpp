// put and scatter: elements written at places that indices name, the last write winning, or added in ascending order.
//
// Threads split the targets: every tile reads all indices that could name one of its own, and sees their errors.
#include "kernels/gather/index.h"

namespace ferrule::kernels {
namespace {

template <typename T, bool ADD>
FERRULE_INLINE int32_t put(T* y, const T* x, Indices indices, const T* v, int64_t m, int64_t inner, int64_t count,
                           int64_t ranges, const int64_t* table, int64_t tile_begin, int64_t tile_end) {
  int64_t positions = 1;
  for (int64_t k = 0; k < count; ++k) positions *= table[k];
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t o = tile / ranges, range = tile % ranges;
    const int64_t first = positions * range / ranges, last = positions * (range + 1) / ranges;
    T* to = y + o * positions * inner;
    if (y != x) {
      copy_elements(to + first * inner, x + (o * positions + first) * inner, (last - first) * inner);
    }
    for (int64_t j = 0; j < m; ++j) {
      const int64_t position = indices.resolve_vector(j, count, table);
      if (position < first || position >= last) continue;
      const T* from = v + (o * m + j) * inner;
      if constexpr (ADD) {
        add_elements(to + position * inner, from, inner);
      } else {
        copy_elements(to + position * inner, from, inner);
      }
    }
  }
  return indices.result();
}

template <typename T, bool ADD>
FERRULE_INLINE int32_t scatter(T* y, const T* x, Indices indices, const T* v, int64_t n, int64_t m, int64_t inner,
                               int64_t tile_begin, int64_t tile_end) {
  const int64_t chunks = (inner + kLanes - 1) / kLanes;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const int64_t o = tile / chunks, begin = tile % chunks * kLanes, end = smaller_of(begin + kLanes, inner);
    if (y != x) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = (o * n + i) * inner + begin;
        copy_elements(y + at, x + at, end - begin);
      }
    }
    for (int64_t j = 0; j < m; ++j) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t at = (o * m + j) * inner + c, position = indices.resolve(at, n);
        if (position < 0) continue;
        T& target = y[(o * n + position) * inner + c];
        target = ADD ? static_cast<T>(target + v[at]) : v[at];
      }
    }
  }
  return indices.result();
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_WRITING(put_name, scatter_name, ADD, S, T)                                                           \
  FERRULE_DEFINE(int32_t, ferrule_##put_name##_##S)                                                                  \
  (T * y, const T* x, const void* indices, const T* v, int64_t, int64_t m, int64_t inner, int64_t count,             \
   int64_t index_bytes, int64_t ranges, const int64_t* table, int64_t tile_begin, int64_t tile_end,                  \
   FerruleKernelError* error) {                                                                                      \
    using namespace ferrule::kernels;                                                                                \
    return put<T, ADD>(y, x, Indices(indices, index_bytes, error), v, m, inner, count, ranges, table, tile_begin,    \
                       tile_end);                                                                                    \
  }                                                                                                                  \
  FERRULE_DEFINE(int32_t, ferrule_##scatter_name##_##S)                                                              \
  (T * y, const T* x, const void* indices, const T* v, int64_t, int64_t n, int64_t m, int64_t inner,                 \
   int64_t index_bytes, int64_t tile_begin, int64_t tile_end, FerruleKernelError* error) {                           \
    using namespace ferrule::kernels;                                                                                \
    return scatter<T, ADD>(y, x, Indices(indices, index_bytes, error), v, n, m, inner, tile_begin, tile_end);        \
  }
FERRULE_WRITING(put, scatter, false, b1, uint8_t)
FERRULE_WRITING(put, scatter, false, b2, uint16_t)
FERRULE_WRITING(put, scatter, false, b4, uint32_t)
FERRULE_WRITING(put, scatter, false, b8, uint64_t)
FERRULE_WRITING(put_add, scatter_add, true, f32, float)
FERRULE_WRITING(put_add, scatter_add, true, f64, double)
FERRULE_WRITING(put_add, scatter_add, true, i32, int32_t)
FERRULE_WRITING(put_add, scatter_add, true, i64, int64_t)
