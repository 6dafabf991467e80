#include "runtime/executor/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/data/data_type.h"
#include "runtime/data/file.h"
#include "runtime/data/safetensors.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

constexpr const char kFormatKey[] = "format";
constexpr const char kFormat[] = "ferrule.checkpoint";

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

// The store is locked for the whole save, so that all variables are of the same step.
Status fill_from_store(void* context, size_t variable, void* out_data) {
  const auto& store = *static_cast<const VariableStore*>(context);
  const auto index = static_cast<uint32_t>(variable);
  unpack(*store.program().metadata(), *descriptions(store).Get(index), store.data(index), out_data);
  return Status();
}

const NamedTensor* find_variable(const SafetensorsReader& file, const schema::Variable& variable) {
  const NamedTensor* tensor = file.find(variable.name()->c_str());
  for (uint32_t i = 0; tensor == nullptr && i < variable.aliases()->size(); ++i)
    tensor = file.find(variable.aliases()->Get(i)->c_str());
  return tensor;
}

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
Status check_names(const VariableTable& variables, const SafetensorsReader& file, const char* path) {
  uint32_t missing = 0, unexpected = 0;
  for (const schema::Variable* variable : variables) missing += find_variable(file, *variable) == nullptr;
  for (size_t i = 0; i < file.size(); ++i) unexpected += !is_known(variables, file[i].name);
  if (missing == 0 && unexpected == 0) return Status();

  Status status = Status::error(StatusCode::kInvalidArtifact, "checkpoint '%s' is of another model", path);
  const char* separator = "";
  if (missing != 0) {
    status.append("; %u missing: ", missing);
    for (const schema::Variable* variable : variables) {
      if (find_variable(file, *variable) != nullptr) continue;
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

bool same_shape(const NamedTensor& tensor, const schema::Variable& variable) {
  if (tensor.rank != variable.shape()->size()) return false;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis)
    if (tensor.shape[axis] != variable.shape()->Get(axis)) return false;
  return true;
}

struct ShapeText {
  char text[24 * kMaximumRank];
};

template <typename Sizes>
ShapeText shape_text(const Sizes& sizes, uint32_t rank) {
  ShapeText result;
  size_t length = 0;
  result.text[0] = '\0';
  for (uint32_t axis = 0; axis < rank; ++axis)
    length += static_cast<size_t>(snprintf(result.text + length, sizeof(result.text) - length, "%s%lld",
                                           axis == 0 ? "" : ", ", static_cast<long long>(sizes[axis])));
  return result;
}

Status check_tensor(const NamedTensor& tensor, const schema::Variable& variable, const char* path) {
  if (same_type(tensor.dtype, *variable.dtype()) && same_shape(tensor, variable)) return Status();
  return Status::error(
      StatusCode::kInvalidArtifact,
      "checkpoint '%s' is of another model: variable '%s' is %s [%s] there, but %s [%s] in the program", path,
      variable.name()->c_str(), data_type_name(tensor.dtype), shape_text(tensor.shape, tensor.rank).text,
      data_type_name(*variable.dtype()), shape_text(*variable.shape(), variable.shape()->size()).text);
}

TrainingPosition read_position(const SafetensorsReader& file) {
  TrainingPosition position;
  for (const PositionField& field : kPositionFields)
    if (const char* text = file.metadata(field.key)) position.*field.field = strtoull(text, nullptr, 10);
  return position;
}

}  // namespace

Status save_checkpoint(VariableStore& variables, const char* path, const TrainingPosition& position,
                       const Allocator& allocator) {
  if (!variables.complete())
    return Status::error(StatusCode::kFailedPrecondition,
                         "'%s' was not written: an earlier run ended after it had begun to change variables, so their "
                         "values are incomplete; load a checkpoint or reset the session",
                         path);
  const VariableTable& table = descriptions(variables);
  Array<NamedTensor> tensors;
  Array<int64_t> shapes;
  FERRULE_RETURN_IF_ERROR(tensors.allocate(allocator, table.size(), "the table of a checkpoint"));
  FERRULE_RETURN_IF_ERROR(shapes.allocate(allocator, size_t{table.size()} * kMaximumRank, "the table of a checkpoint"));
  for (uint32_t v = 0; v < table.size(); ++v) {
    const schema::Variable& variable = *table.Get(v);
    int64_t* shape = shapes.data() + size_t{v} * kMaximumRank;
    for (uint32_t axis = 0; axis < variable.shape()->size(); ++axis) shape[axis] = variable.shape()->Get(axis);
    tensors[v] = NamedTensor{variable.name()->c_str(),   *variable.dtype(), variable.shape()->size(), shape, nullptr,
                             logical_byte_size(variable)};
  }
  char numbers[kPositionFieldCount][24];
  MetadataPair metadata[1 + kPositionFieldCount] = {{kFormatKey, kFormat}};
  for (size_t i = 0; i < kPositionFieldCount; ++i) {
    snprintf(numbers[i], sizeof(numbers[i]), "%llu",
             static_cast<unsigned long long>(position.*kPositionFields[i].field));
    metadata[1 + i] = MetadataPair{kPositionFields[i].key, numbers[i]};
  }
  FERRULE_RETURN_IF_ERROR(variables.lock(/*exclusive=*/false));
  const Status status = write_safetensors(path, tensors.data(), tensors.size(), metadata, 1 + kPositionFieldCount,
                                          fill_from_store, &variables, allocator);
  variables.unlock();
  return status;
}

Status load_checkpoint(VariableStore& variables, const char* path, TrainingPosition* out_position,
                       const Allocator& allocator) {
  MappedFile mapped;
  FERRULE_RETURN_IF_ERROR(mapped.open(path));
  SafetensorsReader file;
  FERRULE_RETURN_IF_ERROR(file.parse(mapped.data(), mapped.byte_size(), path, allocator));
  const VariableTable& table = descriptions(variables);
  FERRULE_RETURN_IF_ERROR(check_names(table, file, path));
  Array<const uint8_t*> values;
  FERRULE_RETURN_IF_ERROR(values.allocate(allocator, table.size(), "the table of a checkpoint"));
  for (uint32_t v = 0; v < table.size(); ++v) {
    const NamedTensor* tensor = find_variable(file, *table.Get(v));
    FERRULE_RETURN_IF_ERROR(check_tensor(*tensor, *table.Get(v), path));
    values[v] = tensor->data;
  }
  FERRULE_RETURN_IF_ERROR(variables.set_all(values.data()));
  *out_position = read_position(file);
  return Status();
}

}  // namespace ferrule::runtime
