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

Status allocate_elements(const Allocator& allocator, size_t count, size_t element_bytes, size_t alignment,
                         const char* what, void** out_memory) {
  *out_memory = nullptr;
  if (count == 0) return Status();
  size_t byte_size;
  if (!__builtin_mul_overflow(count, element_bytes, &byte_size))
    *out_memory = allocator.allocate(allocator.context, byte_size, alignment);
  if (*out_memory != nullptr) return Status();
  return Status::error(StatusCode::kOutOfMemory, "out of memory: %s needs %zu elements of %zu bytes", what, count,
                       element_bytes);
}

}  // namespace ferrule::runtime
