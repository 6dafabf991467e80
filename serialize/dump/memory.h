// What happens in an entry's arena, worked out from its plan: when each buffer is live, what kind of value it holds,
// and how many bytes are live at each moment. The text and JSON dumps and `ferrule view memory` show these facts.
#ifndef FERRULE_SERIALIZE_DUMP_MEMORY_H_
#define FERRULE_SERIALIZE_DUMP_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/writer/program_description.h"

namespace ferrule::serialize {

const char* buffer_kind_name(BufferKind kind);

// An instruction, those of the blocks below it behind it: times number these from 0.
struct TimelineStep {
  const InstructionDescription* instruction = nullptr;
  uint32_t block = 0;
  uint32_t end = 0;  // behind its own time and all below it
};

struct BufferMemory {
  // Of arena buffers: what the artifact says. Where it does not, by who reads whom: an instruction belongs to the backward
  // pass if what it makes reaches parameters or optimizer state but no output and no other variable, or if it depends on
  // a kernel that is named a gradient; what depends on no input is workspace.
  BufferKind kind = BufferKind::kUnspecified;
  uint32_t first = 0, last = 0;  // times, both included
  uint32_t maker = 0;            // the time of the instruction that first writes it; `first` if none does
};

struct EntryMemory {
  std::vector<TimelineStep> timeline;
  std::vector<BufferMemory> buffers;  // one a buffer of the entry
  // By time: bytes of the arena's live buffers, each rounded up to 64; those that share bytes on purpose count once.
  std::vector<uint64_t> live_bytes;
  uint32_t fullest = 0;  // the first time at which live_bytes is largest
};

// O(steps * operands), repeated where loops carry values. Indices that lead nowhere, as an artifact that the runtime
// would refuse may hold, are passed over.
EntryMemory describe_memory(const ProgramDescription& program, const EntryDescription& entry);

// What the instruction is called: the kernel's name, or its kind.
std::string step_name(const ProgramDescription& program, const TimelineStep& step);
// The user's line, or "".
std::string step_location(const ProgramDescription& program, const TimelineStep& step);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_DUMP_MEMORY_H_
