// Edited artifacts whose hashes were made right again, so that the verifier itself must refuse them, or let through a
// program on which everything that follows opening is safe. Also built with AddressSanitizer and UBSan.
#include <cstring>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/program/exercise.h"
#include "runtime/program/test_support.h"
#include "serialize/schema/artifact_header.h"

namespace ferrule::runtime {
namespace {

using serialize::ArtifactHeader;
using serialize::SegmentEntry;
using Bytes = std::vector<uint8_t>;

// The directory of an untouched artifact.
struct Frame {
  ArtifactHeader header;
  std::vector<uint64_t> offsets;
  std::vector<SegmentEntry> directory;

  explicit Frame(const Bytes& artifact) {
    std::memcpy(&header, artifact.data(), sizeof header);
    offsets.resize(header.segment_count);
    directory.resize(header.segment_count);
    std::memcpy(offsets.data(), artifact.data() + sizeof header, offsets.size() * sizeof(uint64_t));
    std::memcpy(directory.data(), artifact.data() + sizeof header + offsets.size() * sizeof(uint64_t),
                directory.size() * sizeof(SegmentEntry));
  }
};

struct Outcome {
  size_t refused = 0, opened = 0;
};

void try_open(const Bytes& artifact, Outcome* outcome) {
  std::string error;
  const ProgramPointer program = open_bytes(artifact, &error, options_that_decrypt());
  if (program == nullptr) {
    REQUIRE(error != "");
    ++outcome->refused;
  } else {
    CHECK(exercise(*program));
    ++outcome->opened;
  }
}

// Each byte of [begin, end) becomes 0, 0xFF, and itself with the lowest or highest bit flipped; hashes are made right.
Outcome edit_each_byte(const Bytes& artifact, uint64_t begin, uint64_t end) {
  Outcome outcome;
  Bytes edited = artifact;
  for (uint64_t at = begin; at < end; ++at) {
    const uint8_t before = artifact[at];
    for (const uint8_t value : {uint8_t{0}, uint8_t{0xff}, uint8_t(before ^ 1), uint8_t(before ^ 0x80)}) {
      if (value == before) continue;
      edited[at] = value;
      serialize::reseal_artifact(edited);
      try_open(edited, &outcome);
      std::copy(artifact.begin(), artifact.begin() + static_cast<ptrdiff_t>(Frame(artifact).header.header_size),
                edited.begin());
      edited[at] = before;
    }
  }
  return outcome;
}

}  // namespace

TEST_CASE("every byte of header and directory, edited and resealed") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Outcome outcome = edit_each_byte(artifact, 0, Frame(artifact).header.header_size);
  // What resealing restores (the hashes) opens, a newer version that is for old readers too, and a few sizes that grow
  // into the zeros behind a segment.
  CHECK(outcome.opened <= (32 + 6 * 32) * 4 + 32);
  CHECK(outcome.refused > 1000);
}

TEST_CASE("every byte of the metadata, edited and resealed") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Frame frame(artifact);
  const Outcome outcome = edit_each_byte(artifact, frame.offsets[0], frame.offsets[0] + frame.directory[0].size);
  // Values that may be anything (a name, a size that still fits) open; the greater part is structure and is refused.
  CHECK(outcome.refused > outcome.opened);
}

TEST_CASE("every byte of the metadata of encrypted weights, and each length of their segment, edited and resealed") {
  serialize::ProgramDescription description = serialize::sample_program();
  description.weights_key_name = "product";
  const Bytes artifact = write_bytes(description);
  const Frame frame(artifact);
  const Outcome outcome = edit_each_byte(artifact, frame.offsets[0], frame.offsets[0] + frame.directory[0].size);
  CHECK(outcome.refused > outcome.opened);
  Outcome cut;
  const size_t last = frame.directory.size() - 1;
  for (uint64_t size = 0; size < frame.directory[last].size; ++size) {
    Bytes shorter(artifact.begin(), artifact.begin() + static_cast<ptrdiff_t>(frame.offsets[last] + size));
    const uint64_t total_size = shorter.size();
    std::memcpy(shorter.data() + offsetof(ArtifactHeader, total_size), &total_size, sizeof total_size);
    std::memcpy(shorter.data() + sizeof(ArtifactHeader) + frame.offsets.size() * sizeof(uint64_t) +
                    last * sizeof(SegmentEntry) + offsetof(SegmentEntry, size),
                &size, sizeof size);
    serialize::reseal_artifact(shorter);
    try_open(shorter, &cut);
  }
  CHECK(cut.opened == 0);
}

TEST_CASE("every byte of the debug segment, edited and resealed") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Frame frame(artifact);
  const Outcome outcome = edit_each_byte(artifact, frame.offsets[4], frame.offsets[4] + frame.directory[4].size);
  CHECK(outcome.refused > 50);
}

TEST_CASE("truncated at every 64 bytes and at each of the last 64") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const auto refuse = [&](size_t size) {
    Bytes truncated(artifact.begin(), artifact.begin() + static_cast<ptrdiff_t>(size));
    std::string error;
    REQUIRE(open_bytes(truncated, &error) == nullptr);
    // Also when the header was adjusted to the new size.
    if (size >= sizeof(ArtifactHeader)) {
      const uint64_t total_size = size;
      std::memcpy(truncated.data() + offsetof(ArtifactHeader, total_size), &total_size, sizeof total_size);
      serialize::reseal_artifact(truncated);
      REQUIRE(open_bytes(truncated, &error) == nullptr);
    }
  };
  for (size_t size = 0; size < artifact.size(); size += 64) refuse(size);
  for (size_t size = artifact.size() - 64; size < artifact.size(); ++size) refuse(size);
}

TEST_CASE("seeded edits of the code are refused; of the weights they open, or are refused when those are verified") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Frame frame(artifact);
  std::mt19937 random(7);
  OpenOptions all;
  all.verify_weights = true;
  for (int i = 0; i < 1000; ++i) {
    const uint32_t segment = 1 + random() % 3;  // one of the three images
    Bytes edited = artifact;
    edited[frame.offsets[segment] + random() % frame.directory[segment].size] ^=
        static_cast<uint8_t>(1 + random() % 255);
    std::string error;
    REQUIRE(open_bytes(edited, &error) == nullptr);
    REQUIRE(error.find("was edited: its code for ") != std::string::npos);

    edited = artifact;
    edited[frame.offsets[5] + random() % frame.directory[5].size] ^= static_cast<uint8_t>(1 + random() % 255);
    Outcome outcome;
    try_open(edited, &outcome);
    REQUIRE(outcome.opened == 1);
    REQUIRE(open_bytes(edited, &error, all) == nullptr);
  }
}

TEST_CASE("seeded edits of several bytes at once") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Frame frame(artifact);
  std::mt19937 random(11);
  Outcome outcome;
  for (int i = 0; i < 3000; ++i) {
    Bytes edited = artifact;
    for (int edits = 2 + static_cast<int>(random() % 6); edits > 0; --edits) {
      edited[frame.offsets[0] + random() % frame.directory[0].size] =
          static_cast<uint8_t>(random() % 4 == 0 ? random() : random() % 9);
    }
    serialize::reseal_artifact(edited);
    try_open(edited, &outcome);
  }
  CHECK(outcome.refused > 1000);
}

}  // namespace ferrule::runtime
