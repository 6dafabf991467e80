#include "runtime/executor/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/data/file.h"
#include "runtime/data/safetensors.h"
#include "runtime/executor/named_variables.h"
#include "serialize/schema/sha256.h"

namespace ferrule::runtime {
namespace {

constexpr const char kFormatKey[] = "format";
constexpr const char kFormat[] = "ferrule.checkpoint";
constexpr const char kBaseKey[] = "base";

using VariableTable = flatbuffers::Vector<flatbuffers::Offset<schema::Variable>>;

const VariableTable& descriptions(const VariableStore& variables) {
  return *variables.program().metadata()->variables();
}

// One number of TrainingPosition and its metadata key.
struct PositionField {
  const char* key;
  uint64_t TrainingPosition::*field;
};
constexpr PositionField kPositionFields[] = {{"seed", &TrainingPosition::seed},
                                             {"epoch", &TrainingPosition::epoch},
                                             {"sample", &TrainingPosition::sample},
                                             {"step", &TrainingPosition::step}};
constexpr size_t kPositionFieldCount = sizeof(kPositionFields) / sizeof(kPositionFields[0]);

bool equals(const flatbuffers::String& text, const char* name) {
  const size_t length = strlen(name);
  return text.size() == length && memcmp(text.data(), name, length) == 0;
}

bool is_known(const VariableTable& variables, const char* name) {
  for (const schema::Variable* variable : variables) {
    if (equals(*variable->name(), name)) return true;
    for (const flatbuffers::String* alias : *variable->aliases())
      if (equals(*alias, name)) return true;
  }
  return false;
}

// The sentence names as many as fit; the counts say how many there are.
Status check_names(const VariableTable& variables, const SafetensorsReader& file, bool is_delta, const char* path) {
  uint32_t missing = 0, unexpected = 0;
  for (const schema::Variable* variable : variables) missing += !is_delta && find_tensor(file, *variable) == nullptr;
  for (size_t i = 0; i < file.size(); ++i) unexpected += !is_known(variables, file[i].name);
  if (missing == 0 && unexpected == 0) return Status();

  Status status = Status::error(StatusCode::kInvalidArtifact, "checkpoint '%s' is of another model", path);
  const char* separator = "";
  if (missing != 0) {
    status.append("; %u missing: ", missing);
    for (const schema::Variable* variable : variables) {
      if (find_tensor(file, *variable) != nullptr) continue;
      status.append("%s%s", separator, variable->name()->c_str());
      separator = ", ";
    }
  }
  separator = "";
  if (unexpected != 0) {
    status.append("; %u unexpected: ", unexpected);
    for (size_t i = 0; i < file.size(); ++i) {
      if (is_known(variables, file[i].name)) continue;
      status.append("%s%s", separator, file[i].name);
      separator = ", ";
    }
  }
  return status;
}

TrainingPosition read_position(const SafetensorsReader& file) {
  TrainingPosition position;
  for (const PositionField& field : kPositionFields)
    if (const char* text = file.metadata(field.key)) position.*field.field = strtoull(text, nullptr, 10);
  return position;
}

// The hash of the weights in hexadecimal, as a delta keeps it.
struct BaseText {
  char text[65];
  explicit BaseText(const Program& program) { serialize::sha256_text(program.weights_sha256(), text); }
};

Status check_base(const Program& program, const char* base, const char* path) {
  const BaseText mine(program);
  if (strcmp(base, mine.text) == 0) return Status();
  return Status::error(StatusCode::kInvalidArtifact,
                       "'%s' holds changes to the weights with the hash %.64s; those of the program have %s", path, base,
                       mine.text);
}

// `is_written`: whether a variable goes into the file; null: all do. `base`: the hash that a delta keeps, else null. What
// only deltas need is behind these, so that a product without them does not link it.
Status save(VariableStore& variables, const char* path, const TrainingPosition& position,
            bool (*is_written)(const VariableStore& variables, uint32_t variable), const char* base,
            const Allocator& allocator) {
  FERRULE_RETURN_IF_ERROR(variables.check_complete("", path, "was not written"));
  const uint32_t variable_count = descriptions(variables).size();
  Array<uint32_t> numbers;
  FERRULE_RETURN_IF_ERROR(numbers.allocate(allocator, variable_count, "the table of a checkpoint"));
  char texts[kPositionFieldCount][24];
  MetadataPair metadata[2 + kPositionFieldCount] = {{kFormatKey, kFormat}};
  for (size_t i = 0; i < kPositionFieldCount; ++i) {
    snprintf(texts[i], sizeof(texts[i]), "%llu", static_cast<unsigned long long>(position.*kPositionFields[i].field));
    metadata[1 + i] = MetadataPair{kPositionFields[i].key, texts[i]};
  }
  metadata[1 + kPositionFieldCount] = MetadataPair{kBaseKey, base};
  const size_t metadata_count = 1 + kPositionFieldCount + (base != nullptr);

  // Locked throughout, so that all variables are of the same step.
  FERRULE_RETURN_IF_ERROR(variables.lock(/*exclusive=*/false));
  size_t count = 0;
  for (uint32_t v = 0; v < variable_count; ++v)
    if (is_written == nullptr || is_written(variables, v)) numbers[count++] = v;
  const Status status = write_variables(variables, numbers.data(), count, path, metadata, metadata_count, allocator);
  variables.unlock();
  return status;
}

}  // namespace

Status save_checkpoint(VariableStore& variables, const char* path, const TrainingPosition& position,
                       const Allocator& allocator) {
  return save(variables, path, position, nullptr, nullptr, allocator);
}

Status save_delta(VariableStore& variables, const char* path, const TrainingPosition& position,
                  const Allocator& allocator) {
  return save(
      variables, path, position, [](const VariableStore& store, uint32_t variable) { return store.is_changed(variable); },
      BaseText(variables.program()).text, allocator);
}

Status load_checkpoint(VariableStore& variables, const char* path, TrainingPosition* out_position,
                       const Allocator& allocator) {
  MappedFile mapped;
  FERRULE_RETURN_IF_ERROR(mapped.open(path));
  SafetensorsReader file;
  FERRULE_RETURN_IF_ERROR(file.parse(mapped.data(), mapped.byte_size(), path, allocator));
  const VariableTable& table = descriptions(variables);
  const char* base = file.metadata(kBaseKey);
  if (base != nullptr) FERRULE_RETURN_IF_ERROR(check_base(variables.program(), base, path));
  FERRULE_RETURN_IF_ERROR(check_names(table, file, base != nullptr, path));
  Array<const uint8_t*> values;
  FERRULE_RETURN_IF_ERROR(values.allocate_zeroed(allocator, table.size(), "the table of a checkpoint"));
  for (uint32_t v = 0; v < table.size(); ++v) {
    const NamedTensor* tensor = find_tensor(file, *table.Get(v));
    if (tensor == nullptr) continue;  // in a delta
    FERRULE_RETURN_IF_ERROR(check_tensor(*tensor, *table.Get(v), path));
    values[v] = tensor->data;
  }
  FERRULE_RETURN_IF_ERROR(variables.set_all(values.data()));
  *out_position = read_position(file);
  return Status();
}

}  // namespace ferrule::runtime
