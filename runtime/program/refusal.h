// What the verifier says about a spoiled sample program.
#ifndef FERRULE_RUNTIME_PROGRAM_REFUSAL_H_
#define FERRULE_RUNTIME_PROGRAM_REFUSAL_H_

#include <functional>
#include <string>

#include "catch2/catch.hpp"
#include "runtime/program/test_support.h"

namespace ferrule::runtime {

inline std::string refusal(const std::function<void(serialize::ProgramDescription&)>& spoil) {
  serialize::ProgramDescription description = serialize::sample_program();
  spoil(description);
  std::string error;
  const ProgramPointer program = open_description(description, &error);
  CHECK(program == nullptr);
  const std::string prefix = "the artifact in memory: ";
  return error.substr(0, prefix.size()) == prefix ? error.substr(prefix.size()) : error;
}

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_REFUSAL_H_
