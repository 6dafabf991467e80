// Tensors in files: safetensors (many tensors by name) and .npy (one).
#ifndef FERRULE_RUNTIME_TOOLS_TENSOR_FILES_H_
#define FERRULE_RUNTIME_TOOLS_TENSOR_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/api/ferrule.hpp"

namespace ferrule::tools {

// A tensor of an opened file: its bytes stay where the file is mapped.
struct FileTensor {
  std::string name;
  FerruleDataType dtype{};
  std::vector<int64_t> shape;
  const uint8_t* data = nullptr;
  uint64_t byte_size = 0;

  TensorView view() const { return TensorView(dtype, shape, data, byte_size); }
};

// An opened safetensors or .npy file. A .npy file holds one tensor, without a name.
class TensorFile {
 public:
  TensorFile();
  ~TensorFile();
  // Empty when all is well, else a sentence that names the file.
  std::string open(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<FileTensor>& tensors() const { return tensors_; }
  const FileTensor* find(const std::string& name) const;
  // "image, label".
  std::string names() const;

 private:
  std::string open_safetensors();
  std::string open_npy();

  struct Storage;
  std::unique_ptr<Storage> storage_;
  std::string path_;
  std::vector<FileTensor> tensors_;
};

struct NamedOutput {
  std::string name;
  const Tensor* tensor;
};

// Both replace the file in one step. Empty when all is well.
std::string write_safetensors_file(const std::string& path, const std::vector<NamedOutput>& outputs);
std::string write_npy_file(const std::string& path, const Tensor& tensor);

std::string type_name(FerruleDataType dtype);               // "float32"
std::string shape_name(const std::vector<int64_t>& shape);  // "[64, 1, 8, 8]"

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_TENSOR_FILES_H_
