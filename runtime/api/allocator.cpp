// The caller's allocator as the runtime's.
#include "runtime/api/handles.h"

namespace ferrule::runtime {
namespace {

void* allocate_from_caller(void* context, size_t byte_size, size_t alignment) {
  const auto* allocator = static_cast<const FerruleAllocator*>(context);
  return allocator->allocate(allocator->context, byte_size, alignment);
}

void return_to_caller(void* context, void* memory, size_t byte_size) {
  const auto* allocator = static_cast<const FerruleAllocator*>(context);
  allocator->release(allocator->context, memory, byte_size);
}

}  // namespace

Status read_allocator(const FerruleAllocator* allocator, Allocator* out_allocator) {
  *out_allocator = system_allocator();
  if (allocator == nullptr) return Status();
  if (allocator->allocate == nullptr || allocator->release == nullptr)
    return invalid_argument("the caller's allocator lacks `allocate` or `release`");
  *out_allocator = {allocate_from_caller, return_to_caller, const_cast<FerruleAllocator*>(allocator)};
  return Status();
}

}  // namespace ferrule::runtime
