#include "serialize/writer/writer.h"

#include <algorithm>

#include <cstring>

#include "catch2/catch.hpp"
#include "serialize/golden/sample_program.h"
#include "serialize/reader/reader.h"
#include "serialize/writer/format_features.h"
#include "serialize/schema/artifact_header.h"

namespace ferrule::serialize {
namespace {

ArtifactContents read(const std::vector<uint8_t>& artifact) {
  ArtifactContents contents;
  std::string error;
  REQUIRE(read_artifact(artifact.data(), artifact.size(), &contents, &error));
  return contents;
}

}  // namespace

TEST_CASE("equal descriptions give equal bytes") {
  std::string error;
  CHECK((write_program(sample_program(), &error) == write_program(sample_program(), &error)));
}

TEST_CASE("segments stand at their alignments, in order, with zeros between") {
  std::string error;
  const std::vector<uint8_t> artifact = write_program(sample_program(), &error);
  const ArtifactContents contents = read(artifact);
  // metadata, three images, debug, weights
  REQUIRE(contents.directory.size() == 6);
  CHECK(contents.header.header_size == 96 + 6 * (8 + 88));
  uint64_t end = contents.header.header_size;
  for (size_t i = 0; i < 6; ++i) {
    CHECK(contents.offsets[i] % 64 == 0);
    CHECK(contents.offsets[i] >= end);
    for (uint64_t gap = end; gap < contents.offsets[i]; ++gap) REQUIRE(artifact[gap] == 0);
    end = contents.offsets[i] + contents.directory[i].size;
  }
  CHECK(end == artifact.size());
  CHECK(std::string(contents.directory[3].name) == "x86-64-v2");
  // weight 128 bytes, position 24 padded to 64, constant 4
  CHECK(contents.directory[5].size == 128 + 64 + 4);
}

TEST_CASE("equal initial values stand in the weights once") {
  ProgramDescription program = sample_program();
  program.variables.push_back(program.variables[0]);
  program.variables.back().name = "twin";
  program.variables.back().aliases.clear();
  std::string error;
  const ArtifactContents contents = read(write_program(program, &error));
  CHECK(contents.directory[5].size == 128 + 64 + 4);
  CHECK(contents.program.variables[2].initial_value == program.variables[0].initial_value);
}

TEST_CASE("a program without weights and locations has neither segment") {
  ProgramDescription program = sample_program();
  program.variables.clear();
  program.constants.clear();
  program.locations.clear();
  std::string error;
  CHECK(read(write_program(program, &error)).directory.size() == 4);
}

TEST_CASE("what does not fit the format is refused by name") {
  std::string error;
  ProgramDescription program = sample_program();
  program.targets[1].name = std::string(32, 'x');
  CHECK(write_program(program, &error).empty());
  CHECK(error == "target name 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' must have 1 to 31 bytes");
  program.targets.resize(62, program.targets[0]);
  CHECK(write_program(program, &error).empty());
  CHECK(error == "an artifact holds at most 61 targets, not 62");
}

TEST_CASE("the oldest reader follows from what a program uses") {
  const ProgramDescription program = sample_program();
  CHECK(minimum_reader_version(program) == 1);
  CHECK(missing_features(program, 0) == std::vector<std::string>{"the first frozen format (version 1)"});
  CHECK(missing_features(program, 1).empty());
  std::string error;
  const ArtifactContents contents = read(write_program(program, &error));
  CHECK(contents.header.format_version == kFormatVersion);
  CHECK(contents.header.minimum_reader_version == 1);
}

TEST_CASE("encrypted weights end in tag and nonce, the tag is over all of the directory but their hash, and need version 2") {
  ProgramDescription program = sample_program();
  program.weights_key_name = "product";
  CHECK(minimum_reader_version(program) == 2);
  CHECK(missing_features(program, 1) == std::vector<std::string>{"encrypted weights (version 2)"});
  std::vector<uint8_t> artifact, plain, vouched;
  const auto allocate = [&](uint64_t byte_size) {
    artifact.resize(byte_size);
    return artifact.data();
  };
  // No cipher: what is written is what it was given, inverted.
  const auto invert = [&](uint8_t* weights, uint64_t byte_size, const uint8_t* associated, uint64_t associated_byte_size,
                          uint8_t* out_tag, uint8_t* out_nonce) {
    plain.assign(weights, weights + byte_size);
    vouched.assign(associated, associated + associated_byte_size);
    for (uint64_t i = 0; i < byte_size; ++i) weights[i] = static_cast<uint8_t>(~weights[i]);
    std::fill_n(out_tag, 16, uint8_t{0xaa});
    std::fill_n(out_nonce, 12, uint8_t{0xbb});
    return true;
  };
  std::string error;
  REQUIRE(write_program(program, allocate, &error, invert));
  const ArtifactContents contents = read(artifact);
  CHECK(contents.header.minimum_reader_version == 2);
  CHECK(contents.program.weights_key_name == "product");
  const SegmentEntry& weights = contents.directory.back();
  REQUIRE(weights.size == plain.size() + 28);
  CHECK(artifact[contents.offsets.back()] == static_cast<uint8_t>(~plain[0]));
  CHECK(artifact[artifact.size() - 13] == 0xaa);
  CHECK(artifact.back() == 0xbb);
  const auto* directory = reinterpret_cast<const uint8_t*>(contents.directory.data());
  CHECK(vouched == std::vector<uint8_t>(directory, directory + contents.directory.size() * sizeof(SegmentEntry) - 32));

  CHECK_FALSE(write_program(program, allocate, &error));
  CHECK(error == "the weights are encrypted with the key 'product': without it the artifact cannot be written again");
}

}  // namespace ferrule::serialize
