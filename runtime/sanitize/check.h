// What the programs of this folder share. They are no Catch2 tests: everything in them is compiled for a sanitizer.
#ifndef FERRULE_RUNTIME_SANITIZE_CHECK_H_
#define FERRULE_RUNTIME_SANITIZE_CHECK_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "runtime/api/ferrule.h"

namespace ferrule::runtime::sanitize {

// Ends the process with a sentence unless `holds`.
inline void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::_Exit(1);
}

// The code of a status, which is released; what is not ok is printed with `what` if it is not expected.
inline FerruleStatusCode take(FerruleStatus* status) {
  const FerruleStatusCode code = ferrule_status_code(status);
  ferrule_status_release(status);
  return code;
}

inline void check_ok(FerruleStatus* status, const char* what) {
  if (status != nullptr) std::fprintf(stderr, "%s: %s\n", what, ferrule_status_message(status));
  check(take(status) == kFerruleOk, what);
}

template <typename T>
T sized() {
  T value{};
  value.struct_size = sizeof(T);
  return value;
}

inline FerruleTensor tensor_of(void* data, uint64_t byte_size, FerruleDataType dtype, uint32_t rank,
                               const int64_t* shape) {
  auto tensor = sized<FerruleTensor>();
  tensor.data = data;
  tensor.byte_size = byte_size;
  tensor.dtype = dtype;
  tensor.rank = rank;
  tensor.shape = shape;
  return tensor;
}

constexpr FerruleDataType kFloat{2, 32, 1};
constexpr FerruleDataType kInteger{0, 32, 1};

}  // namespace ferrule::runtime::sanitize

#endif  // FERRULE_RUNTIME_SANITIZE_CHECK_H_
