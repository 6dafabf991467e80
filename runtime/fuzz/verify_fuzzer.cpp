// Any bytes as the metadata of an artifact whose frame and hashes are right: the verifier is all that stands between
// them and a session.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "runtime/fuzz/seeds.h"
#include "runtime/program/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t byte_size) {
  using namespace ferrule::runtime;
  const std::vector<uint8_t> artifact = fuzz::artifact_with_metadata({bytes, bytes + byte_size});
  Program* program = nullptr;
  if (!Program::open_memory(artifact.data(), artifact.size(), true, options_that_decrypt(), &program).ok()) return 0;
  if (!exercise(*program)) std::abort();
  program->release();
  return 0;
}
