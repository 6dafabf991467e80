#include "runtime/tools/metrics.h"

#include "runtime/tools/text.h"

namespace ferrule::tools {
namespace {

constexpr uint8_t kInteger = 0, kUnsigned = 1, kFloat = 2;

// The only element of a tensor without axes.
double scalar(const Tensor& tensor) {
  if (tensor.is<float>()) return *tensor.data<float>();
  if (tensor.is<double>()) return *tensor.data<double>();
  if (tensor.is<int32_t>()) return *tensor.data<int32_t>();
  if (tensor.is<int64_t>()) return static_cast<double>(*tensor.data<int64_t>());
  if (tensor.is<uint32_t>()) return *tensor.data<uint32_t>();
  return static_cast<double>(*tensor.data<uint64_t>());
}

}  // namespace

Metrics::Metrics(const Program& program, uint32_t entry) {
  bool has_loss = false, has_accuracy = false;
  for (uint32_t i = 0; i < program.entry(entry).output_count; ++i) {
    const FerruleTensorInfo output = program.output(entry, i);
    const bool wide = output.dtype.bits == 32 || output.dtype.bits == 64;
    const bool mean = output.dtype.code == kFloat;
    if (output.rank != 0 || !wide || (!mean && output.dtype.code != kInteger && output.dtype.code != kUnsigned))
      continue;
    bool& named = mean ? has_loss : has_accuracy;
    sums_.push_back({i, !mean, named ? output.name : mean ? "loss" : "accuracy", 0});
    named = true;
  }
}

void Metrics::clear() {
  for (Sum& sum : sums_) sum.total = 0;
  samples_ = 0;
}

void Metrics::add(const std::vector<Tensor>& outputs, uint64_t samples) {
  for (Sum& sum : sums_) sum.total += scalar(outputs[sum.output]) * (sum.count ? 1.0 : static_cast<double>(samples));
  samples_ += samples;
}

std::vector<Metric> Metrics::values() const {
  std::vector<Metric> result;
  if (samples_ == 0) return result;
  for (const Sum& sum : sums_) result.push_back({sum.name, sum.total / static_cast<double>(samples_)});
  return result;
}

std::string describe(const std::vector<Metric>& metrics, const std::string& prefix) {
  std::string result;
  for (const Metric& metric : metrics)
    result += format("%s%s%s %.4f", result.empty() ? "" : "  ", prefix.c_str(), metric.name.c_str(), metric.value);
  return result;
}

}  // namespace ferrule::tools
