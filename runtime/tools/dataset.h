// The samples of a safetensors file, as batches for an entry: one tensor of the file for each input, by name; the first
// axis counts samples.
#ifndef FERRULE_RUNTIME_TOOLS_DATASET_H_
#define FERRULE_RUNTIME_TOOLS_DATASET_H_

#include <string>
#include <vector>

#include "runtime/tools/tensor_files.h"

namespace ferrule::tools {

class Dataset {
 public:
  // Empty when all is well, else a sentence that names the file and the tensor. Dtypes and the other axes are checked
  // by the session when a batch runs.
  std::string open(const std::string& path, const Program& program, uint32_t entry);

  const std::string& path() const { return file_.path(); }
  uint64_t sample_count() const { return sample_count_; }

  // Copies samples order[0 .. count) together; the views stay valid until the next call.
  const std::vector<TensorView>& gather(const uint64_t* order, uint64_t count);

 private:
  TensorFile file_;
  uint64_t sample_count_ = 0;
  std::vector<const FileTensor*> tensors_;  // in the entry's order
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::vector<uint8_t>> buffers_;
  std::vector<TensorView> views_;
};

}  // namespace ferrule::tools

#endif  // FERRULE_RUNTIME_TOOLS_DATASET_H_
