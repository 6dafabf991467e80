#include "runtime/check/guarded_allocator.h"

#include <sys/mman.h>
#include <unistd.h>

namespace ferrule::runtime {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// A guard page, the block's pages with the block at their end, a guard page.
void* guarded_allocate(void*, size_t byte_size, size_t alignment) {
  const size_t page = page_bytes();
  if (byte_size == 0 || alignment > page || byte_size > SIZE_MAX / 2) return nullptr;
  const size_t room = round_up(byte_size, page);
  void* memory = mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  uint8_t* first = static_cast<uint8_t*>(memory) + page;
  if (mprotect(first, room, PROT_READ | PROT_WRITE) != 0) {
    munmap(memory, room + 2 * page);
    return nullptr;
  }
  return first + room - round_up(byte_size, alignment);
}

void guarded_deallocate(void*, void* pointer, size_t byte_size) {
  const size_t page = page_bytes(), room = round_up(byte_size, page);
  const uint64_t end = round_up(reinterpret_cast<uint64_t>(pointer) + byte_size, page);
  munmap(reinterpret_cast<void*>(end - room - page), room + 2 * page);
}

constexpr Allocator kGuardedAllocator = {guarded_allocate, guarded_deallocate, nullptr};

}  // namespace

const Allocator& guarded_allocator() { return kGuardedAllocator; }

}  // namespace ferrule::runtime
