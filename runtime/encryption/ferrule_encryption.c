#include "runtime/encryption/ferrule_encryption.h"

#include <mbedtls/gcm.h>
#include <mbedtls/platform_util.h>

enum { kKeyBytes = 32, kTagBytes = 16, kNonceBytes = 12 };

FerruleStatusCode ferrule_decrypt_aes_256_gcm(void* key_source, const FerruleEncryptedWeights* weights) {
  const FerruleKeySource* source = key_source;
  uint8_t key[kKeyBytes];
  if (source->key(source->context, weights->key_name, key) == 0) return kFerruleNotFound;
  mbedtls_gcm_context gcm;
  mbedtls_gcm_init(&gcm);
  int error = mbedtls_gcm_setkey(&gcm, MBEDTLS_CIPHER_ID_AES, key, 8 * kKeyBytes);
  mbedtls_platform_zeroize(key, sizeof key);
  // It zeroes what it decrypted if the tag turns out to be wrong.
  if (error == 0)
    error = mbedtls_gcm_auth_decrypt(&gcm, (size_t)weights->byte_size, weights->nonce, kNonceBytes, weights->associated,
                                     (size_t)weights->associated_byte_size, weights->tag, kTagBytes, weights->data,
                                     weights->data);
  mbedtls_gcm_free(&gcm);
  if (error == 0) return kFerruleOk;
  return error == MBEDTLS_ERR_GCM_AUTH_FAILED ? kFerruleInvalidArtifact : kFerruleInternal;
}
