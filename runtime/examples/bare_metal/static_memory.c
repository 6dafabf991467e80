/* All memory of a product in one array, handed out from the front and never taken back: it opens a program once and runs. In
   place of the C library's functions, since the runtime's small tables come from these, too. */
#include "static_memory.h"

#include <errno.h>

static _Alignas(64) unsigned char memory[256 * 1024];
static size_t used;

static void* take(size_t byte_size, size_t alignment) {
  const size_t begin = (used + alignment - 1) / alignment * alignment;
  if (begin > sizeof(memory) || byte_size > sizeof(memory) - begin) return NULL;
  used = begin + byte_size;
  return memory + begin;
}

void* malloc(size_t byte_size) { return take(byte_size, 16); }
int posix_memalign(void** out, size_t alignment, size_t byte_size) {
  *out = take(byte_size, alignment);
  return *out == NULL ? ENOMEM : 0;
}
void free(void* pointer) { (void)pointer; }

size_t static_memory_used(void) { return used; }
