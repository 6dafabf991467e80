// `ferrule-run run --check-memory`: proves on one call that an entry uses its memory as planned.
#ifndef FERRULE_RUNTIME_TOOLS_CHECK_MEMORY_H_
#define FERRULE_RUNTIME_TOOLS_CHECK_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/api/ferrule.hpp"

namespace ferrule::tools {

struct MemoryReport {
  uint64_t planned_bytes = 0;  // of the arena, by the entry: for the largest sizes that its dims allow
  uint64_t used_bytes = 0;     // up to the highest byte that a kernel wrote, rounded up to 64
  uint64_t instruction_count = 0;
};

// Runs the entry `repeat` times in two sessions of `options`: one whose free memory is zero, and one whose memory lies
// between pages that fault, whose free bytes are NaN, and in which nothing but an instruction's outputs may change
// (runtime/check/memory_check.h). Outputs and assigned variables must have the same bits. `checkpoint` may be empty.
// Returns "" or what is wrong. A kernel that touches a guard page ends the process with exit code 1 and a sentence.
std::string check_memory(const Program& program, uint32_t entry, const std::vector<TensorView>& inputs,
                         Session::Options options, const std::string& checkpoint, uint64_t repeat,
                         MemoryReport* out_report);

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_CHECK_MEMORY_H_
