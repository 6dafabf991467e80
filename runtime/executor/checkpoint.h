// Checkpoints: every variable of a store by name, as logical row-major values, and where the training stands.
//
// The file is a safetensors file, so every tool that reads those reads checkpoints; the position is in its metadata. It
// does not depend on layout, target or thread count, and fits every compile of the same model.
#ifndef FERRULE_RUNTIME_EXECUTOR_CHECKPOINT_H_
#define FERRULE_RUNTIME_EXECUTOR_CHECKPOINT_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/executor/variable_store.h"

namespace ferrule::runtime {

struct TrainingPosition {
  uint64_t seed = 0;    // of the shuffle
  uint64_t epoch = 0;   // epochs that are finished
  uint64_t sample = 0;  // samples of the current epoch that are done
  uint64_t step = 0;    // runs of the training entry since the start
};

// Replaces `path` in one step. kFailedPrecondition when the state is incomplete: half a step is not worth keeping, and
// would replace a checkpoint that is.
Status save_checkpoint(VariableStore& variables, const char* path, const TrainingPosition& position,
                       const Allocator& allocator);
// The same for the variables that differ from the program's initial values only, and the hash of the weights that these
// are part of.
Status save_delta(VariableStore& variables, const char* path, const TrainingPosition& position,
                  const Allocator& allocator);

// Sets all variables or, on an error, none. kInvalidArtifact for a file that is broken or of another model: the
// sentence lists missing and unexpected names, or the variable whose dtype or shape differs. A variable is also found
// by its aliases. A delta sets the variables that it lacks to their initial values, and is refused by a program with
// other weights.
Status load_checkpoint(VariableStore& variables, const char* path, TrainingPosition* out_position,
                       const Allocator& allocator);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_CHECKPOINT_H_
