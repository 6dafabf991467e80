// Which elements of a mask are set: the definition.
#ifndef FERRULE_KERNELS_NONZERO_REFERENCE_H_
#define FERRULE_KERNELS_NONZERO_REFERENCE_H_

#include <cstdint>

namespace ferrule::kernels {

// indices: n elements, the numbers of the set elements ascending, then zeros. Returns how many are set.
int64_t reference_nonzero(const uint8_t* mask, int64_t n, int32_t* indices);

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_NONZERO_REFERENCE_H_
