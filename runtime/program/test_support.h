// Opens artifacts in memory for the tests of this folder.
#ifndef FERRULE_RUNTIME_PROGRAM_TEST_SUPPORT_H_
#define FERRULE_RUNTIME_PROGRAM_TEST_SUPPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "runtime/program/program.h"
#include "serialize/golden/sample_program.h"
#include "serialize/writer/artifact_layout.h"
#include "serialize/writer/writer.h"

namespace ferrule::runtime {

struct Release {
  void operator()(Program* program) const { program->release(); }
};
using ProgramPointer = std::unique_ptr<Program, Release>;

// Holds the bytes on the heap, without slack, so that a sanitizer sees the first byte beyond. *out_error is "" on
// success.
inline ProgramPointer open_bytes(const std::vector<uint8_t>& bytes, std::string* out_error,
                                 OpenOptions options = OpenOptions()) {
  Program* program = nullptr;
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const Status status = Program::open_memory(exact.get(), bytes.size(), true, options, &program);
  *out_error = status.message();
  return ProgramPointer(status.ok() ? program : nullptr);
}

inline std::vector<uint8_t> write_bytes(const serialize::ProgramDescription& description) {
  std::string error;
  return serialize::write_program(description, &error);
}

inline ProgramPointer open_description(const serialize::ProgramDescription& description, std::string* out_error) {
  return open_bytes(write_bytes(description), out_error);
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_TEST_SUPPORT_H_
