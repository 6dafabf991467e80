// update_slice: a tensor with a strided box of it replaced.
#include "kernels/gather/index.h"

namespace ferrule::kernels {
namespace {

// One row of the table.
struct Axis {
  int64_t size, start, step, count;
};

// Which element of the slice stands at position `i` of the axis; -1 if none does.
FERRULE_INLINE int64_t number_in_slice(const Axis& axis, int64_t i) {
  const int64_t distance = axis.step > 0 ? i - axis.start : axis.start - i;
  const int64_t step = axis.step > 0 ? axis.step : -axis.step;
  if (distance < 0 || distance % step != 0 || distance / step >= axis.count) return -1;
  return distance / step;
}

// How many elements of the slice lie on the axis: all of them, but for sizes that a program could not know to be right.
FERRULE_INLINE int64_t count_inside(const Axis& axis) {
  if (axis.start < 0 || axis.start >= axis.size) return 0;
  const int64_t room = axis.step > 0 ? (axis.size - 1 - axis.start) / axis.step : axis.start / -axis.step;
  return smaller_of(axis.count, room + 1);
}

template <typename T>
FERRULE_INLINE void update_slice(T* y, const T* x, const T* v, int64_t rank, int64_t inner, int64_t tile_rows,
                                 const Axis* axes, int64_t tile_begin, int64_t tile_end) {
  const Axis& last = axes[rank - 1];
  int64_t rows = 1;
  for (int64_t k = 0; k < rank - 1; ++k) rows *= axes[k].size;
  const int64_t inside = count_inside(last), row_elements = last.size * inner, end = smaller_of(tile_end * tile_rows, rows);
  for (int64_t row = tile_begin * tile_rows; row < end; ++row) {
    if (y != x) copy_elements(y + row * row_elements, x + row * row_elements, row_elements);
    int64_t source = 0, weight = 1, rest = row;
    for (int64_t k = rank - 1; k-- > 0 && source >= 0;) {
      const int64_t number = number_in_slice(axes[k], rest % axes[k].size);
      rest /= axes[k].size;
      source = number < 0 ? -1 : source + number * weight;
      weight *= axes[k].count;
    }
    if (source < 0) continue;
    const T* from = v + source * last.count * inner;
    T* to = y + (row * last.size + last.start) * inner;
    for (int64_t i = 0; i < inside; ++i) copy_elements(to + i * last.step * inner, from + i * inner, inner);
  }
}

}  // namespace
}  // namespace ferrule::kernels

#define FERRULE_UPDATE_SLICE(B, T)                                                                                   \
  FERRULE_DEFINE(void, ferrule_update_slice_##B)                                                                     \
  (T * y, const T* x, const T* v, int64_t rank, int64_t inner, int64_t tile_rows, const int64_t* table,              \
   int64_t tile_begin, int64_t tile_end) {                                                                           \
    using namespace ferrule::kernels;                                                                                \
    update_slice(y, x, v, rank, inner, tile_rows, reinterpret_cast<const Axis*>(table), tile_begin, tile_end);       \
  }
FERRULE_UPDATE_SLICE(b1, uint8_t)
FERRULE_UPDATE_SLICE(b2, uint16_t)
FERRULE_UPDATE_SLICE(b4, uint32_t)
FERRULE_UPDATE_SLICE(b8, uint64_t)
