// What of an arena leaves memory while an entry runs, so that no more than a number of bytes of it stay there.
//
// The arena is cut into chunks, at most kMaximumChunks of at least kSmallestChunk bytes. Between two instructions of the
// entry's body that use it a chunk is idle, and can be elsewhere. Gaps in which nothing of a chunk is live come first,
// as those bytes need not be written; then the longest, which clear most other moments too; each only if it covers a
// moment at which too much is there. Greedy: with another choice less might have been written. A branch or loop counts as
// one instruction that uses all that its blocks use.
#ifndef FERRULE_RUNTIME_SWAP_PAGING_PLAN_H_
#define FERRULE_RUNTIME_SWAP_PAGING_PLAN_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/program/entry_map.h"

namespace ferrule::runtime {

class PagingPlan {
 public:
  static constexpr uint64_t kSmallestChunk = 64 << 10, kMaximumChunks = 1024;
  static constexpr uint32_t kNever = UINT32_MAX;

  // Bytes [begin, end) of the arena, out of memory from instruction `after` of the body to instruction `before`, or to
  // the end of the run: kNever. `live`: what they hold is read again.
  struct Idle {
    uint64_t begin, end;
    uint32_t after, before;
    bool live;
  };

  // `arena_offsets`: where each of the program's arenas begins in a block of `arena_bytes`. kInvalidArgument if some
  // instruction needs more than `resident_bytes` by itself; the sentence names it, and the smallest that can be.
  Status build(const schema::Entry& entry, const EntryMap& map, const Array<uint64_t>& arena_offsets,
               uint64_t arena_bytes, uint64_t resident_bytes);

  // In the order of `after`.
  const Array<Idle>& idle() const { return idle_; }
  // The most that is in memory at once, in whole chunks.
  uint64_t resident_bytes() const { return resident_bytes_; }

 private:
  Array<Idle> idle_;
  uint64_t resident_bytes_ = 0;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_SWAP_PAGING_PLAN_H_
