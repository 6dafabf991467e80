// There is one process.
#include "runtime/base/fork.h"

namespace ferrule::runtime {

Status watch_forks() { return Status(); }
uint32_t fork_count() { return 0; }

}  // namespace ferrule::runtime
