#include "kernels/testing/skeleton_table.h"

// One declaration and one table entry per skeleton and target.
#define FERRULE_DECLARE(prefix, result, name, arguments) extern "C" result prefix##name arguments;
#define FERRULE_SKELETON(result, name, arguments) FERRULE_EACH_TARGET(FERRULE_DECLARE, result, name, arguments)
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON

namespace ferrule::kernels {

#if defined(__aarch64__)

std::vector<const SkeletonTable*> runnable_skeletons() {
  static const SkeletonTable table = {
      "aarch64",
#define FERRULE_SKELETON(result, name, arguments) neon_##name,
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON
  };
  return {&table};
}

#else

namespace {

const SkeletonTable kV3 = {
    "x86-64-v3",
#define FERRULE_SKELETON(result, name, arguments) v3_##name,
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON
};

const SkeletonTable kV4 = {
    "x86-64-v4",
#define FERRULE_SKELETON(result, name, arguments) v4_##name,
#include "kernels/skeletons.inc"
#undef FERRULE_SKELETON
};

}  // namespace

std::vector<const SkeletonTable*> runnable_skeletons() {
  std::vector<const SkeletonTable*> tables;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) tables.push_back(&kV3);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    tables.push_back(&kV4);
  }
  return tables;
}

#endif

}  // namespace ferrule::kernels
