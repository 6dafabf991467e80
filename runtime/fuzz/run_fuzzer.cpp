// Calls of a sound program with whatever a caller may get wrong: entry, counts, shapes, dtypes, sizes and values.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <memory>

#include "runtime/api/ferrule.h"
#include "runtime/fuzz/seeds.h"

namespace {

constexpr uint32_t kMaximumTensors = 4;

struct FuzzedTensor {
  FerruleTensor tensor{};
  int64_t shape[4] = {};
  std::unique_ptr<uint8_t[]> data;  // exactly byte_size, so that a sanitizer sees the first byte beyond
};

void pick(FuzzedDataProvider& choices, bool is_output, FuzzedTensor* out) {
  FerruleTensor& tensor = out->tensor;
  tensor.struct_size = sizeof(tensor);
  const FerruleDataType types[] = {{2, 32, 1}, {0, 32, 1}, {0, 64, 1}, {6, 8, 1}, {2, 64, 1}, {9, 1, 0}};
  tensor.dtype = choices.PickValueInArray(types);
  tensor.rank = choices.ConsumeIntegralInRange<uint32_t>(0, 4);
  tensor.shape = out->shape;
  uint64_t elements = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    out->shape[axis] = choices.ConsumeBool() ? 4 : choices.ConsumeIntegralInRange<int64_t>(-1, 12);
    if (out->shape[axis] >= 0) elements *= static_cast<uint64_t>(out->shape[axis]);
  }
  if (is_output && choices.ConsumeBool()) return;  // a view of the session
  tensor.byte_size = choices.ConsumeProbability<float>() < 0.8f ? elements * tensor.dtype.bits / 8
                                                                : choices.ConsumeIntegralInRange<uint64_t>(0, 256);
  out->data = std::make_unique<uint8_t[]>(tensor.byte_size);
  tensor.data = out->data.get();
  // Small numbers: a count of loop steps is one of them, and two milliards of steps are a sound run.
  for (uint64_t at = 0; at + 3 < tensor.byte_size; at += tensor.dtype.bits == 64 ? 8 : 4)
    out->data[at] = choices.ConsumeIntegralInRange<uint8_t>(0, 20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t byte_size) {
  static FerruleSession* const session = ferrule::runtime::fuzz::create_test_session();
  static const char* const kEntries[] = {"predict", "train",  "evaluate", "fail",        "check",    "halve",    "threads",
                                         "pair",    "repeat", "choose",   "scan",        "triangle", "positive", "check_each",
                                         "nothing"};
  FuzzedDataProvider choices(bytes, byte_size);
  for (int calls = 0; calls < 4 && choices.remaining_bytes() > 0; ++calls) {
    const char* entry = choices.PickValueInArray(kEntries);
    const auto input_count = choices.ConsumeIntegralInRange<uint32_t>(0, kMaximumTensors);
    const auto output_count = choices.ConsumeIntegralInRange<uint32_t>(0, kMaximumTensors);
    FuzzedTensor inputs[kMaximumTensors], outputs[kMaximumTensors];
    FerruleTensor c_inputs[kMaximumTensors], c_outputs[kMaximumTensors];
    for (uint32_t i = 0; i < input_count; ++i) pick(choices, false, &inputs[i]), c_inputs[i] = inputs[i].tensor;
    for (uint32_t i = 0; i < output_count; ++i) pick(choices, true, &outputs[i]), c_outputs[i] = outputs[i].tensor;
    const bool run = choices.ConsumeProbability<float>() < 0.9f;
    FerruleStatus* status = (run ? ferrule_session_run : ferrule_session_output_shapes)(
        session, entry, c_inputs, input_count, c_outputs, output_count);
    if (ferrule_status_code(status) == kFerruleInternal) std::abort();
    ferrule_status_release(status);
  }
  ferrule_status_release(ferrule_session_reset(session));
  return 0;
}
