#include "kernels/nonzero/reference.h"

namespace ferrule::kernels {

int64_t reference_nonzero(const uint8_t* mask, int64_t n, int32_t* indices) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) indices[i] = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (mask[i] != 0) indices[count++] = static_cast<int32_t>(i);
  }
  return count;
}

}  // namespace ferrule::kernels
