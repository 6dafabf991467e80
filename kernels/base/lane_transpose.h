// Rows and lanes of a block of 16 x 16 elements exchanged, in registers.
#ifndef FERRULE_KERNELS_BASE_LANE_TRANSPOSE_H_
#define FERRULE_KERNELS_BASE_LANE_TRANSPOSE_H_

#include "kernels/base/vector.h"

namespace ferrule::kernels {

// One of the four steps: rows i and i + DISTANCE exchange the lanes whose number has the bit DISTANCE set in one of them
// and clear in the other. V: a vector of 16 elements of any type.
template <int DISTANCE, typename V>
FERRULE_INLINE void exchange_lanes(V (&rows)[kLanes]) {
#define FERRULE_LOW(L) ((L)&DISTANCE ? 16 + ((L) ^ DISTANCE) : (L))
#define FERRULE_HIGH(L) ((L)&DISTANCE ? 16 + (L) : ((L) | DISTANCE))
#define FERRULE_LANES(M) \
  M(0), M(1), M(2), M(3), M(4), M(5), M(6), M(7), M(8), M(9), M(10), M(11), M(12), M(13), M(14), M(15)
#pragma unroll
  for (int i = 0; i < kLanes; ++i) {
    if (i & DISTANCE) continue;
    const V a = rows[i], b = rows[i + DISTANCE];
    rows[i] = __builtin_shufflevector(a, b, FERRULE_LANES(FERRULE_LOW));
    rows[i + DISTANCE] = __builtin_shufflevector(a, b, FERRULE_LANES(FERRULE_HIGH));
  }
#undef FERRULE_LANES
#undef FERRULE_HIGH
#undef FERRULE_LOW
}

template <typename V>
FERRULE_INLINE void transpose_lanes(V (&rows)[kLanes]) {
  exchange_lanes<8>(rows);
  exchange_lanes<4>(rows);
  exchange_lanes<2>(rows);
  exchange_lanes<1>(rows);
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_LANE_TRANSPOSE_H_
