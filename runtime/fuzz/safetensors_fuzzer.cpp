// Any bytes as a safetensors file: what is read lies inside the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runtime/data/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t byte_size) {
  using namespace ferrule::runtime;
  SafetensorsReader reader;
  if (!reader.parse(bytes, byte_size, "fuzzed", system_allocator()).ok()) return 0;
  for (size_t i = 0; i < reader.size(); ++i) {
    const NamedTensor& tensor = reader[i];
    if (tensor.byte_size != 0 && (tensor.data < bytes || tensor.data + tensor.byte_size > bytes + byte_size)) std::abort();
    if (reader.find(tensor.name) == nullptr) std::abort();
    for (uint32_t axis = 0; axis < tensor.rank; ++axis)
      if (tensor.shape[axis] < 0) std::abort();
  }
  const char* step = reader.metadata("step");
  return step != nullptr && std::strlen(step) > byte_size ? (std::abort(), 0) : 0;
}
