#include "runtime/tools/dataset.h"

#include <cstring>

#include "runtime/tools/text.h"

namespace ferrule::tools {

std::string Dataset::open(const std::string& path, const Program& program, uint32_t entry) {
  const std::string error = file_.open(path);
  if (!error.empty()) return error;
  const FerruleEntryInfo info = program.entry(entry);
  if (info.input_count == 0) return format("entry '%s' has no inputs, so there is nothing to feed it", info.name);
  for (uint32_t i = 0; i < info.input_count; ++i) {
    const char* name = program.input(entry, i).name;
    const FileTensor* tensor = file_.find(name);
    if (tensor == nullptr)
      return format("'%s' holds no tensor '%s', which entry '%s' needs; it holds: %s", path.c_str(), name, info.name,
                    file_.names().c_str());
    if (tensor->shape.empty())
      return format("'%s': tensor '%s' has no axes, but the first one must count samples", path.c_str(), name);
    const auto samples = static_cast<uint64_t>(tensor->shape[0]);
    if (i != 0 && samples != sample_count_)
      return format("'%s': tensor '%s' has %llu samples, but '%s' has %llu", path.c_str(), name,
                    static_cast<unsigned long long>(samples), tensors_[0]->name.c_str(),
                    static_cast<unsigned long long>(sample_count_));
    sample_count_ = samples;
    tensors_.push_back(tensor);
    shapes_.push_back(tensor->shape);
    buffers_.emplace_back();
  }
  return sample_count_ == 0 ? format("'%s' holds no samples", path.c_str()) : "";
}

const std::vector<TensorView>& Dataset::gather(const uint64_t* order, uint64_t count) {
  views_.clear();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const FileTensor& tensor = *tensors_[i];
    const uint64_t row = tensor.byte_size / sample_count_;
    std::vector<uint8_t>& buffer = buffers_[i];
    buffer.resize(row * count);
    for (uint64_t sample = 0; row != 0 && sample < count; ++sample)
      std::memcpy(buffer.data() + sample * row, tensor.data + order[sample] * row, row);
    shapes_[i][0] = static_cast<int64_t>(count);
    views_.emplace_back(tensor.dtype, shapes_[i], buffer.data(), buffer.size());
  }
  return views_;
}

}  // namespace ferrule::tools
