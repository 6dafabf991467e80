// Where the fuzzers start: sound artifacts, checkpoints and tensor files, made anew so that they follow the format.
#ifndef FERRULE_RUNTIME_FUZZ_SEEDS_H_
#define FERRULE_RUNTIME_FUZZ_SEEDS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/api/ferrule.h"

namespace ferrule::runtime::fuzz {

// The artifact of runtime/testing/test_program.h. FERRULE_TEST_KERNELS names its image, else it is where a test
// finds it.
std::vector<uint8_t> test_program();

// A session of that program on one thread, for the life of the process.
FerruleSession* create_test_session();

// The sample program of the golden file with other metadata, sealed.
std::vector<uint8_t> artifact_with_metadata(std::vector<uint8_t> metadata);

// Name and bytes of each seed of a fuzzer ("open", "verify", "run", "checkpoint", "safetensors").
std::vector<std::pair<std::string, std::vector<uint8_t>>> seeds(const std::string& fuzzer);

}  // namespace ferrule::runtime::fuzz

#endif  // FERRULE_RUNTIME_FUZZ_SEEDS_H_
