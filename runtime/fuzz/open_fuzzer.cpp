// Any bytes as an artifact: opening refuses them, or what follows is safe.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/program/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t byte_size) {
  using namespace ferrule::runtime;
  Program* program = nullptr;
  // At an odd address, for an artifact may lie anywhere in memory.
  std::vector<uint8_t> shifted(byte_size + 1);
  if (byte_size != 0) std::memcpy(shifted.data() + 1, bytes, byte_size);
  const Status status = Program::open_memory(shifted.data() + 1, byte_size, true, options_that_decrypt(), &program);
  if (!status.ok()) {
    if (status.message()[0] == '\0') std::abort();
    return 0;
  }
  if (!exercise(*program)) std::abort();
  program->release();
  return 0;
}
