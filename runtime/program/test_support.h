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

// Of a program that names a key the weights are "encrypted" by inverting them; tag and nonce count from 1.
inline std::vector<uint8_t> write_bytes(const serialize::ProgramDescription& description) {
  const auto invert = [](uint8_t* weights, uint64_t byte_size, const uint8_t*, uint64_t, uint8_t* out_tag,
                         uint8_t* out_nonce) {
    for (uint64_t i = 0; i < byte_size; ++i) weights[i] = static_cast<uint8_t>(~weights[i]);
    for (uint8_t i = 0; i < serialize::kWeightsTagBytes; ++i) out_tag[i] = static_cast<uint8_t>(1 + i);
    for (uint8_t i = 0; i < serialize::kWeightsNonceBytes; ++i) out_nonce[i] = static_cast<uint8_t>(17 + i);
    return true;
  };
  std::vector<uint8_t> artifact;
  const auto allocate = [&](uint64_t byte_size) {
    artifact.resize(byte_size);
    return artifact.data();
  };
  std::string error;
  if (!serialize::write_program(description, allocate, &error, invert)) artifact.clear();
  return artifact;
}

inline ProgramPointer open_description(const serialize::ProgramDescription& description, std::string* out_error) {
  return open_bytes(write_bytes(description), out_error);
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_TEST_SUPPORT_H_
