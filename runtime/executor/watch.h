// Somebody who looks at a session's memory while it runs: the check of memory does.
#ifndef FERRULE_RUNTIME_EXECUTOR_WATCH_H_
#define FERRULE_RUNTIME_EXECUTOR_WATCH_H_

#include <stdint.h>

#include "runtime/base/status.h"

namespace ferrule::runtime {

// Each function returns whether the run goes on; if not, *out_status says why. They are called on the thread that runs
// the entry, while no kernel runs. The status is an argument because these calls lie between functions that call one
// another for blocks in blocks, whose frames are small.
struct Watch {
  void* context;
  // The inputs are bound and checked; nothing has run.
  bool (*begin)(void* context, uint32_t entry, Status* out_status);
  // Around instruction `position` of `block`, branches and loops as well.
  bool (*before)(void* context, uint32_t block, uint32_t position, Status* out_status);
  bool (*after)(void* context, uint32_t block, uint32_t position, Status* out_status);
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_WATCH_H_
