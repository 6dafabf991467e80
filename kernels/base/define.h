// How a family's source defines a skeleton that skeletons.inc declares.
#ifndef FERRULE_KERNELS_BASE_DEFINE_H_
#define FERRULE_KERNELS_BASE_DEFINE_H_

#include "kernels/skeletons.h"

// always_inline: a generated kernel must end without calls. The function is emitted all the same, for the linker.
#define FERRULE_DEFINE(result, name) extern "C" __attribute__((always_inline)) result FERRULE_SYMBOL(name)

// For the instances among which a skeleton chooses by its arguments. While the bitcode is made they stay functions, so
// each is optimised once and alone; the build then turns the attribute into always_inline. A generated kernel, where
// the choice is a constant, takes in the one instance that it needs.
#define FERRULE_LATE_INLINE __attribute__((noinline))

#endif  // FERRULE_KERNELS_BASE_DEFINE_H_
