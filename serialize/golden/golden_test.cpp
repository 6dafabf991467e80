// Golden files: what an older Ferrule wrote must be what this one reads, and writes again to the same bytes.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <type_traits>

#include "catch2/catch.hpp"
#include "serialize/golden/sample_program.h"
#include "serialize/reader/reader.h"
#include "serialize/writer/writer.h"

namespace ferrule::serialize {
namespace {

std::vector<uint8_t> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string golden_path(uint32_t version) { return "serialize/golden/sample_v" + std::to_string(version) + ".fer"; }

// In the header. (Bytes may be const: a test only reads those.)
template <typename Bytes>
auto& version_of(Bytes& bytes) {
  return reinterpret_cast<std::conditional_t<std::is_const_v<Bytes>, const ArtifactHeader, ArtifactHeader>*>(bytes.data())
      ->format_version;
}

}  // namespace

TEST_CASE("the golden file of every version is what the writer writes today, but for the version in the header") {
  for (uint32_t version = kOldestReadableVersion; version <= kFormatVersion; ++version) {
    std::string error;
    std::vector<uint8_t> written = write_program(sample_program(), &error);
    const std::vector<uint8_t> golden = read_file(golden_path(version).c_str());
    REQUIRE(error == "");
    REQUIRE(written.size() == golden.size());
    CHECK(version_of(golden) == version);
    CHECK(version_of(written) == kFormatVersion);
    version_of(written) = version;
    CHECK((written == golden));
  }
}

TEST_CASE("a golden file survives reading and writing unchanged, but for the version in the header") {
  for (uint32_t version = kOldestReadableVersion; version <= kFormatVersion; ++version) {
    std::vector<uint8_t> golden = read_file(golden_path(version).c_str());
    ArtifactContents contents;
    std::string error;
    REQUIRE(read_artifact(golden.data(), golden.size(), &contents, &error));
    version_of(golden) = kFormatVersion;
    CHECK((write_program(contents.program, &error) == golden));
  }
}

TEST_CASE("reading gives back what was written") {
  const std::vector<uint8_t> golden = read_file("serialize/golden/sample_v1.fer");
  ArtifactContents contents;
  std::string error;
  REQUIRE(read_artifact(golden.data(), golden.size(), &contents, &error));
  const ProgramDescription expected = sample_program();
  const ProgramDescription& actual = contents.program;
  CHECK(actual.producer == expected.producer);
  REQUIRE(actual.targets.size() == 3);
  CHECK(actual.targets[1].code == expected.targets[1].code);
  REQUIRE(actual.variables.size() == 2);
  CHECK(actual.variables[0].initial_value == expected.variables[0].initial_value);
  CHECK(actual.variables[0].aliases == expected.variables[0].aliases);
  CHECK(actual.variables[1].trainable == false);
  REQUIRE(actual.entries.size() == 3);
  CHECK(actual.entries[0].blocks[0].instructions[1].location == 2);
  CHECK(actual.entries[1].assigned_variables == expected.entries[1].assigned_variables);
  CHECK(actual.locations == expected.locations);
}

TEST_CASE("reading gives back control flow") {
  const std::vector<uint8_t> golden = read_file("serialize/golden/sample_v1.fer");
  ArtifactContents contents;
  std::string error;
  REQUIRE(read_artifact(golden.data(), golden.size(), &contents, &error));
  const EntryDescription& actual = contents.program.entries[2];
  CHECK(actual.dims[1].source == DimSource::kIteration);
  CHECK(actual.dims[2].source == DimSource::kInstruction);
  CHECK(actual.dims[2].limit == 6);
  CHECK(actual.buffers[7].block == 1);
  using Kind = InstructionDescription::Kind;
  const std::vector<InstructionDescription>& body = actual.blocks[0].instructions;
  CHECK(body[0].kind == Kind::kBindDim);
  CHECK(body[0].dim == 2);
  CHECK(body[0].operands[0].buffer == 1);
  CHECK(body[2].kind == Kind::kLoop);
  CHECK(body[2].count == 7);
  CHECK(body[2].dim == 1);
  CHECK(body[2].blocks == std::vector<uint32_t>({1}));
  CHECK(body[3].kind == Kind::kIf);
  CHECK(body[3].operands[0].buffer == 2);
  CHECK(body[3].blocks == std::vector<uint32_t>({2, 3}));
  CHECK(body[4].kind == Kind::kWhile);
  CHECK(body[4].operands[0].buffer == 6);
  CHECK(body[4].blocks == std::vector<uint32_t>({4, 5}));
  CHECK(body[4].location == 2);
}

TEST_CASE("reading refuses edited and truncated artifacts") {
  std::string error;
  const std::vector<uint8_t> artifact = write_program(sample_program(), &error);
  ArtifactContents contents;
  for (size_t size = 0; size < artifact.size(); size += 61) {
    REQUIRE_FALSE(read_artifact(artifact.data(), size, &contents, &error));
  }
  std::vector<uint8_t> edited = artifact;
  edited.back() ^= 1;
  REQUIRE_FALSE(read_artifact(edited.data(), edited.size(), &contents, &error));
  CHECK(error == "segment 5 does not have its recorded hash");
}

}  // namespace ferrule::serialize
