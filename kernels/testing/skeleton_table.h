// The skeletons built as native code, one table an instruction set that this machine can run.
#ifndef FERRULE_KERNELS_TESTING_SKELETON_TABLE_H_
#define FERRULE_KERNELS_TESTING_SKELETON_TABLE_H_

#include <vector>

#include "kernels/skeletons.h"

namespace ferrule::kernels {

struct SkeletonTable {
  const char* target;
#define FERRULE_SKELETON(result, name, arguments) result(*name) arguments;
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON
};

// x86-64-v3 and, where the CPU has AVX-512, x86-64-v4. Empty on other machines.
std::vector<const SkeletonTable*> runnable_skeletons();

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_SKELETON_TABLE_H_
