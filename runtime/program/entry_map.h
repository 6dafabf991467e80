// What an entry's blocks mean, worked out once when the program is opened: when each instruction runs, where each dim
// has a value, and what to evaluate and check again when a dim gets one.
//
// Times number the instructions of all blocks as a walk meets them: an instruction, then those of the blocks below it
// in order, then the next of its block. So what lies below an instruction is one span of times, an arena buffer's live
// interval is one too, and two buffers are live together (docs/format.md) exactly when their spans meet. A dim has a
// value in a span of times: everywhere, in a loop's body, or from its BindDim to the end of that block. These spans lie
// in one another or apart, so an expression has a value where the one that begins last does; it is evaluated when that
// dim, its innermost, gets a value.
#ifndef FERRULE_RUNTIME_PROGRAM_ENTRY_MAP_H_
#define FERRULE_RUNTIME_PROGRAM_ENTRY_MAP_H_

#include <stdint.h>

#include <new>

#include "runtime/base/allocator.h"
#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// [begin, end); empty when they are equal or crossed.
struct TimeSpan {
  uint32_t begin, end;
  bool contains(uint32_t time) const { return begin <= time && time < end; }
  bool empty() const { return begin >= end; }
  bool meets(TimeSpan other) const {
    return !empty() && !other.empty() && (contains(other.begin) || other.contains(begin));
  }
};

// Numbers in groups, one group a dim, ascending within each.
class NumbersByDim {
 public:
  struct Group {
    const uint32_t* first;
    const uint32_t* last;
    const uint32_t* begin() const { return first; }
    const uint32_t* end() const { return last; }
  };
  // dim_of(i) for i in [0, count): the group of number i, or EntryMap::kNoDim.
  template <typename DimOf>
  Status build(const Allocator& allocator, uint32_t dim_count, uint32_t count, DimOf dim_of);
  Group of(uint32_t dim) const { return {numbers_.data() + starts_[dim], numbers_.data() + starts_[dim + 1]}; }

 private:
  Array<uint32_t> starts_, numbers_;
};

class EntryMap {
 public:
  static constexpr uint32_t kNoDim = UINT32_MAX;

  // First times and scopes, of an entry whose dims and expressions have been verified by themselves. Refuses blocks
  // that are missing, out of order, owned twice or too deep, dims that nothing or two instructions give a value, and
  // limits that have none. `name` is the artifact's, for errors.
  Status build(const schema::Entry& entry, const char* name, const Allocator& allocator);
  // Then what depends on each dim, when all of the entry has been verified.
  Status finish(const schema::Entry& entry, const Allocator& allocator);

  // Instructions of all blocks are numbered by block, then position.
  uint32_t instruction(uint32_t block, uint32_t position) const { return first_instruction_[block] + position; }
  // Its own time and all below it.
  TimeSpan time(uint32_t instruction) const { return times_[instruction]; }
  // Behind every instruction.
  uint32_t end_time() const { return end_time_; }

  // Where the expression has a value.
  TimeSpan scope(uint32_t expression) const { return scopes_[expression]; }
  // The shapes of a call's inputs give it.
  bool is_static(uint32_t expression) const { return scopes_[expression].begin == 0; }
  // A value before the run begins: is_static, or a dim that block 0 reads stands in for its limit.
  bool known_at_call(uint32_t expression) const {
    return !scopes_[expression].empty() && scopes_[expression].end > end_time_;
  }
  // Whether two calls with the same shapes can give expressions that are known at the call other values.
  bool has_late_dims() const { return has_late_dims_; }
  // Whether check_instruction must be asked each time that the instruction runs, not once a call.
  bool changes(uint32_t instruction) const { return changes_[instruction]; }

  // What has `dim` as innermost dim: empty for dims of inputs.
  NumbersByDim::Group expressions(uint32_t dim) const { return expressions_.of(dim); }
  NumbersByDim::Group buffers(uint32_t dim) const { return buffers_.of(dim); }
  NumbersByDim::Group equalities(uint32_t dim) const { return equalities_.of(dim); }
  NumbersByDim::Group outputs(uint32_t dim) const { return outputs_.of(dim); }

 private:
  friend class EntryMapBuilder;

  bool asks_again(const schema::InstructionNode& node) const;
  // Of two expressions, the one whose scope begins later.
  uint32_t later(uint32_t a, uint32_t b) const { return scopes_[a].begin < scopes_[b].begin ? b : a; }

  uint32_t end_time_ = 0;
  bool has_late_dims_ = false;
  Array<uint32_t> first_instruction_;  // one a block
  Array<TimeSpan> times_;              // one an instruction
  Array<TimeSpan> scopes_;             // one an expression
  Array<uint32_t> innermost_;          // one an expression: the dim that it is evaluated with, or kNoDim
  Array<bool> changes_;                // one an instruction
  NumbersByDim expressions_, buffers_, equalities_, outputs_;
};

// The maps of a program's entries, in order.
class EntryMaps {
 public:
  EntryMaps() = default;
  EntryMaps(const EntryMaps&) = delete;
  EntryMaps& operator=(const EntryMaps&) = delete;
  ~EntryMaps() {
    for (EntryMap& map : maps_) map.~EntryMap();
  }
  Status create(const Allocator& allocator, uint32_t count) {
    FERRULE_RETURN_IF_ERROR(maps_.allocate(allocator, count, "the maps of the entries"));
    for (EntryMap& map : maps_) ::new (static_cast<void*>(&map)) EntryMap();
    return Status();
  }
  EntryMap& operator[](uint32_t entry) { return maps_[entry]; }
  const EntryMap& operator[](uint32_t entry) const { return maps_[entry]; }

 private:
  Array<EntryMap> maps_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_ENTRY_MAP_H_
