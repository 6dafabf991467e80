#include "runtime/program/verify.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/base/arithmetic.h"
#include "runtime/program/layout.h"
#include "serialize/schema/artifact_header.h"

namespace ferrule::runtime {
namespace {

using ull = unsigned long long;

Status invalid_index(const VerifyContext& context, const char* what, uint64_t index, uint64_t limit) {
  return Status::error(StatusCode::kInvalidArtifact, "%s: %s has index %llu and there are %llu", context.name, what,
                       static_cast<ull>(index), static_cast<ull>(limit));
}

template <typename T>
bool aligned(const flatbuffers::Vector<T>& vector) {
  // The writer does not align an empty vector, and nobody reads from it.
  return vector.size() == 0 || reinterpret_cast<uintptr_t>(vector.Data()) % 8 == 0;
}

// The library's verifier checks the alignment of a vector's length only.
bool wide_vectors_aligned(const schema::Program& program) {
  for (const schema::Variable* variable : *program.variables()) {
    if (!aligned(*variable->shape())) return false;
  }
  for (const schema::Entry* entry : *program.entries()) {
    if (!aligned(*entry->expressions())) return false;
  }
  for (const schema::Kernel* kernel : *program.kernels()) {
    if (kernel->implementation_type() != schema::KernelImplementation_CpuFunction) continue;
    if (!aligned(*kernel->implementation_as_CpuFunction()->offsets())) return false;
  }
  return true;
}

Status verify_structure(const uint8_t* bytes, uint64_t byte_size, const char* name) {
  flatbuffers::Verifier::Options options;
  // A table takes at least 8 bytes with the reference to it, so a file cannot make the check long by sharing tables.
  options.max_tables = static_cast<flatbuffers::uoffset_t>(byte_size / 8);
  if (byte_size <= serialize::kMaximumMetadataBytes) {
    flatbuffers::Verifier verifier(bytes, static_cast<size_t>(byte_size), options);
    if (schema::VerifyProgramBuffer(verifier) && wide_vectors_aligned(*schema::GetProgram(bytes))) return Status();
  }
  return Status::error(StatusCode::kInvalidArtifact, "%s: the metadata of %llu bytes is not a well-formed flatbuffer",
                       name, static_cast<ull>(byte_size));
}

Status verify_targets(const schema::Program& program, const VerifyContext& context) {
  Array<const char*> names;
  FERRULE_RETURN_IF_ERROR(names.allocate(*context.allocator, program.targets()->size(), "the list of targets"));
  for (uint32_t i = 0; i < program.targets()->size(); ++i) {
    const schema::Target& target = *program.targets()->Get(i);
    FERRULE_RETURN_IF_ERROR(verify_name(*target.name(), context.name, "a target"));
    for (const flatbuffers::String* feature : *target.features()) {
      FERRULE_RETURN_IF_ERROR(verify_name(*feature, context.name, "a CPU feature"));
    }
    uint64_t code_bytes;
    if (!context.code_byte_size(context.frame, target.name()->c_str(), &code_bytes)) {
      return Status::error(StatusCode::kInvalidArtifact, "%s: target '%s' has no code segment in the directory",
                           context.name, target.name()->c_str());
    }
    names[i] = target.name()->c_str();
  }
  return verify_unique_names(names.data(), names.size(), context.name, "target");
}

Status verify_tables(const schema::Program& program, const VerifyContext& context) {
  for (const schema::Device* device : *program.devices()) {
    FERRULE_RETURN_IF_ERROR(verify_name(*device->kind(), context.name, "a device"));
    if (strcmp(device->kind()->c_str(), "cpu") != 0) {
      return Status::error(StatusCode::kUnsupported, "%s needs a device of kind '%s'; this runtime has: cpu",
                           context.name, device->kind()->c_str());
    }
  }
  for (const schema::Layout* layout : *program.layouts()) {
    FERRULE_RETURN_IF_ERROR(verify_name(*layout->kind(), context.name, "a layout"));
  }
  for (const schema::Arena* arena : *program.arenas()) {
    if (arena->device() >= program.devices()->size()) {
      return invalid_index(context, "the device of an arena", arena->device(), program.devices()->size());
    }
    if (!is_power_of_two(arena->alignment()) || arena->alignment() < 64 || arena->alignment() > 65536 ||
        arena->byte_size() > INT64_MAX) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: an arena of %llu bytes has alignment %llu; allowed are powers of two from 64 to 65536",
                           context.name, static_cast<ull>(arena->byte_size()), static_cast<ull>(arena->alignment()));
    }
  }
  return Status();
}

// Leaves the size of what is to be decrypted.
Status verify_encryption(const schema::WeightsEncryption& encryption, VerifyContext* context) {
  FERRULE_RETURN_IF_ERROR(verify_name(*encryption.key_name(), context->name, "the key of the weights"));
  if (encryption.cipher() != schema::WeightsCipher_aes_256_gcm) {
    return Status::error(StatusCode::kUnsupported,
                         "%s: the weights are encrypted with cipher %u, which this runtime does not know", context->name,
                         encryption.cipher());
  }
  if (context->weights_byte_size <= serialize::kWeightsSealBytes) {
    return Status::error(StatusCode::kInvalidArtifact,
                         "%s: the encrypted weights have %llu bytes, and tag and nonce alone take %llu", context->name,
                         static_cast<ull>(context->weights_byte_size), static_cast<ull>(serialize::kWeightsSealBytes));
  }
  context->weights_byte_size -= serialize::kWeightsSealBytes;
  return Status();
}

Status verify_weights_range(const VerifyContext& context, const char* what, uint64_t offset, uint64_t byte_size) {
  if (offset % 64 == 0 && range_fits(offset, byte_size, context.weights_byte_size)) return Status();
  return Status::error(StatusCode::kInvalidArtifact,
                       "%s: %s takes %llu bytes at offset %llu of the weights, which have %llu bytes and 64-byte "
                       "alignment",
                       context.name, what, static_cast<ull>(byte_size), static_cast<ull>(offset),
                       static_cast<ull>(context.weights_byte_size));
}

Status verify_variable(const schema::Program& program, const schema::Variable& variable, const VerifyContext& context) {
  FERRULE_RETURN_IF_ERROR(verify_name(*variable.name(), context.name, "a variable"));
  FERRULE_RETURN_IF_ERROR(verify_name(*variable.role(), context.name, "the role of a variable"));
  const char* name = variable.name()->c_str();
  FERRULE_RETURN_IF_ERROR(verify_dtype(*variable.dtype(), context.name, name));
  if (variable.layout() >= program.layouts()->size()) {
    return invalid_index(context, "the layout of a variable", variable.layout(), program.layouts()->size());
  }
  uint64_t byte_size;
  Status status = physical_byte_size(*program.layouts()->Get(variable.layout()), *variable.dtype(),
                                     variable.shape()->data(), variable.shape()->size(), &byte_size);
  if (!status.ok()) {
    return Status::error(StatusCode::kInvalidArtifact, "%s: variable '%s': %s", context.name, name, status.message());
  }
  if (byte_size != variable.byte_size()) {
    return Status::error(StatusCode::kInvalidArtifact,
                         "%s: variable '%s' says %llu bytes and its shape and layout take %llu", context.name, name,
                         static_cast<ull>(variable.byte_size()), static_cast<ull>(byte_size));
  }
  return verify_weights_range(context, name, variable.initial_offset(), byte_size);
}

Status verify_variables(const schema::Program& program, const VerifyContext& context) {
  uint64_t name_count = 0;
  for (const schema::Variable* variable : *program.variables()) {
    FERRULE_RETURN_IF_ERROR(verify_variable(program, *variable, context));
    name_count += 1 + uint64_t{variable->aliases()->size()};
  }
  Array<const char*> names;
  FERRULE_RETURN_IF_ERROR(names.allocate(*context.allocator, name_count, "the list of variables"));
  size_t at = 0;
  for (const schema::Variable* variable : *program.variables()) {
    names[at++] = variable->name()->c_str();
    for (const flatbuffers::String* alias : *variable->aliases()) {
      FERRULE_RETURN_IF_ERROR(verify_name(*alias, context.name, "an alias of a variable"));
      names[at++] = alias->c_str();
    }
  }
  FERRULE_RETURN_IF_ERROR(verify_unique_names(names.data(), names.size(), context.name, "variable"));
  for (const schema::Constant* constant : *program.constants()) {
    FERRULE_RETURN_IF_ERROR(verify_weights_range(context, "a constant", constant->offset(), constant->byte_size()));
  }
  return Status();
}

Status verify_entry_points(const schema::Program& program, const schema::Kernel& kernel,
                           const schema::CpuFunction& function, const VerifyContext& context) {
  const char* name = kernel.name()->c_str();
  if (function.offsets()->size() != program.targets()->size()) {
    return Status::error(StatusCode::kInvalidArtifact, "%s: kernel '%s' has %u entry points for %u targets", context.name,
                         name, function.offsets()->size(), program.targets()->size());
  }
  for (uint32_t i = 0; i < program.targets()->size(); ++i) {
    uint64_t code_bytes = 0;
    const char* target = program.targets()->Get(i)->name()->c_str();
    if (!context.code_byte_size(context.frame, target, &code_bytes) || function.offsets()->Get(i) >= code_bytes) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: kernel '%s' starts at byte %llu of the code for %s, which has %llu bytes", context.name,
                           name, static_cast<ull>(function.offsets()->Get(i)), target, static_cast<ull>(code_bytes));
    }
  }
  return Status();
}

Status verify_kernels(const schema::Program& program, const VerifyContext& context) {
  for (const schema::Kernel* kernel : *program.kernels()) {
    FERRULE_RETURN_IF_ERROR(verify_name(*kernel->name(), context.name, "a kernel"));
    const char* name = kernel->name()->c_str();
    uint64_t scratch_bytes;
    if (const schema::ExternalFunction* external = kernel->implementation_as_ExternalFunction()) {
      FERRULE_RETURN_IF_ERROR(verify_name(*external->symbol(), context.name, "the symbol of a kernel"));
      scratch_bytes = external->scratch_bytes();
    } else if (const schema::CpuFunction* function = kernel->implementation_as_CpuFunction()) {
      FERRULE_RETURN_IF_ERROR(verify_entry_points(program, *kernel, *function, context));
      scratch_bytes = function->scratch_bytes();
    } else {
      return Status::error(StatusCode::kUnsupported,
                           "%s: kernel '%s' has an implementation of kind %u, which this runtime does not know",
                           context.name, name, kernel->implementation_type());
    }
    if (kernel->output_count() > kernel->operand_count() || scratch_bytes > program.scratch_bytes()) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: kernel '%s' is inconsistent: %u operands, %u outputs, %llu scratch bytes of %llu",
                           context.name, name, kernel->operand_count(), kernel->output_count(),
                           static_cast<ull>(scratch_bytes), static_cast<ull>(program.scratch_bytes()));
    }
  }
  return Status();
}

// Length of the UTF-8 sequence at `at`, or 0 when it is malformed (overlong, surrogate, beyond U+10FFFF).
size_t utf8_length(const uint8_t* at, size_t left) {
  const uint8_t first = at[0];
  if (first < 0x80) return 1;
  const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > left) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && at[1] < 0xa0) return 0;
  if (first == 0xed && at[1] > 0x9f) return 0;
  if (first == 0xf0 && at[1] < 0x90) return 0;
  if (first == 0xf4 && at[1] > 0x8f) return 0;
  return length;
}

int compare_texts(const void* left, const void* right) {
  return strcmp(*static_cast<const char* const*>(left), *static_cast<const char* const*>(right));
}

}  // namespace

Status verify_text(const flatbuffers::String& text, const char* artifact_name, const char* what) {
  const uint8_t* bytes = text.Data();
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8_length(bytes + i, text.size() - i);
    if (length == 0 || bytes[i] < 0x20 || bytes[i] == 0x7f) {
      return Status::error(StatusCode::kInvalidArtifact, "%s: %s is not plain UTF-8 text at byte %zu", artifact_name,
                           what, i);
    }
    i += length;
  }
  return Status();
}

Status verify_name(const flatbuffers::String& name, const char* artifact_name, const char* what) {
  if (name.size() == 0) {
    return Status::error(StatusCode::kInvalidArtifact, "%s: %s has no name", artifact_name, what);
  }
  return verify_text(name, artifact_name, what);
}

Status verify_unique_names(const char** names, size_t count, const char* artifact_name, const char* what) {
  if (count != 0) qsort(names, count, sizeof(const char*), compare_texts);
  for (size_t i = 1; i < count; ++i) {
    if (strcmp(names[i - 1], names[i]) == 0) {
      return Status::error(StatusCode::kInvalidArtifact, "%s: there are two of %s '%s'", artifact_name, what, names[i]);
    }
  }
  return Status();
}

Status verify_dtype(const schema::DataType& dtype, const char* artifact_name, const char* tensor_name) {
  const uint8_t code = dtype.code(), bits = dtype.bits();
  const bool is_float = code == 2 && (bits == 8 || bits == 16 || bits == 32 || bits == 64);
  const bool is_integer = (code == 0 || code == 1) && is_power_of_two(bits) && bits <= 64;
  const bool is_other = (code == 4 && bits == 16) || (code == 6 && bits == 8);
  if (dtype.lanes() == 1 && (is_float || is_integer || is_other)) return Status();
  return Status::error(StatusCode::kInvalidArtifact,
                       "%s: '%s' has the dtype (code %u, %u bits, %u lanes), which this runtime does not know",
                       artifact_name, tensor_name, code, bits, dtype.lanes());
}

Status verify_program(const uint8_t* bytes, uint64_t byte_size, VerifyContext context, EntryMaps* out_maps) {
  FERRULE_RETURN_IF_ERROR(verify_structure(bytes, byte_size, context.name));
  const schema::Program& program = *schema::GetProgram(bytes);
  FERRULE_RETURN_IF_ERROR(verify_text(*program.producer(), context.name, "the producer"));
  FERRULE_RETURN_IF_ERROR(verify_targets(program, context));
  FERRULE_RETURN_IF_ERROR(verify_tables(program, context));
  if (program.weights_encryption() != nullptr)
    FERRULE_RETURN_IF_ERROR(verify_encryption(*program.weights_encryption(), &context));
  FERRULE_RETURN_IF_ERROR(verify_variables(program, context));
  FERRULE_RETURN_IF_ERROR(verify_kernels(program, context));
  Array<const char*> names;
  FERRULE_RETURN_IF_ERROR(names.allocate(*context.allocator, program.entries()->size(), "the list of entries"));
  FERRULE_RETURN_IF_ERROR(out_maps->create(*context.allocator, program.entries()->size()));
  for (uint32_t i = 0; i < program.entries()->size(); ++i) {
    const schema::Entry& entry = *program.entries()->Get(i);
    FERRULE_RETURN_IF_ERROR(verify_name(*entry.name(), context.name, "an entry"));
    names[i] = entry.name()->c_str();
    FERRULE_RETURN_IF_ERROR(verify_entry(program, entry, context, &(*out_maps)[i]));
  }
  return verify_unique_names(names.data(), names.size(), context.name, "entry");
}

Status verify_debug(const uint8_t* bytes, uint64_t byte_size, const char* artifact_name) {
  flatbuffers::Verifier::Options options;
  options.max_tables = 1;
  if (byte_size <= serialize::kMaximumMetadataBytes) {
    flatbuffers::Verifier verifier(bytes, static_cast<size_t>(byte_size), options);
    if (verifier.VerifyBuffer<schema::Debug>(schema::kDebugIdentifier)) {
      for (const flatbuffers::String* location : *flatbuffers::GetRoot<schema::Debug>(bytes)->locations()) {
        FERRULE_RETURN_IF_ERROR(verify_text(*location, artifact_name, "a location"));
      }
      return Status();
    }
  }
  return Status::error(StatusCode::kInvalidArtifact, "%s: the debug segment is not a well-formed flatbuffer",
                       artifact_name);
}

}  // namespace ferrule::runtime
