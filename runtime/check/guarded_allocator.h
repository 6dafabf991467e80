// An allocator for checks: each block lies between pages that fault when they are touched, and ends where the page
// behind it begins. Takes two pages more a block; blocks start out zero.
#ifndef FERRULE_RUNTIME_CHECK_GUARDED_ALLOCATOR_H_
#define FERRULE_RUNTIME_CHECK_GUARDED_ALLOCATOR_H_

#include "runtime/base/allocator.h"

namespace ferrule::runtime {

// A block whose size is no multiple of its alignment ends up to alignment - 1 bytes before the page. Alignments above
// the size of a page are refused.
const Allocator& guarded_allocator();

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_CHECK_GUARDED_ALLOCATOR_H_
