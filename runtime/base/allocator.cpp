#include "runtime/base/allocator.h"

#include <stdlib.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace ferrule::runtime {
namespace {

// What is as large as two of the system's huge pages begins at one, and asks for them: an arena of small pages is more
// than a processor keeps addresses of, and each pass over it waits for them. The last part of a page stays small, so no
// more memory is taken than was asked for; a system without huge pages refuses, which does not matter.
constexpr size_t kHugePageBytes = size_t{2} << 20, kLargeBytes = 2 * kHugePageBytes;

void* system_allocate(void*, size_t byte_size, size_t alignment) {
  if (alignment < sizeof(void*)) alignment = sizeof(void*);
#if defined(MADV_HUGEPAGE)
  if (byte_size >= kLargeBytes && alignment < kHugePageBytes) alignment = kHugePageBytes;
#endif
  void* pointer = nullptr;
  if (posix_memalign(&pointer, alignment, byte_size) != 0) return nullptr;
#if defined(MADV_HUGEPAGE)
  if (byte_size >= kLargeBytes) (void)madvise(pointer, byte_size / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
#endif
  return pointer;
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
