// Chooses the order of instructions so that less memory is live at once: it lowers the lower bound that placement
// (planner.h) then meets. Pure bookkeeping over nodes and buffers, without knowledge of what they compute.
#ifndef FERRULE_RUNTIME_MEMORY_PLANNER_SCHEDULE_H_
#define FERRULE_RUNTIME_MEMORY_PLANNER_SCHEDULE_H_

#include <vector>

#include "runtime/memory/planner/interval.h"

namespace ferrule::memory {

struct ScheduleBuffer {
  uint64_t size = 0;    // bytes
  bool pinned = false;  // lives outside the arena (an input, an output, a variable): orders nodes, costs nothing
};

// An instruction. All buffers that it reads or writes are live while it runs. Buffers that share storage on purpose
// are one buffer here; one that is written in place stands in both lists; workspace is written and never read.
struct ScheduleNode {
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
};

// The order of `nodes` is a correct one and fixes what depends on what: of two nodes that touch the same buffer, at
// least one of them writing, the earlier must stay earlier.
struct ScheduleProblem {
  std::vector<ScheduleBuffer> buffers;
  std::vector<ScheduleNode> nodes;
};

struct Schedule {
  std::vector<uint32_t> order;  // order[t] is the node that runs at instruction t
  uint64_t peak = 0;            // bytes: the most that is live at one instruction
  uint64_t original_peak = 0;   // bytes: the same for the order that was given
  // By buffer: from its first to its last instruction in the new order, with the buffer's size and an alignment of 1
  // (the caller's to set). Pinned and unused buffers have size 0.
  std::vector<Interval> intervals;
};

// Every index in `problem` must be below the size of its list. Returns the order with the lowest peak among the given
// one and ten list schedules (five policies, each from the front and from the end); the given one unless another is
// strictly better. Deterministic and heuristic: the optimum on most small graphs, no bound in general. Takes some tens
// of milliseconds for a thousand nodes.
Schedule schedule_for_memory(const ScheduleProblem& problem);

// Every index in `problem` must be below the size of its list. Returns the given order, but what leaves less live than
// it finds, together with small ones that it waits for and a few that it makes ready, runs as soon as it can: little is
// held for its last reader, also where that is far from the peak. The given order stays as it is if the peak would rise
// by more than a thousandth. Deterministic; takes a few milliseconds for a thousand nodes.
Schedule schedule_freeing_early(const ScheduleProblem& problem);

}  // namespace ferrule::memory

#endif  // FERRULE_RUNTIME_MEMORY_PLANNER_SCHEDULE_H_
