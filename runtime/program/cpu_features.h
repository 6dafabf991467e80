// Which targets this machine can run.
#ifndef FERRULE_RUNTIME_PROGRAM_CPU_FEATURES_H_
#define FERRULE_RUNTIME_PROGRAM_CPU_FEATURES_H_

#include "runtime/base/status.h"
#include "serialize/schema/program_schema.h"

namespace ferrule::runtime {

// A target's name is "<architecture>" or "<architecture>-<level>" (x86-64, x86-64-v3, x86-64-v4, x86-64-v4-vnni,
// aarch64, aarch64-dotprod). It runs here when the architecture is this machine's, the level's features and every
// feature that the target lists are known and present, and the operating system saves their registers. Otherwise
// kUnsupported with the reason.
Status check_target_runs(const schema::Target& target);

// Whether this machine has one feature, by LLVM's name ("avx2", "avx512f", "dotprod"); false for unknown names.
bool cpu_has_feature(const char* feature);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_CPU_FEATURES_H_
