#include "runtime/executor/named_variables.h"

#include <stdio.h>

#include "runtime/data/data_type.h"
#include "runtime/data/file.h"
#include "runtime/program/layout.h"

namespace ferrule::runtime {
namespace {

const schema::Variable& description(const VariableStore& variables, uint32_t number) {
  return *variables.program().metadata()->variables()->Get(number);
}

struct Written {
  const VariableStore& variables;
  const uint32_t* numbers;
};

Status fill_from_store(void* context, size_t index, void* out_data) {
  const auto& written = *static_cast<const Written*>(context);
  const uint32_t number = written.numbers[index];
  unpack(*written.variables.program().metadata(), description(written.variables, number),
         written.variables.data(number), out_data);
  return Status();
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

// Number by number, each once.
Status find_numbers(const VariableStore& variables, const char* const* names, uint32_t count, uint32_t* out_numbers) {
  for (uint32_t i = 0; i < count; ++i) {
    FERRULE_RETURN_IF_ERROR(variables.program().find_variable(names[i], &out_numbers[i]));
    for (uint32_t before = 0; before < i; ++before)
      if (out_numbers[before] == out_numbers[i])
        return Status::error(StatusCode::kInvalidArgument, "variable '%s' is named twice: as '%s' and as '%s'",
                             description(variables, out_numbers[i]).name()->c_str(), names[before], names[i]);
  }
  return Status();
}

}  // namespace

Status write_variables(const VariableStore& variables, const uint32_t* numbers, size_t count, const char* path,
                       const MetadataPair* metadata, size_t metadata_count, const Allocator& allocator) {
  Array<NamedTensor> tensors;
  Array<int64_t> shapes;
  FERRULE_RETURN_IF_ERROR(tensors.allocate(allocator, count, "the table of a file of variables"));
  FERRULE_RETURN_IF_ERROR(shapes.allocate(allocator, count * kMaximumRank, "the table of a file of variables"));
  for (size_t i = 0; i < count; ++i) {
    const schema::Variable& variable = description(variables, numbers[i]);
    int64_t* shape = shapes.data() + i * kMaximumRank;
    for (uint32_t axis = 0; axis < variable.shape()->size(); ++axis) shape[axis] = variable.shape()->Get(axis);
    tensors[i] = NamedTensor{variable.name()->c_str(),   *variable.dtype(), variable.shape()->size(), shape, nullptr,
                             logical_byte_size(variable)};
  }
  Written written{variables, numbers};
  return write_safetensors(path, tensors.data(), count, metadata, metadata_count, fill_from_store, &written, allocator);
}

const NamedTensor* find_tensor(const SafetensorsReader& file, const schema::Variable& variable) {
  const NamedTensor* tensor = file.find(variable.name()->c_str());
  for (uint32_t i = 0; tensor == nullptr && i < variable.aliases()->size(); ++i)
    tensor = file.find(variable.aliases()->Get(i)->c_str());
  return tensor;
}

Status check_tensor(const NamedTensor& tensor, const schema::Variable& variable, const char* path) {
  if (same_type(tensor.dtype, *variable.dtype()) && same_shape(tensor, variable)) return Status();
  return Status::error(StatusCode::kInvalidArtifact,
                       "'%s' is of another model: variable '%s' is %s [%s] there, but %s [%s] in the program", path,
                       variable.name()->c_str(), data_type_name(tensor.dtype),
                       shape_text(tensor.shape, tensor.rank).text, data_type_name(*variable.dtype()),
                       shape_text(*variable.shape(), variable.shape()->size()).text);
}

Status save_variables(VariableStore& variables, const char* path, const char* const* names, uint32_t name_count,
                      const Allocator& allocator) {
  FERRULE_RETURN_IF_ERROR(variables.check_complete("", path, "was not written"));
  const uint32_t count = names == nullptr ? variables.program().metadata()->variables()->size() : name_count;
  Array<uint32_t> numbers;
  FERRULE_RETURN_IF_ERROR(numbers.allocate(allocator, count, "the table of a file of variables"));
  for (uint32_t i = 0; i < count; ++i) numbers[i] = i;
  if (names != nullptr) FERRULE_RETURN_IF_ERROR(find_numbers(variables, names, count, numbers.data()));
  FERRULE_RETURN_IF_ERROR(variables.lock(/*exclusive=*/false));
  const Status status = write_variables(variables, numbers.data(), count, path, nullptr, 0, allocator);
  variables.unlock();
  return status;
}

Status load_variables(VariableStore& variables, const char* path, uint32_t* out_count, const Allocator& allocator) {
  MappedFile mapped;
  FERRULE_RETURN_IF_ERROR(mapped.open(path));
  SafetensorsReader file;
  FERRULE_RETURN_IF_ERROR(file.parse(mapped.data(), mapped.byte_size(), path, allocator));
  Array<const uint8_t*> values;
  FERRULE_RETURN_IF_ERROR(values.allocate_zeroed(allocator, variables.program().metadata()->variables()->size(),
                                                 "the table of a file of variables"));
  for (size_t i = 0; i < file.size(); ++i) {
    uint32_t number;
    const Status found = variables.program().find_variable(file[i].name, &number);
    if (!found.ok()) return Status::error(found.code(), "'%s': %s", path, found.message());
    if (values[number] != nullptr)
      return Status::error(StatusCode::kInvalidArtifact, "'%s' holds variable '%s' twice, once as '%s'", path,
                           description(variables, number).name()->c_str(), file[i].name);
    FERRULE_RETURN_IF_ERROR(check_tensor(file[i], description(variables, number), path));
    values[number] = file[i].data;
  }
  FERRULE_RETURN_IF_ERROR(variables.set_some(values.data()));
  *out_count = static_cast<uint32_t>(file.size());
  return Status();
}

}  // namespace ferrule::runtime
