#include "runtime/executor/run_memory.h"

#include <new>
#include <utility>

namespace ferrule::runtime {

Status RunMemory::create(const Allocator& allocator, RunMemory** out_memory) {
  void* memory = allocator.allocate(allocator.context, sizeof(RunMemory), alignof(RunMemory));
  if (memory == nullptr) return Status::error(StatusCode::kOutOfMemory, "out of memory: the arena's handle");
  *out_memory = new (memory) RunMemory(allocator);
  return Status();
}

void RunMemory::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  const Allocator allocator = allocator_;
  this->~RunMemory();
  allocator.deallocate(allocator.context, this, sizeof(RunMemory));
}

Status RunMemory::reserve(uint64_t arena_bytes, uint64_t arena_alignment, uint64_t scratch_bytes) {
  if (!begin_run())
    return Status::error(StatusCode::kFailedPrecondition,
                         "the arena is not made larger: another session is running in it");
  Status status = grow(arena_, arena_bytes, "the arena", arena_alignment);
  if (status.ok()) status = grow(scratch_, scratch_bytes, "the scratch of all threads", kBlockAlignment);
  end_run();
  return status;
}

Status RunMemory::grow(MemoryBlock& block, uint64_t byte_size, const char* what, uint64_t alignment) {
  const bool is_aligned = reinterpret_cast<uintptr_t>(block.data()) % alignment == 0;
  if (byte_size <= block.byte_size() && is_aligned) return Status();
  MemoryBlock larger;
  FERRULE_RETURN_IF_ERROR(
      larger.allocate(allocator_, byte_size < block.byte_size() ? block.byte_size() : byte_size, what, alignment));
  block = std::move(larger);
  return Status();
}

}  // namespace ferrule::runtime
