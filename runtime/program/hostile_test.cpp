// Edited artifacts whose hashes were made right again, so that the verifier itself must refuse them, or let through a
// program on which everything that follows opening is safe. Also built with AddressSanitizer and UBSan.
#include <cstring>
#include <random>
#include <vector>

#include "catch2/catch.hpp"
#include "runtime/program/call.h"
#include "runtime/program/expression.h"
#include "runtime/program/layout.h"
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

// Prepares a call with every dim of an input at the same value, then gives the other dims values as a run would, and
// checks all instructions; whether any of it is allowed does not matter here.
void prepare_call(const schema::Entry& entry, const EntryMap& map, int64_t (*pick)(const schema::Dim&)) {
  std::vector<int64_t> dims(entry.dims()->size()), values(entry.expressions()->size());
  std::vector<uint64_t> output_bytes(entry.outputs()->size());
  const CallValues call = {dims.data(), values.data(), output_bytes.data()};
  for (uint32_t i = 0; i < dims.size(); ++i) dims[i] = pick(*entry.dims()->Get(i));
  if (!evaluate_expressions(entry, map, dims.data(), values.data()).ok()) return;
  std::vector<std::vector<int64_t>> sizes;
  std::vector<Shape> shapes;
  for (const schema::TensorSpec* spec : *entry.inputs()) {
    auto& shape = sizes.emplace_back();
    for (uint32_t expression : *spec->shape()) shape.push_back(values[expression]);
    uint64_t byte_size;
    (void)tensor_byte_size(entry, *spec, values.data(), &byte_size).ok();
  }
  for (const auto& shape : sizes) shapes.push_back({shape.data(), static_cast<uint32_t>(shape.size())});
  if (!bind_dims(entry, shapes.data(), dims.data()).ok()) return;
  if (!evaluate_expressions(entry, map, dims.data(), values.data()).ok()) return;
  if (!check_call(entry, map, shapes.data(), call).ok()) return;
  for (uint32_t dim = 0; dim < dims.size(); ++dim) {
    if (entry.dims()->Get(dim)->source() == schema::DimSource_input) continue;
    (void)assign_dim(entry, map, dim, pick(*entry.dims()->Get(dim)), call).ok();
  }
  for (uint32_t block = 0; block < entry.blocks()->size(); ++block) {
    for (uint32_t i = 0; i < entry.blocks()->Get(block)->instructions()->size(); ++i) {
      (void)check_instruction(entry, map, block, i, call).ok();
    }
  }
}

// Unpacks and packs a variable in memory of exactly its size.
void repack(const Program& program, uint32_t index) {
  const schema::Variable& variable = *program.metadata()->variables()->Get(index);
  std::vector<uint8_t> physical(variable.byte_size()), logical(logical_byte_size(variable));
  if (!physical.empty()) std::memcpy(physical.data(), program.initial_value(index), physical.size());
  unpack(*program.metadata(), variable, physical.data(), logical.data());
  pack(*program.metadata(), variable, logical.data(), physical.data());
}

// Does what a session does before it runs anything.
void use(Program& program) {
  const schema::Program& metadata = *program.metadata();
  for (uint32_t i = 0; i < metadata.variables()->size(); ++i) {
    uint32_t found = 0;
    CHECK(program.find_variable(metadata.variables()->Get(i)->name()->c_str(), &found).ok());
    CHECK(found == i);
    repack(program, i);
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < metadata.constants()->size(); ++i) {
    for (uint64_t at = 0; at < metadata.constants()->Get(i)->byte_size(); ++at) sum += program.constant(i)[at];
  }
  for (uint32_t i = 0; i < metadata.entries()->size(); ++i) {
    const schema::Entry& entry = *metadata.entries()->Get(i);
    const EntryMap& map = program.entry_map(i);
    prepare_call(entry, map, [](const schema::Dim& dim) { return dim.min(); });
    prepare_call(entry, map, [](const schema::Dim& dim) { return dim.max(); });
    prepare_call(entry, map, [](const schema::Dim&) { return int64_t{3}; });
    for (const schema::Block* block : *entry.blocks()) {
      for (const schema::InstructionNode* node : *block->instructions()) {
        const schema::KernelCall* call = node->instruction_as_KernelCall();
        if (call != nullptr) sum += std::strlen(program.location(call->location()));
      }
    }
  }
  uint32_t target = 0;
  if (program.select_target(nullptr, &target).ok()) {
    for (uint32_t i = 0; i < metadata.kernels()->size(); ++i) CHECK(program.kernel(target, i) != nullptr);
  }
  CHECK(sum != UINT64_MAX);
}

struct Outcome {
  size_t refused = 0, opened = 0;
};

void try_open(const Bytes& artifact, Outcome* outcome) {
  std::string error;
  const ProgramPointer program = open_bytes(artifact, &error);
  if (program == nullptr) {
    REQUIRE(error != "");
    ++outcome->refused;
  } else {
    use(*program);
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
  // What resealing restores (the hashes) opens, and a few sizes that grow into the zeros behind a segment.
  CHECK(outcome.opened <= (32 + 6 * 32) * 4 + 16);
  CHECK(outcome.refused > 1000);
}

TEST_CASE("every byte of the metadata, edited and resealed") {
  const Bytes artifact = write_bytes(serialize::sample_program());
  const Frame frame(artifact);
  const Outcome outcome = edit_each_byte(artifact, frame.offsets[0], frame.offsets[0] + frame.directory[0].size);
  // Values that may be anything (a name, a size that still fits) open; the greater part is structure and is refused.
  CHECK(outcome.refused > outcome.opened);
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
