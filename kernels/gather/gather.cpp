// take and gather: elements read at places that indices name.
#include "kernels/gather/index.h"

namespace ferrule::kernels {
namespace {

constexpr int64_t product(const int64_t* table, int64_t count) {
  int64_t total = 1;
  for (int64_t k = 0; k < count; ++k) total *= table[k];
  return total;
}

template <typename T>
FERRULE_INLINE int32_t take(T* y, const T* x, Indices indices, int64_t outer, int64_t m, int64_t inner, int64_t count,
                            int64_t tile_rows, const int64_t* table, int64_t tile_begin, int64_t tile_end) {
  const int64_t positions = product(table, count), end = smaller_of(tile_end * tile_rows, outer * m);
  for (int64_t row = tile_begin * tile_rows; row < end; ++row) {
    const int64_t o = row / m, position = indices.resolve_vector(row % m, count, table);
    if (position >= 0) {
      copy_elements(y + row * inner, x + (o * positions + position) * inner, inner);
    } else {
      clear_elements(y + row * inner, inner);
    }
  }
  return indices.result();
}

template <typename T>
FERRULE_INLINE int32_t panel_take(T* y, const T* panels, Indices indices, int64_t m, int64_t n, int64_t k,
                                  bool columns, int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  const int64_t length = columns ? k : n, end = smaller_of(tile_end * tile_rows, m);
  for (int64_t row = tile_begin * tile_rows; row < end; ++row) {
    const int64_t position = indices.resolve(row, columns ? n : k);
    T* to = y + row * length;
    if (position < 0) {
      clear_elements(to, length);
    } else if (columns) {
      const T* from = panels + position / kLanes * k * kLanes + position % kLanes;
      for (int64_t i = 0; i < k; ++i) to[i] = from[i * kLanes];
    } else {
      const T* from = panels + position * kLanes;
      for (int64_t i = 0; i < n; i += kLanes, from += k * kLanes) copy_elements(to + i, from, smaller_of(kLanes, n - i));
    }
  }
  return indices.result();
}

template <typename T>
FERRULE_INLINE int32_t gather(T* y, const T* x, Indices indices, int64_t outer, int64_t n, int64_t m, int64_t inner,
                              int64_t tile_rows, int64_t tile_begin, int64_t tile_end) {
  const int64_t end = smaller_of(tile_end * tile_rows, outer * m);
  for (int64_t row = tile_begin * tile_rows; row < end; ++row) {
    const T* from = x + row / m * n * inner;
    for (int64_t c = 0; c < inner; ++c) {
      const int64_t position = indices.resolve(row * inner + c, n);
      y[row * inner + c] = position >= 0 ? from[position * inner + c] : T(0);
    }
  }
  return indices.result();
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_GATHER(B, T)                                                                                         \
  FERRULE_DEFINE(int32_t, ferrule_take_##B)                                                                          \
  (T * y, const T* x, const void* indices, int64_t outer, int64_t m, int64_t inner, int64_t count,                   \
   int64_t index_bytes, int64_t tile_rows, const int64_t* table, int64_t tile_begin, int64_t tile_end,               \
   FerruleKernelError* error) {                                                                                      \
    using namespace ferrule::kernels;                                                                                \
    return take(y, x, Indices(indices, index_bytes, error), outer, m, inner, count, tile_rows, table, tile_begin,    \
                tile_end);                                                                                           \
  }                                                                                                                  \
  FERRULE_DEFINE(int32_t, ferrule_panel_take_##B)                                                                    \
  (T * y, const T* panels, const void* indices, int64_t m, int64_t n, int64_t k, int64_t columns,                    \
   int64_t index_bytes, int64_t tile_rows, int64_t tile_begin, int64_t tile_end, FerruleKernelError* error) {        \
    using namespace ferrule::kernels;                                                                                \
    return panel_take(y, panels, Indices(indices, index_bytes, error), m, n, k, columns != 0, tile_rows, tile_begin, \
                      tile_end);                                                                                     \
  }                                                                                                                  \
  FERRULE_DEFINE(int32_t, ferrule_gather_##B)                                                                        \
  (T * y, const T* x, const void* indices, int64_t outer, int64_t n, int64_t m, int64_t inner, int64_t index_bytes,  \
   int64_t tile_rows, int64_t tile_begin, int64_t tile_end, FerruleKernelError* error) {                             \
    using namespace ferrule::kernels;                                                                                \
    return gather(y, x, Indices(indices, index_bytes, error), outer, n, m, inner, tile_rows, tile_begin, tile_end);  \
  }
FERRULE_GATHER(b1, uint8_t)
FERRULE_GATHER(b2, uint16_t)
FERRULE_GATHER(b4, uint32_t)
FERRULE_GATHER(b8, uint64_t)
