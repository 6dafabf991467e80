// Proves, run by run, that a session uses its memory as the plan says. Not part of the core library: it allocates, and
// costs a pass over the arena for each instruction.
//
// - Before a run the whole arena is filled with a pattern that is a NaN in every floating-point type (a signalling one
//   in float64) and a large index as an integer. So are the bytes of each buffer once it is no longer live. What reads
//   them makes results that differ from those of an ordinary run, which the caller compares.
// - After each kernel call and copy everything but its outputs, as long as they are in this call, must have the bytes
//   that it had before: the rest of the arena, and every variable that the entry assigns.
// Pages behind the arena that fault (guarded_allocator.h) catch what is written or read beyond its end.
#ifndef FERRULE_RUNTIME_CHECK_MEMORY_CHECK_H_
#define FERRULE_RUNTIME_CHECK_MEMORY_CHECK_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/executor/session.h"

namespace ferrule::runtime {

class MemoryCheck {
 public:
  static constexpr uint32_t kFreePattern = 0x7ff47ff4;

  // Checks every run of `session`, which must outlive it, from now on. A run that breaks the plan ends with
  // kInternal and a sentence that names the entry, the kernel, the user's line, and whose bytes changed.
  explicit MemoryCheck(Session& session);
  ~MemoryCheck() { session_.set_watch(nullptr); }
  MemoryCheck(const MemoryCheck&) = delete;
  MemoryCheck& operator=(const MemoryCheck&) = delete;

  // Of the arena, up to the highest byte that a kernel has written in any run, rounded up to 64.
  uint64_t used_bytes() const { return (used_ + 63) / 64 * 64; }
  uint64_t instruction_count() const { return instruction_count_; }
  // What runs just now, e.g. "entry 'predict', kernel 'relu.3' at net.py:12". Its address stays, for a signal handler.
  const char* current() const { return current_; }

 private:
  // Memory that only planned outputs may change, and what it holds.
  struct Region {
    uint8_t* begin;
    std::vector<uint8_t> copy;
    std::string name;
  };
  // Positions in a region.
  using Range = std::pair<uint64_t, uint64_t>;

  bool begin_run(uint32_t entry);
  bool check_writes(const schema::InstructionNode& node, Status* out_status);
  std::vector<Range> allowed_ranges(const schema::InstructionNode& node, const Region& region) const;
  bool find_change(const Region& region, const std::vector<Range>& allowed, uint64_t* out_position) const;
  void accept(Region& region, const std::vector<Range>& allowed);
  Status violation(const Region& region, uint64_t position, const std::vector<Range>& allowed) const;
  std::string owner(uint64_t position) const;
  void release_buffers(uint32_t block, uint32_t position);
  void fill(uint64_t begin, uint64_t end);
  bool is_live(const schema::Buffer& buffer) const;
  // What buffer number `buffer` has of the arena.
  Range arena_range(uint32_t buffer) const;
  const schema::InstructionNode& instruction(uint32_t block, uint32_t position) const {
    return *entry_->blocks()->Get(block)->instructions()->Get(position);
  }
  void describe(const schema::InstructionNode& node);

  Session& session_;
  Watch watch_{};
  const schema::Entry* entry_ = nullptr;
  std::vector<Region> regions_;  // the arena first
  std::vector<std::pair<uint32_t, uint32_t>> path_;  // block and position of what runs, the outermost first
  uint64_t used_ = 0, instruction_count_ = 0;
  char current_[512] = "no entry";
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_CHECK_MEMORY_CHECK_H_
