// What a release tool does in a language of its own: AES-256-GCM for tests, by mbedTLS.
#ifndef FERRULE_RUNTIME_ENCRYPTION_TEST_CIPHER_H_
#define FERRULE_RUNTIME_ENCRYPTION_TEST_CIPHER_H_

#include <mbedtls/gcm.h>

#include <array>
#include <cstring>

#include "serialize/schema/artifact_header.h"
#include "serialize/writer/writer.h"

namespace ferrule::runtime::testing {

using Key = std::array<uint8_t, 32>;

// All bytes of the nonce are `nonce_byte`; nobody but a test may choose it so.
inline serialize::EncryptWeights encrypt_with(const Key& key, uint8_t nonce_byte) {
  return [key, nonce_byte](uint8_t* weights, uint64_t byte_size, const uint8_t* associated,
                           uint64_t associated_byte_size, uint8_t* out_tag, uint8_t* out_nonce) {
    mbedtls_gcm_context gcm;
    mbedtls_gcm_init(&gcm);
    std::memset(out_nonce, nonce_byte, serialize::kWeightsNonceBytes);
    const bool done = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key.data(), 256) == 0 &&
                      mbedtls_gcm_crypt_and_tag(&gcm, MBEDTLS_GCM_ENCRYPT, byte_size, out_nonce,
                                                serialize::kWeightsNonceBytes, associated, associated_byte_size,
                                                weights, weights, serialize::kWeightsTagBytes, out_tag) == 0;
    mbedtls_gcm_free(&gcm);
    return done;
  };
}

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_ENCRYPTION_TEST_CIPHER_H_
