#include "runtime/fuzz/seeds.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "runtime/testing/test_program.h"
#include "serialize/golden/sample_program.h"
#include "serialize/schema/artifact_header.h"
#include "serialize/writer/artifact_layout.h"
#include "serialize/writer/writer.h"

namespace ferrule::runtime::fuzz {
namespace {

using Bytes = std::vector<uint8_t>;

const Bytes& sample_artifact() {
  static const Bytes artifact = [] {
    std::string error;
    Bytes bytes = serialize::write_program(serialize::sample_program(), &error);
    if (bytes.empty()) std::abort();
    return bytes;
  }();
  return artifact;
}

// Its weights stay as they are, for nobody here looks at the tag.
Bytes encrypted_sample() {
  serialize::ProgramDescription program = serialize::sample_program();
  program.weights_key_name = "product";
  Bytes artifact;
  std::string error;
  const auto allocate = [&](uint64_t byte_size) {
    artifact.resize(byte_size);
    return artifact.data();
  };
  const auto encrypt = [](uint8_t*, uint64_t, const uint8_t*, uint64_t, uint8_t* out_tag, uint8_t* out_nonce) {
    std::memset(out_tag, 0, serialize::kWeightsTagBytes);
    std::memset(out_nonce, 0, serialize::kWeightsNonceBytes);
    return true;
  };
  if (!serialize::write_program(program, allocate, &error, encrypt)) std::abort();
  return artifact;
}

// The segments of an artifact that this process wrote.
std::vector<serialize::Segment> segments_of(const Bytes& artifact) {
  serialize::ArtifactHeader header;
  std::memcpy(&header, artifact.data(), sizeof header);
  const uint8_t* offsets = artifact.data() + sizeof header;
  const uint8_t* directory = offsets + header.segment_count * sizeof(uint64_t);
  std::vector<serialize::Segment> segments;
  for (uint32_t i = 0; i < header.segment_count; ++i) {
    uint64_t offset;
    serialize::SegmentEntry entry;
    std::memcpy(&offset, offsets + i * sizeof offset, sizeof offset);
    std::memcpy(&entry, directory + i * sizeof entry, sizeof entry);
    const auto begin = artifact.begin() + static_cast<std::ptrdiff_t>(offset);
    segments.push_back(serialize::hold_segment(static_cast<serialize::SegmentKind>(entry.kind), entry.name,
                                               entry.alignment,
                                               Bytes(begin, begin + static_cast<std::ptrdiff_t>(entry.size))));
  }
  return segments;
}

Bytes metadata_of(const Bytes& artifact) {
  const serialize::Segment metadata = segments_of(artifact)[0];
  Bytes bytes(metadata.size);
  metadata.write(bytes.data());
  return bytes;
}

Bytes safetensors(const std::string& header, size_t data_size) {
  const uint64_t header_size = header.size();
  Bytes bytes(sizeof header_size + header.size() + data_size);
  std::memcpy(bytes.data(), &header_size, sizeof header_size);
  std::memcpy(bytes.data() + sizeof header_size, header.data(), header.size());
  return bytes;
}

Bytes checkpoint() {
  return safetensors(
      R"({"__metadata__":{"format":"ferrule.checkpoint","seed":"1","epoch":"2","sample":"3","step":"4"},)"
      R"("w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
      R"("table":{"dtype":"F32","shape":[3,2],"data_offsets":[16,40]},)"
      R"("counter":{"dtype":"I32","shape":[],"data_offsets":[40,44]}})",
      44);
}

}  // namespace

Bytes test_program() {
  const char* kernels = std::getenv("FERRULE_TEST_KERNELS");
  return testing::to_artifact(kernels == nullptr ? testing::describe_test_program()
                                                 : testing::describe_test_program(kernels));
}

FerruleSession* create_test_session() {
  const std::vector<uint8_t> artifact = test_program();
  FerruleProgram* program = nullptr;
  FerruleSession* session = nullptr;
  FerruleSessionOptions options{};
  options.struct_size = sizeof(options);
  options.thread_count = 1;
  if (ferrule_program_open_bytes(artifact.data(), artifact.size(), nullptr, &program) != nullptr) std::abort();
  if (ferrule_session_create(program, &options, &session) != nullptr) std::abort();
  ferrule_program_release(program);
  return session;
}

Bytes artifact_with_metadata(Bytes metadata) {
  static const std::vector<serialize::Segment> sample = segments_of(sample_artifact());
  std::vector<serialize::Segment> segments = sample;
  segments[0] = serialize::hold_segment(segments[0].kind, "", segments[0].alignment, std::move(metadata));
  return serialize::frame_artifact(segments);
}

std::vector<std::pair<std::string, Bytes>> seeds(const std::string& fuzzer) {
  if (fuzzer == "open")
    return {{"sample", sample_artifact()}, {"encrypted", encrypted_sample()}, {"test_program", test_program()}};
  if (fuzzer == "verify")
    return {{"sample", metadata_of(sample_artifact())},
            {"encrypted", metadata_of(encrypted_sample())},
            {"test_program", metadata_of(test_program())}};
  if (fuzzer == "checkpoint") return {{"checkpoint", checkpoint()}};
  if (fuzzer == "safetensors")
    return {{"checkpoint", checkpoint()},
            {"escapes", safetensors(R"({"\u00e9\ud83d\ude00\n":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]}})", 6)},
            {"empty", safetensors(R"({"a":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]}})", 0)}};
  if (fuzzer == "run") return {{"zeros", Bytes(256, 0)}, {"ones", Bytes(256, 1)}, {"bits", Bytes(256, 0xff)}};
  return {};
}

}  // namespace ferrule::runtime::fuzz
