// Reading and writing at indexed places, one element at a time: the definition of the bits. kernels.inc says what the
// shapes are. Each returns the row-major number of the first index that lies outside its axis, or -1; what an index
// outside names is read as zero and not written.
#ifndef FERRULE_KERNELS_GATHER_REFERENCE_H_
#define FERRULE_KERNELS_GATHER_REFERENCE_H_

#include <cstdint>
#include <vector>

namespace ferrule::kernels {

// Vectors of indices into the axes `sizes` of x [outer, sizes.., inner]; there are m of them.
struct VectorShape {
  int64_t outer, m, inner;
  std::vector<int64_t> sizes;
};

// One index an element: x is [outer, n, inner], indices [outer, m, inner].
struct GatherShape {
  int64_t outer, n, m, inner;
};

struct SliceAxis {
  int64_t size, start, step, count;
};

template <typename T, typename Index>
int64_t reference_take(const T* x, const Index* indices, const VectorShape& shape, T* y);
template <typename T, typename Index>
int64_t reference_put(const T* x, const Index* indices, const T* v, const VectorShape& shape, bool add, T* y);
template <typename T, typename Index>
int64_t reference_gather(const T* x, const Index* indices, const GatherShape& shape, T* y);
template <typename T, typename Index>
int64_t reference_scatter(const T* x, const Index* indices, const T* v, const GatherShape& shape, bool add, T* y);

// x and y have the axes' sizes, v their counts.
template <typename T>
void reference_update_slice(const T* x, const T* v, const std::vector<SliceAxis>& axes, T* y);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_GATHER_REFERENCE_H_
