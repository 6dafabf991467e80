// Tells a process from the children that it forks. Threads, and locks that they hold, stay behind in a fork.
#ifndef FERRULE_RUNTIME_BASE_FORK_H_
#define FERRULE_RUNTIME_BASE_FORK_H_

#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

// From now on fork_count() counts; idempotent, from any thread. kOutOfMemory when the system has none for the handler.
Status watch_forks();

// How many forks lie between the process that called watch_forks() first and this one. Costs a load, where getpid()
// would be a system call a run.
uint32_t fork_count();

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_BASE_FORK_H_
