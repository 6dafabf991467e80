// Which elements of a mask are set, by a scan that never branches on one.
#include "kernels/base/define.h"

// Every number is stored, at the place of the next one that counts: no place is behind the element itself, so all lie
// below n, and a number that does not count is written over.
FERRULE_DEFINE(void, ferrule_nonzero)
(int32_t* indices, int64_t* count, const uint8_t* mask, int64_t n, int64_t tile_begin, int64_t tile_end) {
  if (tile_begin == tile_end) return;
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    indices[found] = static_cast<int32_t>(i);
    found += mask[i] != 0;
  }
  for (int64_t i = found; i < n; ++i) indices[i] = 0;
  *count = found;
}
