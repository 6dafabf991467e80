#include "serialize/encrypt/encrypt.h"

#include "serialize/reader/reader.h"

namespace ferrule::serialize {

bool encrypt_artifact(const uint8_t* bytes, size_t byte_size, const std::string& key_name,
                      const EncryptWeights& encrypt, std::vector<uint8_t>* out_artifact, std::string* error) {
  if (key_name.empty()) {
    *error = "the name of the key is empty";
    return false;
  }
  ArtifactContents contents;
  if (!read_artifact(bytes, byte_size, &contents, error) || !prepare_to_write("encrypting", &contents, error))
    return false;
  contents.program.weights_key_name = key_name;
  const auto allocate = [&](uint64_t size) {
    out_artifact->resize(size);
    return out_artifact->data();
  };
  return write_program(contents.program, allocate, error, encrypt);
}

}  // namespace ferrule::serialize
