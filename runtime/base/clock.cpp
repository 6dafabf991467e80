#include "runtime/base/clock.h"

#include <time.h>

namespace ferrule::runtime {

uint64_t monotonic_ns(void*) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000u + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace ferrule::runtime
