#include "runtime/tools/tensor_files.h"

#include <cstdlib>
#include <cstring>

#include "runtime/data/data_type.h"
#include "runtime/data/file.h"
#include "runtime/data/safetensors.h"
#include "runtime/program/layout.h"
#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

using runtime::find_data_type;
using runtime::kMaximumRank;

schema::DataType to_schema(FerruleDataType dtype) { return {dtype.code, dtype.bits, dtype.lanes}; }
FerruleDataType to_c(const schema::DataType& dtype) { return {dtype.code(), dtype.bits(), dtype.lanes()}; }

constexpr char kNpyMagic[] = "\x93NUMPY";
constexpr size_t kNpyMagicBytes = 6;

// The value of a key in the Python dict that heads a .npy file, e.g. "'<f4'" or "(3, 4)".
std::string npy_value(const std::string& header, const char* key) {
  size_t begin = header.find(std::string("'") + key + "':");
  if (begin == std::string::npos) return "";
  begin = header.find_first_not_of(' ', header.find(':', begin) + 1);
  if (begin == std::string::npos) return "";
  const size_t end = header[begin] == '(' ? header.find(')', begin) + 1 : header.find_first_of(",}", begin);
  return end == std::string::npos || end <= begin ? "" : header.substr(begin, end - begin);
}

// False if the text is not a tuple of at most kMaximumRank sizes.
bool parse_npy_shape(const std::string& text, std::vector<int64_t>* out_shape) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return false;
  for (const char* next = text.c_str() + 1; *next != ')';) {
    if (*next == ' ' || *next == ',') {
      ++next;
      continue;
    }
    char* end = nullptr;
    const long long size = std::strtoll(next, &end, 10);
    if (end == next || size < 0 || size == INT64_MAX || out_shape->size() == kMaximumRank) return false;
    out_shape->push_back(size);
    next = end;
  }
  return true;
}

runtime::Status copy_output(void* context, size_t index, void* out_data) {
  const auto& outputs = *static_cast<const std::vector<NamedOutput>*>(context);
  const Tensor& tensor = *outputs[index].tensor;
  if (tensor.byte_size() != 0) std::memcpy(out_data, tensor.raw(), tensor.byte_size());
  return runtime::Status();
}

}  // namespace

struct TensorFile::Storage {
  runtime::MappedFile file;
  runtime::SafetensorsReader reader;
};

TensorFile::TensorFile() = default;
TensorFile::~TensorFile() = default;

std::string TensorFile::open(const std::string& path) {
  path_ = path;
  tensors_.clear();
  storage_ = std::make_unique<Storage>();
  const runtime::Status status = storage_->file.open(path.c_str());
  if (!status.ok()) return status.message();
  const bool npy = storage_->file.byte_size() >= kNpyMagicBytes &&
                   std::memcmp(storage_->file.data(), kNpyMagic, kNpyMagicBytes) == 0;
  return npy ? open_npy() : open_safetensors();
}

std::string TensorFile::open_safetensors() {
  const runtime::Status status = storage_->reader.parse(storage_->file.data(), storage_->file.byte_size(),
                                                        path_.c_str(), runtime::system_allocator());
  if (!status.ok()) return status.message();
  for (size_t i = 0; i < storage_->reader.size(); ++i) {
    const runtime::NamedTensor& tensor = storage_->reader[i];
    tensors_.push_back(
        {tensor.name, to_c(tensor.dtype), {tensor.shape, tensor.shape + tensor.rank}, tensor.data, tensor.byte_size});
  }
  return "";
}

std::string TensorFile::open_npy() {
  const uint8_t* bytes = storage_->file.data();
  const uint64_t size = storage_->file.byte_size();
  const std::string invalid = format("'%s' is not a valid .npy file: ", path_.c_str());
  // Version 1 has a header length of 2 bytes, later ones of 4.
  if (size < 12) return invalid + "it is truncated";
  const bool wide = bytes[6] > 1;
  uint64_t header_size = bytes[8] | bytes[9] << 8;
  if (wide) header_size |= static_cast<uint64_t>(bytes[10]) << 16 | static_cast<uint64_t>(bytes[11]) << 24;
  const uint64_t data_begin = (wide ? 12 : 10) + header_size;
  if (data_begin > size) return invalid + "it is truncated";
  const std::string header(reinterpret_cast<const char*>(bytes) + (wide ? 12 : 10), header_size);

  FileTensor tensor;
  std::string descriptor = npy_value(header, "descr");
  if (descriptor.size() > 2) descriptor = descriptor.substr(1, descriptor.size() - 2);
  const runtime::DataTypeNames* type = runtime::find_npy_type(descriptor.data(), descriptor.size());
  if (type == nullptr) return invalid + "its dtype '" + descriptor + "' is not supported";
  if (npy_value(header, "fortran_order") != "False") return invalid + "it is not row-major";
  if (!parse_npy_shape(npy_value(header, "shape"), &tensor.shape)) return invalid + "its shape is malformed";
  tensor.dtype = {type->code, type->bits, 1};
  tensor.data = bytes + data_begin;
  if (!runtime::logical_byte_size(to_schema(tensor.dtype), tensor.shape.data(),
                                  static_cast<uint32_t>(tensor.shape.size()), &tensor.byte_size) ||
      tensor.byte_size != size - data_begin)
    return invalid + "its size does not fit its shape and dtype";
  tensors_.push_back(std::move(tensor));
  return "";
}

const FileTensor* TensorFile::find(const std::string& name) const {
  for (const FileTensor& tensor : tensors_)
    if (tensor.name == name) return &tensor;
  return nullptr;
}

std::string TensorFile::names() const {
  std::string result;
  for (const FileTensor& tensor : tensors_) result += (result.empty() ? "" : ", ") + tensor.name;
  return result.empty() ? "none" : result;
}

std::string write_safetensors_file(const std::string& path, const std::vector<NamedOutput>& outputs) {
  std::vector<runtime::NamedTensor> tensors;
  for (const NamedOutput& output : outputs)
    tensors.push_back({output.name.c_str(), to_schema(output.tensor->dtype()),
                       static_cast<uint32_t>(output.tensor->shape().size()), output.tensor->shape().data(), nullptr,
                       output.tensor->byte_size()});
  const runtime::Status status =
      runtime::write_safetensors(path.c_str(), tensors.data(), tensors.size(), nullptr, 0, copy_output,
                                 const_cast<std::vector<NamedOutput>*>(&outputs), runtime::system_allocator());
  return status.message();
}

std::string write_npy_file(const std::string& path, const Tensor& tensor) {
  const runtime::DataTypeNames* type = find_data_type(to_schema(tensor.dtype()));
  if (type == nullptr || type->npy[0] == '\0')
    return format("cannot write '%s': .npy has no dtype for %s", path.c_str(), type_name(tensor.dtype()).c_str());
  std::string shape;
  for (const int64_t size : tensor.shape()) shape += std::to_string(size) + ", ";
  std::string header = format("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type->npy, shape.c_str());
  // Magic, version 1.0 and a length of two bytes in front; the data begins at a multiple of 64.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string front(kNpyMagic, kNpyMagicBytes);
  front += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  front += header;
  runtime::AtomicFile file;
  runtime::Status status = file.create(path.c_str());
  if (status.ok()) status = file.write(front.data(), front.size());
  if (status.ok()) status = file.write(tensor.raw(), tensor.byte_size());
  if (status.ok()) status = file.commit();
  return status.message();
}

std::string type_name(FerruleDataType dtype) { return runtime::data_type_name(to_schema(dtype)); }

std::string shape_name(const std::vector<int64_t>& shape) {
  std::string result = "[";
  for (const int64_t size : shape) result += (result.size() > 1 ? ", " : "") + std::to_string(size);
  return result + "]";
}

}  // namespace ferrule::tools
