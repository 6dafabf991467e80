// Encrypted weights. The cipher is a function in Python, so that this module links no library for it.
#include "frontend/bindings/runtime/Classes.h"
#include "frontend/bindings/runtime/Errors.h"
#include "serialize/encrypt/encrypt.h"
#include "serialize/schema/artifact_header.h"

#include <cstring>

namespace py = pybind11;

namespace ferrule::python {
namespace {

py::bytes toBytes(const uint8_t *data, size_t size) { return py::bytes(reinterpret_cast<const char *>(data), size); }

py::bytes encrypt(const py::bytes &artifact, const std::string &keyName, const py::function &cipher) {
  // An exception does not cross the writer, which is built without them.
  std::exception_ptr raised;
  const auto call = [&](uint8_t *weights, uint64_t size, const uint8_t *associated, uint64_t associatedSize, uint8_t *tag,
                        uint8_t *nonce) {
    try {
      const auto [sealed, chosen] =
          cipher(toBytes(weights, size), toBytes(associated, associatedSize)).cast<std::pair<std::string, std::string>>();
      if (sealed.size() != size + serialize::kWeightsTagBytes || chosen.size() != serialize::kWeightsNonceBytes)
        return false;
      std::memcpy(weights, sealed.data(), size);
      std::memcpy(tag, sealed.data() + size, serialize::kWeightsTagBytes);
      std::memcpy(nonce, chosen.data(), chosen.size());
      return true;
    } catch (...) {
      raised = std::current_exception();
      return false;
    }
  };
  const auto bytes = artifact.cast<std::string_view>();
  std::vector<uint8_t> encrypted;
  std::string error;
  const bool done = serialize::encrypt_artifact(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), keyName, call,
                                                &encrypted, &error);
  if (raised)
    std::rethrow_exception(raised);
  if (!done)
    raise("ArtifactError", error);
  return toBytes(encrypted.data(), encrypted.size());
}

} // namespace

FerruleStatusCode Decryption::call(void *context, const FerruleEncryptedWeights *weights) {
  auto &self = *static_cast<Decryption *>(context);
  try {
    std::string sealed(reinterpret_cast<const char *>(weights->data), weights->byte_size);
    sealed.append(reinterpret_cast<const char *>(weights->tag), serialize::kWeightsTagBytes);
    const py::object opened =
        self.function(weights->key_name, py::bytes(sealed), toBytes(weights->nonce, serialize::kWeightsNonceBytes),
                      toBytes(weights->associated, weights->associated_byte_size));
    if (opened.is_none())
      return kFerruleInvalidArtifact;
    const auto plain = opened.cast<std::string_view>();
    if (plain.size() != weights->byte_size)
      return kFerruleInvalidArtifact;
    std::memcpy(weights->data, plain.data(), plain.size());
    return kFerruleOk;
  } catch (...) {
    self.raised = std::current_exception();
    return kFerruleInvalidArtifact;
  }
}

void bindEncryption(py::module_ &module) {
  module.def("encrypt_artifact", &encrypt, py::arg("artifact"), py::arg("key_name"), py::arg("cipher"),
             "The artifact's bytes with its weights encrypted by cipher(weights, associated), which returns (ciphertext and "
             "tag, nonce) as bytes.");
}

} // namespace ferrule::python
