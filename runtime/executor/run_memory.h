// What a run needs and leaves nothing in: arenas and scratch. A session has its own, or shares one with sessions that
// run in turn; then it is as large as the largest of them needs.
#ifndef FERRULE_RUNTIME_EXECUTOR_RUN_MEMORY_H_
#define FERRULE_RUNTIME_EXECUTOR_RUN_MEMORY_H_

#include <stdint.h>

#include <atomic>

#include "runtime/memory/memory_block.h"

namespace ferrule::runtime {

class RunMemory {
 public:
  // Empty, with one reference. `allocator` must outlive it.
  static Status create(const Allocator& allocator, RunMemory** out_memory);
  void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
  // The last one frees it.
  void release();

  // Makes it at least that large; it never shrinks. On failure it stays as it was: kOutOfMemory, or
  // kFailedPrecondition while a run is in progress. Both blocks exist while a larger one replaces a smaller one.
  Status reserve(uint64_t arena_bytes, uint64_t arena_alignment, uint64_t scratch_bytes);

  // False while another run is in progress: this one must not begin.
  bool begin_run() { return !in_use_.exchange(true, std::memory_order_acquire); }
  void end_run() { in_use_.store(false, std::memory_order_release); }

  uint8_t* arena() { return arena_.data(); }
  uint8_t* scratch() { return scratch_.data(); }
  uint64_t arena_byte_size() const { return arena_.byte_size(); }
  uint64_t scratch_byte_size() const { return scratch_.byte_size(); }

 private:
  explicit RunMemory(const Allocator& allocator) : allocator_(allocator) {}
  ~RunMemory() = default;
  Status grow(MemoryBlock& block, uint64_t byte_size, const char* what, uint64_t alignment);

  const Allocator allocator_;
  std::atomic<uint32_t> references_{1};
  std::atomic<bool> in_use_{false};
  MemoryBlock arena_, scratch_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_RUN_MEMORY_H_
