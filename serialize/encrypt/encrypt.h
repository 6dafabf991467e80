// Makes an artifact whose weights are encrypted out of one whose weights are plain.
#ifndef FERRULE_SERIALIZE_ENCRYPT_ENCRYPT_H_
#define FERRULE_SERIALIZE_ENCRYPT_ENCRYPT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "serialize/writer/writer.h"

namespace ferrule::serialize {

// `key_name` is written into the metadata, not empty, for the product to find its key by. The result has a root hash of
// its own and needs a runtime that reads format version 2; targets and debug can be sliced out of it afterwards,
// entries before. False, and *error says why: the artifact is encrypted already, is not whole, has no weights, or
// `encrypt` could not. The caller verifies the result by opening it.
bool encrypt_artifact(const uint8_t* bytes, size_t byte_size, const std::string& key_name,
                      const EncryptWeights& encrypt, std::vector<uint8_t>* out_artifact, std::string* error);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_ENCRYPT_ENCRYPT_H_
