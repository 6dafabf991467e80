#include "serialize/schema/sha256.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "catch2/catch.hpp"

namespace ferrule::serialize {
namespace {

std::string hex(const std::string& text) {
  uint8_t digest[kSha256Bytes];
  sha256(text.data(), text.size(), digest);
  std::string result;
  for (uint8_t byte : digest) {
    result += "0123456789abcdef"[byte >> 4];
    result += "0123456789abcdef"[byte & 15];
  }
  return result;
}

}  // namespace

// The examples of FIPS 180-4 and of NIST's CAVP byte-oriented vectors.
TEST_CASE("sha256 gives the published digests") {
  CHECK(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
            "nopqrstu") == "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  CHECK(hex("\xd3") == "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1");
  CHECK(hex(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256 does not depend on how the bytes are cut") {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(1000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t size = 0; size < 200; ++size) {
    uint8_t whole[kSha256Bytes], cut[kSha256Bytes];
    sha256(bytes.data(), size, whole);
    Sha256 hash;
    for (size_t at = 0; at < size;) {
      const size_t piece = std::min<size_t>(random() % 90, size - at);
      hash.update(bytes.data() + at, piece);
      at += piece;
    }
    hash.finish(cut);
    REQUIRE(std::equal(whole, whole + kSha256Bytes, cut));
  }
}

TEST_CASE("the SHA instructions and the portable code agree") {
  std::mt19937 random(2);
  std::vector<uint8_t> blocks(64 * 17 + 1);
  for (uint8_t& byte : blocks) byte = static_cast<uint8_t>(random());
  uint32_t portable[8], native[8];
  for (uint32_t& word : portable) word = random();
  std::copy(portable, portable + 8, native);
  if (!sha256_blocks_native(native, blocks.data() + 1, 17)) return;  // this CPU has none
  sha256_blocks_portable(portable, blocks.data() + 1, 17);
  CHECK(std::equal(portable, portable + 8, native));
}

}  // namespace ferrule::serialize
