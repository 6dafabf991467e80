// write_encrypted_program ARTIFACT KEY OUTPUT: the artifact with encrypted weights, for tests that start from one; the
// key's file has 32 bytes, its name is "product".
#include <algorithm>
#include <cstdio>

#include "runtime/encryption/test_cipher.h"
#include "runtime/testing/test_program.h"
#include "serialize/encrypt/encrypt.h"

int main(int argc, char** argv) {
  using namespace ferrule::runtime::testing;
  if (argc != 4) return 2;
  const std::vector<uint8_t> plain = read_file(argv[1]), key_bytes = read_file(argv[2]);
  Key key;
  if (key_bytes.size() != key.size()) return 2;
  std::copy(key_bytes.begin(), key_bytes.end(), key.begin());
  std::vector<uint8_t> artifact;
  std::string error;
  if (!ferrule::serialize::encrypt_artifact(plain.data(), plain.size(), "product", encrypt_with(key, 1), &artifact,
                                            &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  write_file(argv[3], artifact);
  return 0;
}
