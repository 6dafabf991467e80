#include "runtime/base/allocator.h"

#include <stdlib.h>

namespace ferrule::runtime {
namespace {

void* system_allocate(void*, size_t byte_size, size_t alignment) {
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
  void* pointer = nullptr;
  return posix_memalign(&pointer, alignment, byte_size) == 0 ? pointer : nullptr;
}

void system_deallocate(void*, void* pointer, size_t) { free(pointer); }

constexpr Allocator kSystemAllocator = {system_allocate, system_deallocate, nullptr};

}  // namespace

const Allocator& system_allocator() { return kSystemAllocator; }

}  // namespace ferrule::runtime
