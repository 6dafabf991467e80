// What kernels that follow index tensors share: reading an index, checking it, and moving runs of elements.
#ifndef FERRULE_KERNELS_GATHER_INDEX_H_
#define FERRULE_KERNELS_GATHER_INDEX_H_

#include "kernels/base/define.h"
#include "kernels/base/kernel_args.h"
#include "kernels/base/vector.h"

namespace ferrule::kernels {

// An index tensor of int32 or int64, and where its errors go.
class Indices {
 public:
  FERRULE_INLINE Indices(const void* data, int64_t bytes, FerruleKernelError* error)
      : data_(data), bytes_(bytes), error_(error) {}

  // Element `at` as a position below `size`, or -1 if it lies outside; then it is recorded.
  FERRULE_INLINE int64_t resolve(int64_t at, int64_t size) {
    const int64_t raw = bytes_ == 4 ? static_cast<const int32_t*>(data_)[at] : static_cast<const int64_t*>(data_)[at];
    const int64_t position = raw < 0 ? raw + size : raw;
    if (static_cast<uint64_t>(position) < static_cast<uint64_t>(size)) return position;
    if (error_ && (result_ == kFerruleKernelOk || at < error_->position)) {
      *error_ = FerruleKernelError{kFerruleKernelIndexOutOfAxis, at, raw, size};
    }
    result_ = kFerruleKernelIndexOutOfAxis;
    return -1;
  }

  // Vector j of `count` indices as a row-major position in a tensor of the sizes `table`, or -1.
  FERRULE_INLINE int64_t resolve_vector(int64_t j, int64_t count, const int64_t* table) {
    int64_t position = 0;
    bool inside = true;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t part = resolve(j * count + k, table[k]);
      inside = inside && part >= 0;
      position = position * table[k] + part;
    }
    return inside ? position : -1;
  }

  FERRULE_INLINE int32_t result() const { return result_; }

 private:
  const void* data_;
  int64_t bytes_;
  FerruleKernelError* error_;
  int32_t result_ = kFerruleKernelOk;
};

// Copies `count` elements; the regions do not overlap.
template <typename T>
FERRULE_INLINE void copy_elements(T* to, const T* from, int64_t count) {
  constexpr int64_t kStep = 64 / sizeof(T);
  int64_t i = 0;
  for (; i + kStep <= count; i += kStep) __builtin_memcpy(to + i, from + i, 64);
  for (; i < count; ++i) to[i] = from[i];
}

template <typename T>
FERRULE_INLINE void clear_elements(T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = T(0);
}

template <typename T>
FERRULE_INLINE void add_elements(T* to, const T* from, int64_t count) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, load(to + i) + load(from + i));
  for (; i < count; ++i) to[i] = to[i] + from[i];
}

constexpr int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_GATHER_INDEX_H_
