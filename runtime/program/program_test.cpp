#include "runtime/program/program.h"

#include <cstdio>
#include <cstring>

#include "catch2/catch.hpp"
#include "runtime/program/call.h"
#include "runtime/program/expression.h"
#include "runtime/program/test_support.h"
#include "serialize/schema/artifact_header.h"

namespace ferrule::runtime {
namespace {

using serialize::ArtifactHeader;
using serialize::sample_program;

constexpr char kGolden[] = "serialize/golden/sample_v1.fer";

ProgramPointer open_golden(OpenOptions options = OpenOptions()) {
  Program* program = nullptr;
  const Status status = Program::open(kGolden, options, &program);
  INFO(status.message());
  REQUIRE(status.ok());
  return ProgramPointer(program);
}

std::string open_error(const std::vector<uint8_t>& bytes, OpenOptions options = OpenOptions()) {
  std::string error;
  CHECK(open_bytes(bytes, &error, options) == nullptr);
  return error;
}

ArtifactHeader& header_of(std::vector<uint8_t>& bytes) { return *reinterpret_cast<ArtifactHeader*>(bytes.data()); }

}  // namespace

TEST_CASE("a golden file opens and shows what was written") {
  const ProgramPointer program = open_golden();
  CHECK(program->metadata()->producer()->str() == "ferrule golden sample");
  CHECK(program->segment_count() == 6);
  CHECK(program->segment(5).byte_size == 196);
  CHECK(program->file_byte_size() == 5380);
  CHECK(std::string(program->location(2)) == "model.py:4");
  CHECK(std::string(program->location(0)) == "");
  CHECK(reinterpret_cast<uintptr_t>(program->weights()) % 64 == 0);
  const float* weight = reinterpret_cast<const float*>(program->initial_value(0));
  CHECK(weight[0] == 1);
  CHECK(weight[16 + 2] == 6);
  CHECK(reinterpret_cast<const float*>(program->initial_value(1))[0] == 9);
  CHECK(*reinterpret_cast<const float*>(program->constant(0)) == 0.5f);
}

TEST_CASE("names are found, aliases too, and a wrong one lists what exists") {
  const ProgramPointer program = open_golden();
  uint32_t index = 9;
  REQUIRE(program->find_entry("store", &index).ok());
  CHECK(index == 1);
  REQUIRE(program->find_variable("alias.weight", &index).ok());
  CHECK(index == 0);
  REQUIRE(program->find_variable("position", &index).ok());
  CHECK(index == 1);
  CHECK(std::string(program->find_entry("train", &index).message()) ==
        "there is no entry 'train'; the program has: double_twice, store, double_some");
  CHECK(program->find_variable("bias", &index).code() == StatusCode::kNotFound);
  CHECK(std::string(program->find_variable("bias", &index).message()) ==
        "there is no variable 'bias'; the program has: alias.weight, layer.weight, position");
}

#if defined(__x86_64__)
TEST_CASE("a kernel of the golden file runs and gives the recorded outputs") {
  const ProgramPointer program = open_golden();
  for (const char* name : {"x86-64", "x86-64-v2"}) {
    uint32_t target = 0;
    REQUIRE(program->select_target(name, &target).ok());
    const FerruleKernelFunction kernel = program->kernel(target, 0);
    const float x[4] = {1, -2, 0.5f, 8};
    float y[4] = {};
    void* buffers[2] = {y, const_cast<float*>(x)};
    FerruleKernelArgs args = {};
    args.size = sizeof args;
    args.buffers = buffers;
    args.tile_begin = 1;
    args.tile_end = 4;
    CHECK(kernel(&args) == 0);
    CHECK(y[0] == 0);
    CHECK(y[1] == -4);
    CHECK(y[2] == 1);
    CHECK(y[3] == 16);
  }
}

TEST_CASE("the last target that the machine supports is chosen; others say why not") {
  const ProgramPointer program = open_golden();
  uint32_t target = 0;
  REQUIRE(program->select_target(nullptr, &target).ok());
  CHECK(program->metadata()->targets()->Get(target)->name()->str() == "x86-64-v2");
  REQUIRE(program->select_target("", &target).ok());
  Status status = program->select_target("x86-64-v9", &target);
  CHECK(status.code() == StatusCode::kNotFound);
  CHECK(std::string(status.message()) ==
        "there is no target 'x86-64-v9'; targets of the program: aarch64 (does not run here), x86-64 (runs here), "
        "x86-64-v2 (runs here)");
  status = program->select_target("aarch64", &target);
  CHECK(status.code() == StatusCode::kUnsupported);
  CHECK(std::string(status.message()).find("target 'aarch64' is not for this machine, which is x86-64") == 0);
}

TEST_CASE("a target whose features are unknown or missing is not chosen") {
  serialize::ProgramDescription description = sample_program();
  description.targets[2].features = {"sse4.2", "quantum"};
  std::string error;
  const ProgramPointer program = open_description(description, &error);
  REQUIRE(program != nullptr);
  uint32_t target = 0;
  REQUIRE(program->select_target(nullptr, &target).ok());
  CHECK(target == 1);
  CHECK(std::string(program->select_target("x86-64-v2", &target).message())
            .find("target 'x86-64-v2' needs the CPU feature 'quantum', which this machine lacks") == 0);
}
#endif

TEST_CASE("a version that this runtime cannot read is refused first, naming both and what to do") {
  std::vector<uint8_t> bytes = write_bytes(sample_program());
  header_of(bytes).format_version = 3;
  header_of(bytes).minimum_reader_version = 3;
  bytes.resize(200);
  CHECK(open_error(bytes) ==
        "the artifact in memory has format version 3 and needs a runtime that reads version 3; this one reads versions 1 to "
        "2: take a newer runtime, or compile the model with the Ferrule that this runtime belongs to");
  bytes = write_bytes(sample_program());
  header_of(bytes).format_version = 0;
  CHECK(open_error(bytes) ==
        "the artifact in memory has format version 0, which was never frozen; this runtime reads versions 1 to 2: compile it "
        "again");
}

TEST_CASE("a newer version is read if it says that this reader understands it") {
  std::vector<uint8_t> bytes = write_bytes(sample_program());
  header_of(bytes).format_version = 7;
  std::string error;
  CHECK(open_bytes(bytes, &error) != nullptr);
  header_of(bytes).reserved[31] = 1;
  CHECK(open_error(bytes) == "the artifact in memory: the header is damaged: a reserved byte is 1");
  bytes = write_bytes(sample_program());
  header_of(bytes).minimum_reader_version = 0;
  CHECK(open_bytes(bytes, &error) != nullptr);
}

namespace {

// Inverts, as test_support.h does to encrypt, and keeps what it was given.
struct Decryption {
  StatusCode result = StatusCode::kOk;
  std::string key_name;
  std::vector<uint8_t> seal, associated;

  static StatusCode run(void* context, const EncryptedWeights& weights) {
    auto& self = *static_cast<Decryption*>(context);
    self.key_name = weights.key_name;
    self.seal.assign(weights.tag, weights.tag + 16);
    self.seal.insert(self.seal.end(), weights.nonce, weights.nonce + 12);
    self.associated.assign(weights.associated, weights.associated + weights.associated_byte_size);
    for (uint64_t i = 0; i < weights.byte_size; ++i) weights.data[i] = static_cast<uint8_t>(~weights.data[i]);
    return self.result;
  }
};

}  // namespace

TEST_CASE("encrypted weights are opened by the caller's function, or not at all") {
  serialize::ProgramDescription description = sample_program();
  std::string error;
  const ProgramPointer plain = open_description(description, &error);
  description.weights_key_name = "product";
  const std::vector<uint8_t> bytes = write_bytes(description);
  Decryption decryption;
  OpenOptions options;
  options.decrypt = Decryption::run;
  options.decrypt_context = &decryption;
  options.verify_weights = true;
  const ProgramPointer program = open_bytes(bytes, &error, options);
  REQUIRE(program != nullptr);
  CHECK_FALSE(program->weights_are_sealed());
  REQUIRE(program->weights_byte_size() == plain->weights_byte_size());
  CHECK(memcmp(program->weights(), plain->weights(), plain->weights_byte_size()) == 0);
  CHECK(decryption.key_name == "product");
  CHECK(decryption.seal.front() == 1);
  CHECK(decryption.seal.back() == 28);
  CHECK(decryption.associated.size() == 6 * sizeof(serialize::SegmentEntry) - 32);

  decryption.result = StatusCode::kNotFound;
  CHECK(open_bytes(bytes, &error, options) == nullptr);
  CHECK(error == "the artifact in memory: there is no key 'product', with which its weights are encrypted");
  decryption.result = StatusCode::kInternal;
  CHECK(open_bytes(bytes, &error, options) == nullptr);
  CHECK(error ==
        "the artifact in memory: its weights do not open with the key 'product': it is not the one that they were encrypted "
        "with, or something was edited");
  options.decrypt = nullptr;
  const ProgramPointer sealed = open_bytes(bytes, &error, options);
  REQUIRE(sealed != nullptr);
  CHECK(sealed->weights_are_sealed());
  CHECK(sealed->weights() == nullptr);
}

TEST_CASE("foreign, missing and odd files are refused with a sentence") {
  CHECK(open_error({}) == "the artifact in memory is not a Ferrule artifact: it is empty");
  CHECK(open_error({'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0}) ==
        "the artifact in memory is not a Ferrule artifact: it begins with bytes 50 4b 03 04 and not 89 46 45 52");
  std::vector<uint8_t> translated = write_bytes(sample_program());
  translated.erase(translated.begin() + 4);
  CHECK(open_error(translated).find("were translated in a transfer") != std::string::npos);
  Program* program = nullptr;
  CHECK(std::string(Program::open("no/such.fer", OpenOptions(), &program).message()) ==
        "cannot open no/such.fer: No such file or directory");
  CHECK(Program::open("no/such.fer", OpenOptions(), &program).code() == StatusCode::kNotFound);
  CHECK(std::string(Program::open(".", OpenOptions(), &program).message()) == ". is not a regular file");
  CHECK(program == nullptr);
}

TEST_CASE("edited bytes are refused by the hashes; weights when they are asked for") {
  const std::vector<uint8_t> bytes = write_bytes(sample_program());
  const auto edited = [&](size_t at) {
    std::vector<uint8_t> copy = bytes;
    copy[at] ^= 1;
    return copy;
  };
  OpenOptions all;
  all.verify_weights = true;
  const std::string prefix = "the artifact in memory ";
  CHECK(open_error(edited(96 + 6 * 8 + 3)) == prefix + "was edited: its directory does not have the root hash");
  CHECK(open_error(edited(704 + 40)) == prefix + "was edited: its metadata do not have the recorded hash");
  CHECK(open_error(edited(bytes.size() - 1), all) == prefix + "was edited: its weights do not have the recorded hash");
  std::string error;
  CHECK(open_bytes(edited(bytes.size() - 1), &error) != nullptr);
  CHECK(open_bytes(bytes, &error, all) != nullptr);
  uint64_t weights_offset;
  std::memcpy(&weights_offset, bytes.data() + sizeof(ArtifactHeader) + 5 * sizeof(uint64_t), sizeof weights_offset);
  CHECK(open_error(edited(weights_offset - 1)) == "the artifact in memory: byte " + std::to_string(weights_offset - 1) +
                                                      " lies between segments and is 01 instead of zero");
}

TEST_CASE("segments lie at the first place that their alignment allows") {
  std::vector<uint8_t> bytes = write_bytes(sample_program());
  uint64_t moved;
  std::memcpy(&moved, bytes.data() + sizeof(ArtifactHeader) + 5 * sizeof(uint64_t), sizeof moved);
  bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(moved), 64, 0);
  moved += 64;
  const uint64_t total_size = bytes.size();
  std::memcpy(bytes.data() + sizeof(ArtifactHeader) + 5 * sizeof(uint64_t), &moved, sizeof moved);
  std::memcpy(bytes.data() + offsetof(ArtifactHeader, total_size), &total_size, sizeof total_size);
  CHECK(open_error(bytes).find("segment 5 (196 bytes at " + std::to_string(moved) + ") is misplaced") !=
        std::string::npos);
}

TEST_CASE("the expected root hash is demanded") {
  const ProgramPointer program = open_golden();
  uint8_t digest[32];
  std::memcpy(digest, program->root_sha256(), sizeof digest);
  OpenOptions options;
  options.expected_sha256 = digest;
  open_golden(options);
  digest[31] ^= 0x80;
  Program* refused = nullptr;
  const Status status = Program::open(kGolden, options, &refused);
  CHECK(refused == nullptr);
  CHECK(std::string(status.message()).find("has the root hash") != std::string::npos);
}

TEST_CASE("scalars: a variable, an input and a constant of rank 0; entries without dims or instructions") {
  serialize::ProgramDescription description = sample_program();
  for (int i = 0; i < 4; ++i) {  // several, so that their empty shapes fall on every alignment
    description.variables.push_back({std::string(i + 1, 's'), {}, {}, {}, 0, "schedule", false, {0, 0, 0x80, 0x3f}});
  }
  serialize::EntryDescription empty;
  empty.name = "empty";
  empty.expressions = {{serialize::ExpressionKind::kConstant, 0, 0, 4}};
  empty.inputs = {{"rate", {}, {}}};
  empty.blocks = {{}};
  description.entries.push_back(empty);
  empty.name = "nothing at all";
  empty.expressions.clear();
  description.entries.push_back(empty);
  std::string error;
  const ProgramPointer program = open_description(description, &error);
  INFO(error);
  REQUIRE(program != nullptr);
  uint32_t variable = 0;
  REQUIRE(program->find_variable("ss", &variable).ok());
  CHECK(*reinterpret_cast<const float*>(program->initial_value(variable)) == 1.0f);
}

TEST_CASE("an artifact in memory works at any address") {
  const std::vector<uint8_t> bytes = write_bytes(sample_program());
  for (size_t shift : {0, 1, 3, 8, 63}) {
    std::vector<uint8_t> shifted(bytes.size() + 64);
    std::memcpy(shifted.data() + shift, bytes.data(), bytes.size());
    Program* program = nullptr;
    const Status status = Program::open_memory(shifted.data() + shift, bytes.size(), false, OpenOptions(), &program);
    INFO(status.message());
    REQUIRE(status.ok());
    CHECK(reinterpret_cast<uintptr_t>(program->weights()) % 64 == 0);
    CHECK(reinterpret_cast<const float*>(program->initial_value(0))[0] == 1);
    program->release();
  }
}

TEST_CASE("a reference keeps the program, the last release frees all of it") {
  struct Balance {
    int64_t bytes = 0;
  } balance;
  const Allocator allocator = {[](void* context, size_t byte_size, size_t alignment) -> void* {
                                 static_cast<Balance*>(context)->bytes += static_cast<int64_t>(byte_size);
                                 return system_allocator().allocate(nullptr, byte_size, alignment);
                               },
                               [](void* context, void* pointer, size_t byte_size) {
                                 static_cast<Balance*>(context)->bytes -= static_cast<int64_t>(byte_size);
                                 system_allocator().deallocate(nullptr, pointer, byte_size);
                               },
                               &balance};
  OpenOptions options;
  options.allocator = &allocator;
  Program* program = open_golden(options).release();
  CHECK(balance.bytes > 0);
  program->retain();
  program->release();
  CHECK(program->metadata()->entries()->size() == 3);
  program->release();
  CHECK(balance.bytes == 0);
}

TEST_CASE("every allocation may fail, and opening says so") {
  struct Budget {
    int left;
    int live = 0;
  };
  const std::vector<uint8_t> bytes = write_bytes(sample_program());
  int tries = 0;
  for (bool opened = false; !opened; ++tries) {
    REQUIRE(tries < 200);
    Budget budget{tries};
    const Allocator allocator = {[](void* context, size_t byte_size, size_t alignment) -> void* {
                                   Budget& budget = *static_cast<Budget*>(context);
                                   if (budget.left-- == 0) return nullptr;
                                   ++budget.live;
                                   return system_allocator().allocate(nullptr, byte_size, alignment);
                                 },
                                 [](void* context, void* pointer, size_t byte_size) {
                                   --static_cast<Budget*>(context)->live;
                                   system_allocator().deallocate(nullptr, pointer, byte_size);
                                 },
                                 &budget};
    OpenOptions options;
    options.allocator = &allocator;
    Program* program = nullptr;
    const Status status = Program::open_memory(bytes.data(), bytes.size(), true, options, &program);
    opened = status.ok();
    if (opened) {
      program->release();
    } else {
      CHECK(status.code() == StatusCode::kOutOfMemory);
    }
    CHECK(budget.live == 0);
  }
  CHECK(tries > 10);
}

TEST_CASE("a target or the debug part can be sliced away: zeroed offset, dropped bytes") {
  std::vector<uint8_t> bytes = write_bytes(sample_program());
  uint64_t offsets[6];
  std::memcpy(offsets, bytes.data() + sizeof(ArtifactHeader), sizeof offsets);
  // x86-64-v2 and debug go, the weights take their place.
  bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(offsets[3]), bytes.begin() + static_cast<ptrdiff_t>(offsets[5]));
  offsets[5] = offsets[3];
  offsets[3] = offsets[4] = 0;
  std::memcpy(bytes.data() + sizeof(ArtifactHeader), offsets, sizeof offsets);
  header_of(bytes).total_size = bytes.size();
  std::string error;
  const ProgramPointer program = open_bytes(bytes, &error);
  INFO(error);
  REQUIRE(program != nullptr);
  uint32_t target = 0;
  CHECK(std::string(program->select_target("x86-64-v2", &target).message())
            .find("the code for target 'x86-64-v2' was sliced away") == 0);
  CHECK(std::string(program->location(1)) == "");
}

}  // namespace ferrule::runtime
