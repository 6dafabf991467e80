#include "runtime/testing/test_program.h"

extern "C" const void* test_artifact_bytes(uint64_t* out_byte_size) {
  static const std::vector<uint8_t> bytes = ferrule::runtime::testing::test_artifact();
  *out_byte_size = bytes.size();
  return bytes.data();
}
