// The large allocations of a session: arenas, scratch and variables.
//
// A block is owned, aligned for every vector width and a multiple of 64 bytes long, so that a kernel's full vector at
// the end of a buffer stays inside it. Contents start uninitialised.
#ifndef FERRULE_RUNTIME_MEMORY_MEMORY_BLOCK_H_
#define FERRULE_RUNTIME_MEMORY_MEMORY_BLOCK_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/base/arithmetic.h"

namespace ferrule::runtime {

inline constexpr uint64_t kBlockAlignment = 64;

class MemoryBlock {
 public:
  // `alignment`: a power of two; at least kBlockAlignment is used. `what` names the block in an error.
  Status allocate(const Allocator& allocator, uint64_t byte_size, const char* what,
                  uint64_t alignment = kBlockAlignment) {
    if (alignment < kBlockAlignment) alignment = kBlockAlignment;
    uint64_t rounded;
    if (!checked_align(byte_size, alignment, &rounded) || rounded > SIZE_MAX)
      return Status::error(StatusCode::kOutOfMemory, "out of memory: %s needs %llu bytes", what,
                           static_cast<unsigned long long>(byte_size));
    return bytes_.allocate(allocator, static_cast<size_t>(rounded), what, static_cast<size_t>(alignment));
  }

  uint8_t* data() { return bytes_.data(); }
  const uint8_t* data() const { return bytes_.data(); }
  uint64_t byte_size() const { return bytes_.size(); }

 private:
  Array<uint8_t> bytes_;
};

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_MEMORY_MEMORY_BLOCK_H_
