// There is no clock: profiles need one of the caller's.
#include "runtime/base/clock.h"

namespace ferrule::runtime {

uint64_t monotonic_ns(void*) { return 0; }

}  // namespace ferrule::runtime
