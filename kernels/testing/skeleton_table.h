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

// each(prefix, ...) for the prefix of each table's functions, in the tables' order.
#if defined(__aarch64__)
#define FERRULE_EACH_TARGET(each, ...) each(neon_, __VA_ARGS__)
#else
#define FERRULE_EACH_TARGET(each, ...) each(v3_, __VA_ARGS__) each(v4_, __VA_ARGS__)
#endif
// One name of a list of the same function for every target.
#define FERRULE_NAME_OF_TARGET(prefix, name) prefix##name,

// x86-64-v3 and, where the CPU has AVX-512, x86-64-v4; on 64-bit ARM aarch64. Empty on other machines.
std::vector<const SkeletonTable*> runnable_skeletons();

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_TESTING_SKELETON_TABLE_H_
