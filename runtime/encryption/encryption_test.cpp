// Encrypted weights: the artifact runs as the plain one does, and with anything else than its key and its bytes it is
// refused.
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/api/session_test_support.h"
#include "runtime/encryption/ferrule_encryption.h"
#include "runtime/encryption/test_cipher.h"
#include "serialize/encrypt/encrypt.h"
#include "serialize/schema/artifact_header.h"
#include "serialize/slice/slice.h"
#include "serialize/writer/artifact_layout.h"

namespace ferrule {
namespace {

using namespace runtime::testing;
using Bytes = std::vector<uint8_t>;

Bytes from_hex(const std::string& text) {
  Bytes bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

// The product's keys: one, "release".
struct Keys {
  Key key{};
  int asked = 0;

  static int32_t find(void* context, const char* name, uint8_t out_key[32]) {
    auto& self = *static_cast<Keys*>(context);
    ++self.asked;
    if (std::string(name) != "release") return 0;
    std::copy(self.key.begin(), self.key.end(), out_key);
    return 1;
  }
};

Key key_of(uint8_t seed) {
  Key key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<uint8_t>(seed + 7 * i);
  return key;
}

Bytes encrypted(const Bytes& plain, const Key& key, const std::string& key_name = "release", uint8_t nonce_byte = 5) {
  Bytes artifact;
  std::string error;
  const bool done = serialize::encrypt_artifact(plain.data(), plain.size(), key_name, encrypt_with(key, nonce_byte),
                                                &artifact, &error);
  INFO(error);
  REQUIRE(done);
  return artifact;
}

std::string encrypt_error(const Bytes& artifact) {
  Bytes unused;
  std::string error;
  CHECK_FALSE(serialize::encrypt_artifact(artifact.data(), artifact.size(), "release", encrypt_with(key_of(1), 5),
                                          &unused, &error));
  return error;
}

Result<Program> open(const Bytes& artifact, Keys* keys, FerruleVerify verify = kFerruleVerifyStructure) {
  FerruleKeySource source = {sizeof source, keys, Keys::find};
  Program::Options options;
  options.verify = verify;
  options.decrypt = ferrule_decrypt_aes_256_gcm;
  options.decrypt_context = &source;
  return Program::open_bytes(artifact.data(), artifact.size(), options);
}

std::string refusal(const Bytes& artifact, Keys keys) {
  Result<Program> program = open(artifact, &keys);
  REQUIRE_FALSE(program.ok());
  return program.status().message();
}

// Loss, then what predict gives after the step that changed w.
std::vector<float> train_and_predict(const Program& program) {
  Session session = create_session(program, 2);
  Tensor loss, y;
  check_ok(session.run("train", {rows(3)}, {&loss}));
  check_ok(session.run("predict", {rows(3)}, {&y}));
  std::vector<float> results = floats(y);
  results.push_back(*loss.data<float>());
  return results;
}

serialize::SegmentEntry* directory_of(Bytes& artifact, uint32_t segment) {
  serialize::ArtifactHeader header;
  std::memcpy(&header, artifact.data(), sizeof header);
  return reinterpret_cast<serialize::SegmentEntry*>(artifact.data() + sizeof header +
                                                    header.segment_count * sizeof(uint64_t)) +
         segment;
}

uint64_t offset_of(const Bytes& artifact, uint32_t segment) {
  uint64_t offset;
  std::memcpy(&offset, artifact.data() + sizeof(serialize::ArtifactHeader) + segment * sizeof offset, sizeof offset);
  return offset;
}

uint32_t segment_count(const Bytes& artifact) {
  serialize::ArtifactHeader header;
  std::memcpy(&header, artifact.data(), sizeof header);
  return header.segment_count;
}

const char kOtherKey[] =
    "do not open with the key 'release': it is not the one that they were encrypted with, or something was edited";

}  // namespace

TEST_CASE("it is AES-256-GCM: test case 16 of McGrew and Viega, The Galois/Counter Mode of Operation") {
  Bytes data = from_hex(
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a"
      "bcc9f662");
  const Bytes plain = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
      "ba637b39");
  const Bytes key = from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308");
  const Bytes nonce = from_hex("cafebabefacedbaddecaf888"), tag = from_hex("76fc6ece0f4e1768cddf8853bb2d551b");
  const Bytes associated = from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
  Keys keys;
  std::copy(key.begin(), key.end(), keys.key.begin());
  FerruleKeySource source = {sizeof source, &keys, Keys::find};
  const FerruleEncryptedWeights weights = {sizeof weights, "release",    data.data(),       data.size(),
                                           tag.data(),     nonce.data(), associated.data(), associated.size()};
  REQUIRE(ferrule_decrypt_aes_256_gcm(&source, &weights) == kFerruleOk);
  CHECK(data == plain);
}

TEST_CASE("an artifact with encrypted weights trains and predicts as the plain one does") {
  const Bytes plain = test_artifact();
  Keys keys{key_of(1)};
  const Bytes artifact = encrypted(plain, keys.key);
  const std::vector<float> expected = train_and_predict(open_test_program());
  const float w[4] = {1, 2, 3, 4};
  const auto* bytes = reinterpret_cast<const uint8_t*>(w);
  CHECK(std::search(plain.begin(), plain.end(), bytes, bytes + sizeof w) != plain.end());
  CHECK(std::search(artifact.begin(), artifact.end(), bytes, bytes + sizeof w) == artifact.end());

  Result<Program> program = open(artifact, &keys, kFerruleVerifyAll);
  INFO(program.status().message());
  REQUIRE(program.ok());
  CHECK(keys.asked == 1);
  CHECK(train_and_predict(*program) == expected);

  const std::string path = temporary_path("encrypted.fer");
  write_file(path, artifact);
  FerruleKeySource source = {sizeof source, &keys, Keys::find};
  Program::Options options;
  options.decrypt = ferrule_decrypt_aes_256_gcm;
  options.decrypt_context = &source;
  Result<Program> from_file = Program::open(path, options);
  REQUIRE(from_file.ok());
  CHECK(train_and_predict(*from_file) == expected);
  // A plain artifact asks for no key.
  Result<Program> from_plain = open(plain, &keys);
  REQUIRE(from_plain.ok());
  CHECK(keys.asked == 2);
}

TEST_CASE("another key, no key of that name, no way to decrypt") {
  const Bytes artifact = encrypted(test_artifact(), key_of(1));
  CHECK_THAT(refusal(artifact, Keys{key_of(2)}), contains(kOtherKey));
  CHECK(refusal(encrypted(test_artifact(), key_of(1), "trial"), Keys{key_of(1)}) ==
        "the artifact in memory: there is no key 'trial', with which its weights are encrypted");
  Result<Program> program = Program::open_bytes(artifact.data(), artifact.size());
  REQUIRE(program.ok());
  CHECK(program->find_entry("predict").ok());
  Result<Session> session = Session::create(*program);
  REQUIRE_FALSE(session.ok());
  CHECK(session.status().code() == kFerruleFailedPrecondition);
  CHECK(std::string(session.status().message()) ==
        "the weights are encrypted with the key 'release', and the program was opened without `decrypt`");
}

TEST_CASE("one bit of weights, tag or nonce") {
  const Keys keys{key_of(1)};
  const Bytes artifact = encrypted(test_artifact(), keys.key);
  for (uint64_t at = offset_of(artifact, segment_count(artifact) - 1); at < artifact.size(); ++at) {
    Bytes edited = artifact;
    edited[at] ^= static_cast<uint8_t>(1 << (at % 8));
    CHECK_THAT(refusal(edited, keys), contains(kOtherKey));
  }
}

TEST_CASE("other code, other metadata, another artifact's weights: with all hashes right the key does not open them") {
  const Keys keys{key_of(1)};
  const Bytes artifact = encrypted(test_artifact(), keys.key);
  Bytes edited = artifact;
  edited[offset_of(artifact, 1) + 3] ^= 1;  // code
  REQUIRE(serialize::reseal_artifact(edited));
  CHECK_THAT(refusal(edited, keys), contains(kOtherKey));

  serialize::ProgramDescription description = describe_test_program();
  description.producer += "!";
  Bytes other = encrypted(to_artifact(description), keys.key, "release", 6);
  Keys same = keys;
  CHECK(open(other, &same).ok());
  const uint32_t last = segment_count(other) - 1;
  const uint64_t size = directory_of(other, last)->size;
  REQUIRE(size == directory_of(edited, last)->size);
  std::copy(artifact.end() - static_cast<ptrdiff_t>(size), artifact.end(), other.end() - static_cast<ptrdiff_t>(size));
  REQUIRE(serialize::reseal_artifact(other));
  CHECK_THAT(refusal(other, keys), contains(kOtherKey));
}

TEST_CASE("a tag that is cut off, and no weights at all") {
  const Keys keys{key_of(1)};
  Bytes artifact = encrypted(test_artifact(), keys.key);
  const uint32_t last = segment_count(artifact) - 1;
  const auto cut_to = [&](uint64_t size) {
    Bytes cut = artifact;
    cut.resize(offset_of(artifact, last) + size);
    directory_of(cut, last)->size = size;
    serialize::ArtifactHeader header;
    std::memcpy(&header, cut.data(), sizeof header);
    header.total_size = cut.size();
    std::memcpy(cut.data(), &header, sizeof header);
    REQUIRE(serialize::reseal_artifact(cut));
    return cut;
  };
  CHECK_THAT(refusal(cut_to(28), keys),
             contains("the encrypted weights have 28 bytes, and tag and nonce alone take 28"));
  CHECK_THAT(refusal(cut_to(0), keys), contains("the encrypted weights have 0 bytes"));
  // One byte less than there were: a variable does not fit any more.
  CHECK_THAT(refusal(cut_to(directory_of(artifact, last)->size - 1), keys), contains("of the weights, which have"));
}

TEST_CASE("slices that keep the directory keep the weights; what writes them anew comes first") {
  Keys keys{key_of(1)};
  const Bytes artifact = encrypted(test_artifact(), keys.key);
  Bytes sliced;
  std::string error;
  REQUIRE(serialize::slice_artifact(artifact.data(), artifact.size(), {{}, {}, false}, &sliced, &error));
  REQUIRE(sliced.size() < artifact.size());
  Result<Program> program = open(sliced, &keys);
  REQUIRE(program.ok());
  CHECK(train_and_predict(*program) == train_and_predict(open_test_program()));
  CHECK_FALSE(serialize::slice_artifact(artifact.data(), artifact.size(), {{}, {"predict"}, true}, &sliced, &error));
  CHECK(error ==
        "dropping entries needs plain weights, and these are encrypted with the key 'release': do it before you "
        "encrypt them");
  CHECK_THAT(encrypt_error(artifact), contains("encrypting needs plain weights"));
}

TEST_CASE("there must be weights, a name, and a cipher that works") {
  serialize::ProgramDescription description;
  description.targets = describe_test_program().targets;
  CHECK(encrypt_error(to_artifact(description)) == "there are no weights to encrypt");
  const Bytes plain = test_artifact();
  Bytes unused;
  std::string error;
  CHECK_FALSE(serialize::encrypt_artifact(plain.data(), plain.size(), "", encrypt_with(key_of(1), 5), &unused, &error));
  CHECK(error == "the name of the key is empty");
  const auto refuse = [](uint8_t*, uint64_t, const uint8_t*, uint64_t, uint8_t*, uint8_t*) { return false; };
  CHECK_FALSE(serialize::encrypt_artifact(plain.data(), plain.size(), "release", refuse, &unused, &error));
  CHECK_THAT(error, contains("its weights were not encrypted"));
}

}  // namespace ferrule
