// Variables as tensors of a safetensors file, by name, as logical row-major values: what checkpoints are made of, and
// files that hold some of the variables.
#ifndef FERRULE_RUNTIME_EXECUTOR_NAMED_VARIABLES_H_
#define FERRULE_RUNTIME_EXECUTOR_NAMED_VARIABLES_H_

#include <stdint.h>

#include "runtime/base/allocator.h"
#include "runtime/data/safetensors.h"
#include "runtime/executor/variable_store.h"

namespace ferrule::runtime {

// Replaces `path` in one step by a file of these variables, given by number. The caller holds the lock, so that all are
// of the same step.
Status write_variables(const VariableStore& variables, const uint32_t* numbers, size_t count, const char* path,
                       const MetadataPair* metadata, size_t metadata_count, const Allocator& allocator);

// By the variable's name or one of its aliases; null: not in the file.
const NamedTensor* find_tensor(const SafetensorsReader& file, const schema::Variable& variable);

// dtype and shape must be the variable's; kInvalidArtifact names both sides.
Status check_tensor(const NamedTensor& tensor, const schema::Variable& variable, const char* path);

// Writes the named variables (names or aliases, each once); null `names`: all. kNotFound for an unknown name,
// kFailedPrecondition when the state is incomplete.
Status save_variables(VariableStore& variables, const char* path, const char* const* names, uint32_t name_count,
                      const Allocator& allocator);

// Sets every variable that the file holds, or none: kNotFound for a tensor that is no variable, kInvalidArtifact for a
// wrong dtype or shape. The others keep their values, and an incomplete state stays so.
Status load_variables(VariableStore& variables, const char* path, uint32_t* out_count, const Allocator& allocator);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_EXECUTOR_NAMED_VARIABLES_H_
