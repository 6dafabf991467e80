// Any bytes as a checkpoint: refused with the variables unchanged, or loaded.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/api/ferrule.h"
#include "runtime/fuzz/seeds.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t byte_size) {
  static FerruleSession* const session = ferrule::runtime::fuzz::create_test_session();
  const int file = memfd_create("checkpoint", 0);
  if (file < 0 || write(file, bytes, byte_size) != static_cast<ssize_t>(byte_size)) std::abort();
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
  ferrule_status_release(ferrule_session_reset(session));
  FerruleTrainingPosition position{};
  position.struct_size = sizeof(position);
  FerruleStatus* status = ferrule_session_load_checkpoint(session, path, &position);
  close(file);
  float weights[4];
  if (ferrule_session_get_variable(session, "w", weights, sizeof(weights)) != nullptr) std::abort();
  const float initial[4] = {1, 2, 3, 4};
  if (status != nullptr && std::memcmp(weights, initial, sizeof(weights)) != 0) std::abort();
  ferrule_status_release(status);
  return 0;
}
