#ifndef FERRULE_RUNTIME_EXAMPLES_BARE_METAL_STATIC_MEMORY_H_
#define FERRULE_RUNTIME_EXAMPLES_BARE_METAL_STATIC_MEMORY_H_

#include <stddef.h>

/* Bytes that have been handed out, padding included. */
size_t static_memory_used(void);

#endif /* FERRULE_RUNTIME_EXAMPLES_BARE_METAL_STATIC_MEMORY_H_ */
