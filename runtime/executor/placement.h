// Where the arena buffers of an entry lie, where that is no longer what the artifact says because the session has grown.
#ifndef FERRULE_RUNTIME_EXECUTOR_PLACEMENT_H_
#define FERRULE_RUNTIME_EXECUTOR_PLACEMENT_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/program/call.h"

namespace ferrule::runtime {

// Both tables have one element a buffer, of which those of arena buffers count. Null: what the artifact says.
struct Placement {
  const uint64_t* offsets = nullptr;     // into the session's memory
  const uint64_t* capacities = nullptr;  // bytes
};

// What a session asks when a call does not fit its memory.
struct Grower {
  // Makes memory for the call, and sets *placement to where the entry's buffers lie now. If it cannot, nothing has
  // changed, and the status says why: `refusal`, or what was missing.
  Status (*grow)(Grower* grower, uint32_t entry, const Shape* inputs, const CallValues& call, const Status& refusal,
                 Placement* placement);
  const Placement* placements;  // one an entry
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_PLACEMENT_H_
