#include "runtime/tools/inputs.h"

#include <cstdlib>

#include "runtime/tools/shuffle.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

std::string input_names(const Program& program, uint32_t entry) {
  std::string names;
  for (uint32_t i = 0; i < program.entry(entry).input_count; ++i)
    names += std::string(names.empty() ? "" : ", ") + program.input(entry, i).name;
  return names.empty() ? "none" : names;
}

// Position of an input by name, or input_count.
uint32_t find_input(const Program& program, uint32_t entry, const std::string& name) {
  const uint32_t count = program.entry(entry).input_count;
  for (uint32_t i = 0; i < count; ++i)
    if (name == program.input(entry, i).name) return i;
  return count;
}

struct DimValue {
  std::string name;
  int64_t value;
};

// Of every dim of the entry: what --size says, or the least that it can be.
std::string read_sizes(const Program& program, uint32_t entry, const Options& options, std::vector<DimValue>* out) {
  std::string names;
  for (uint32_t i = 0; i < program.entry(entry).dim_count; ++i) {
    const FerruleDimInfo dim = program.dim(entry, i);
    out->push_back({dim.name, dim.min});
    names += std::string(names.empty() ? "" : ", ") + dim.name;
  }
  for (const std::string& argument : options.all("--size")) {
    const size_t equals = argument.find('=');
    char* end = nullptr;
    const char* digits = equals == std::string::npos ? "" : argument.c_str() + equals + 1;
    const long long value = std::strtoll(digits, &end, 10);
    if (end == digits || *end != '\0' || value < 0)
      return format("--size is '%s', but must be DIM=N", argument.c_str());
    bool found = false;
    for (DimValue& dim : *out) {
      if (argument.compare(0, equals, dim.name) != 0) continue;
      dim.value = value;
      found = true;
    }
    if (!found)
      return format("--size %s: the entry's dims are: %s", argument.c_str(), names.empty() ? "none" : names.c_str());
  }
  return "";
}

// The sizes of "[batch, 1, 8]", each a number or a dim. False for any other formula.
bool read_shape(const FerruleTensorInfo& input, const std::vector<DimValue>& dims, std::vector<int64_t>* out) {
  const std::string text = std::string(input.shape_text).substr(1);
  size_t begin = 0;
  for (uint32_t axis = 0; axis < input.rank; ++axis) {
    size_t end = text.find(", ", begin);
    if (end == std::string::npos) end = text.size() - 1;
    const std::string size = text.substr(begin, end - begin);
    begin = end + 2;
    bool known = input.shape[axis] >= 0;
    if (known) out->push_back(input.shape[axis]);
    for (size_t i = 0; i < dims.size() && !known; ++i) {
      known = dims[i].name == size;
      if (known) out->push_back(dims[i].value);
    }
    if (!known) return false;
  }
  return true;
}

template <typename T>
void fill(Tensor& tensor, uint32_t seed) {
  T* values = tensor.data<T>();
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const auto index = static_cast<uint64_t>(i);
    const uint32_t bits = philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 0, 0}, {seed, 0})[0];
    values[i] = static_cast<T>(bits >> 8) * static_cast<T>(0x1p-23) - 1;
  }
}

}  // namespace

std::string Inputs::read_single(const Program& program, uint32_t entry, const std::string& argument) {
  const size_t equals = argument.find('=');
  if (equals == std::string::npos) return format("--input is '%s', but must be NAME=FILE", argument.c_str());
  const std::string name = argument.substr(0, equals);
  const uint32_t index = find_input(program, entry, name);
  if (index == tensors_.size())
    return format("entry '%s' has no input '%s'; its inputs are: %s", program.entry(entry).name, name.c_str(),
                  input_names(program, entry).c_str());
  TensorFile& file = files_.emplace_back();
  const std::string error = file.open(argument.substr(equals + 1));
  if (!error.empty()) return error;
  const FileTensor* tensor = file.find(name);
  if (tensor == nullptr && file.tensors().size() == 1) tensor = &file.tensors()[0];
  if (tensor == nullptr)
    return format("'%s' holds no tensor '%s'; it holds: %s", file.path().c_str(), name.c_str(), file.names().c_str());
  tensors_[index] = tensor;
  return "";
}

std::string Inputs::read_files(const Program& program, uint32_t entry, const Options& options) {
  tensors_.assign(program.entry(entry).input_count, nullptr);
  for (const std::string& path : options.all("--inputs")) {
    TensorFile& file = files_.emplace_back();
    const std::string error = file.open(path);
    if (!error.empty()) return error;
    for (const FileTensor& tensor : file.tensors()) {
      const uint32_t index = find_input(program, entry, tensor.name);
      if (index < tensors_.size()) tensors_[index] = &tensor;
    }
  }
  for (const std::string& argument : options.all("--input")) {
    const std::string error = read_single(program, entry, argument);
    if (!error.empty()) return error;
  }
  return "";
}

std::string Inputs::read(const Program& program, uint32_t entry, const Options& options) {
  const std::string error = read_files(program, entry, options);
  if (!error.empty()) return error;
  for (uint32_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i] == nullptr)
      return format("entry '%s' needs input '%s', which no file gives; its inputs are: %s", program.entry(entry).name,
                    program.input(entry, i).name, input_names(program, entry).c_str());
    views_.push_back(tensors_[i]->view());
  }
  return "";
}

std::string Inputs::read_or_make(const Program& program, uint32_t entry, const Options& options) {
  std::string error = read_files(program, entry, options);
  std::vector<DimValue> dims;
  if (error.empty()) error = read_sizes(program, entry, options, &dims);
  if (!error.empty()) return error;
  for (uint32_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i] != nullptr) {
      views_.push_back(tensors_[i]->view());
      continue;
    }
    const FerruleTensorInfo input = program.input(entry, i);
    std::vector<int64_t> shape;
    if (!read_shape(input, dims, &shape))
      return format("input '%s' has the shape %s, which --size does not decide: give the array with --input %s=FILE",
                    input.name, input.shape_text, input.name);
    Tensor& made = made_.emplace_back(input.dtype, shape);
    if (made.is<float>()) fill<float>(made, i);
    if (made.is<double>()) fill<double>(made, i);
    views_.emplace_back(made);
  }
  return "";
}

}  // namespace ferrule::tools
