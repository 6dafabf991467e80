// The time, for profiles.
#ifndef FERRULE_RUNTIME_BASE_CLOCK_H_
#define FERRULE_RUNTIME_BASE_CLOCK_H_

#include <stdint.h>

namespace ferrule::runtime {

// Where times come from; nanoseconds that never go back.
struct Clock {
  void* context;
  uint64_t (*now_ns)(void* context);
};

// The system's; the context is not used.
uint64_t monotonic_ns(void* context);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_BASE_CLOCK_H_
