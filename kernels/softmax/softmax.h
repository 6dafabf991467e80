// One row of softmax, shared by softmax, log-softmax and cross entropy.
#ifndef FERRULE_KERNELS_SOFTMAX_SOFTMAX_H_
#define FERRULE_KERNELS_SOFTMAX_SOFTMAX_H_

#include "kernels/elementwise/exponential.h"
#include "kernels/elementwise/logarithm.h"
#include "kernels/reduce/reduce.h"

namespace ferrule::kernels {

// Calls chunk(i, count) for the 16-element chunks of a row; only the last may be shorter.
template <typename Chunk>
FERRULE_INLINE void for_chunks(int64_t n, Chunk chunk) {
  const int64_t whole = n - n % kLanes;
#pragma clang loop unroll(disable)
  for (int64_t i = 0; i < whole; i += kLanes) chunk(i, int64_t{kLanes});
  if (n % kLanes != 0) chunk(whole, n % kLanes);
}

// The largest element of a row, NaN if there is one; copies the row to `scratch`. get(i, count) gives a vector.
template <typename T, typename Get>
FERRULE_INLINE T row_maximum(int64_t n, T* scratch, Get get) {
  using Max = Extremum<T, true>;
  Max lanes;
  lanes.clear();
  for_chunks(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    const Vec<T> x[1] = {get(i, count)};
    store(scratch + i, x[0]);
    lanes.add(x, lanes_below<T>(count));
  });
  return fold_lanes<T>(lanes.value[0], [](auto a, auto b) { return Max::combine(a, b); });
}

// The sum of term(i, count) over a row by rule (c); lanes beyond count must be +0.
template <typename T, typename Term>
FERRULE_INLINE T row_sum(int64_t n, Term term) {
  T total = 0;
  for (int64_t block = 0; block < n; block += kReductionBlock) {
    const int64_t length = n - block < kReductionBlock ? n - block : kReductionBlock;
    Vec<T> lanes{};
    for_chunks(length, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
      lanes = lanes + term(block + i, count);
    });
    total = total + fold_lanes<T>(lanes, [](auto a, auto b) { return a + b; });
  }
  return total;
}

template <typename T>
FERRULE_INLINE Vec<T> keep_lanes(Vec<T> x, int64_t count) {
  return count == kLanes ? x : select(lanes_below<T>(count), x, Vec<T>{});
}

// scratch[i] = exp(scratch[i] - maximum); gives their sum.
template <typename T>
FERRULE_INLINE T exponentials(int64_t n, T* scratch, T maximum) {
  return row_sum<T>(n, [&](int64_t i, int64_t count) __attribute__((always_inline)) {
    const Vec<T> e = keep_lanes<T>(exp(load(scratch + i) - splat(maximum)), count);
    store(scratch + i, e);
    return e;
  });
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_SOFTMAX_SOFTMAX_H_
