#include "kernels/gather/reference.h"

#include <cstddef>

namespace ferrule::kernels {
namespace {

// The position that an index names on an axis of n elements, or -1.
int64_t resolve(int64_t index, int64_t n) {
  const int64_t position = index < 0 ? index + n : index;
  return position >= 0 && position < n ? position : -1;
}

void note_first(int64_t* first, int64_t at) {
  if (*first < 0) *first = at;
}

// Calls visit(j, position) for each vector of indices; position is -1 if one of them lies outside.
template <typename Index, typename Visit>
int64_t for_each_vector(const Index* indices, const VectorShape& shape, Visit visit) {
  const int64_t count = static_cast<int64_t>(shape.sizes.size());
  int64_t first_error = -1;
  for (int64_t j = 0; j < shape.m; ++j) {
    int64_t position = 0;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t part = resolve(indices[j * count + k], shape.sizes[k]);
      if (part < 0) note_first(&first_error, j * count + k);
      position = part < 0 || position < 0 ? -1 : position * shape.sizes[k] + part;
    }
    visit(j, position);
  }
  return first_error;
}

int64_t count_positions(const VectorShape& shape) {
  int64_t positions = 1;
  for (const int64_t size : shape.sizes) positions *= size;
  return positions;
}

}  // namespace

template <typename T, typename Index>
int64_t reference_take(const T* x, const Index* indices, const VectorShape& shape, T* y) {
  const int64_t positions = count_positions(shape);
  return for_each_vector(indices, shape, [&](int64_t j, int64_t position) {
    for (int64_t o = 0; o < shape.outer; ++o) {
      for (int64_t c = 0; c < shape.inner; ++c) {
        y[(o * shape.m + j) * shape.inner + c] =
            position < 0 ? T(0) : x[(o * positions + position) * shape.inner + c];
      }
    }
  });
}

template <typename T, typename Index>
int64_t reference_put(const T* x, const Index* indices, const T* v, const VectorShape& shape, bool add, T* y) {
  const int64_t positions = count_positions(shape);
  for (int64_t i = 0; i < shape.outer * positions * shape.inner; ++i) y[i] = x[i];
  return for_each_vector(indices, shape, [&](int64_t j, int64_t position) {
    for (int64_t o = 0; position >= 0 && o < shape.outer; ++o) {
      for (int64_t c = 0; c < shape.inner; ++c) {
        T& target = y[(o * positions + position) * shape.inner + c];
        const T value = v[(o * shape.m + j) * shape.inner + c];
        target = add ? static_cast<T>(target + value) : value;
      }
    }
  });
}

template <typename T, typename Index>
int64_t reference_gather(const T* x, const Index* indices, const GatherShape& shape, T* y) {
  int64_t first_error = -1;
  for (int64_t at = 0; at < shape.outer * shape.m * shape.inner; ++at) {
    const int64_t o = at / (shape.m * shape.inner), c = at % shape.inner, position = resolve(indices[at], shape.n);
    if (position < 0) note_first(&first_error, at);
    y[at] = position < 0 ? T(0) : x[(o * shape.n + position) * shape.inner + c];
  }
  return first_error;
}

template <typename T, typename Index>
int64_t reference_scatter(const T* x, const Index* indices, const T* v, const GatherShape& shape, bool add, T* y) {
  int64_t first_error = -1;
  for (int64_t i = 0; i < shape.outer * shape.n * shape.inner; ++i) y[i] = x[i];
  for (int64_t at = 0; at < shape.outer * shape.m * shape.inner; ++at) {
    const int64_t o = at / (shape.m * shape.inner), c = at % shape.inner, position = resolve(indices[at], shape.n);
    if (position < 0) {
      note_first(&first_error, at);
      continue;
    }
    T& target = y[(o * shape.n + position) * shape.inner + c];
    target = add ? static_cast<T>(target + v[at]) : v[at];
  }
  return first_error;
}

template <typename T>
void reference_update_slice(const T* x, const T* v, const std::vector<SliceAxis>& axes, T* y) {
  int64_t total = 1, updates = 1;
  for (const SliceAxis& axis : axes) {
    total *= axis.size;
    updates *= axis.count;
  }
  for (int64_t i = 0; i < total; ++i) y[i] = x[i];
  for (int64_t number = 0; number < updates; ++number) {
    int64_t rest = number, target = 0, stride = 1;
    for (std::size_t k = axes.size(); k-- > 0;) {
      target += (axes[k].start + rest % axes[k].count * axes[k].step) * stride;
      rest /= axes[k].count;
      stride *= axes[k].size;
    }
    y[target] = v[number];
  }
}

#define FERRULE_MOVING(T, Index)                                                                                \
  template int64_t reference_take(const T*, const Index*, const VectorShape&, T*);                              \
  template int64_t reference_gather(const T*, const Index*, const GatherShape&, T*);
#define FERRULE_WRITING(T, Index)                                                                               \
  template int64_t reference_put(const T*, const Index*, const T*, const VectorShape&, bool, T*);               \
  template int64_t reference_scatter(const T*, const Index*, const T*, const GatherShape&, bool, T*);
#define FERRULE_BOTH(T)          \
  FERRULE_MOVING(T, int32_t)     \
  FERRULE_MOVING(T, int64_t)     \
  FERRULE_WRITING(T, int32_t)    \
  FERRULE_WRITING(T, int64_t)
FERRULE_BOTH(uint8_t)
FERRULE_BOTH(uint16_t)
FERRULE_BOTH(uint32_t)
FERRULE_BOTH(uint64_t)
FERRULE_WRITING(float, int32_t)
FERRULE_WRITING(float, int64_t)
FERRULE_WRITING(double, int32_t)
FERRULE_WRITING(double, int64_t)
FERRULE_WRITING(int32_t, int32_t)
FERRULE_WRITING(int32_t, int64_t)
FERRULE_WRITING(int64_t, int32_t)
FERRULE_WRITING(int64_t, int64_t)
#undef FERRULE_BOTH
#undef FERRULE_WRITING
#undef FERRULE_MOVING
template void reference_update_slice(const uint8_t*, const uint8_t*, const std::vector<SliceAxis>&, uint8_t*);
template void reference_update_slice(const uint16_t*, const uint16_t*, const std::vector<SliceAxis>&, uint16_t*);
template void reference_update_slice(const uint32_t*, const uint32_t*, const std::vector<SliceAxis>&, uint32_t*);
template void reference_update_slice(const uint64_t*, const uint64_t*, const std::vector<SliceAxis>&, uint64_t*);

}  // namespace ferrule::kernels
