// Opens encrypted weights with a key of the product, by mbedTLS's AES-GCM (portable C, with the instructions of x86-64
// where there are some; on other systems the product's own build of mbedTLS). A library of its own: the runtime does
// not need it.
//
//   FerruleKeySource keys = {sizeof keys, my_context, my_key};
//   FerruleProgramOptions options = {sizeof options};
//   options.decrypt = ferrule_decrypt_aes_256_gcm;
//   options.decrypt_context = &keys;
//   FerruleStatus* status = ferrule_program_open("net.fer", &options, &program);
//
// A product whose keys never leave a secure element writes such a function itself, over what that offers.
#ifndef FERRULE_RUNTIME_ENCRYPTION_FERRULE_ENCRYPTION_H_
#define FERRULE_RUNTIME_ENCRYPTION_FERRULE_ENCRYPTION_H_

#include "runtime/api/ferrule.h"

#ifdef __cplusplus
extern "C" {
#endif

// Where keys come from. `key` writes the key of that name, 32 bytes, and returns 1, or returns 0 if there is none. The
// copy is wiped after use.
typedef struct FerruleKeySource {
  size_t struct_size;
  void* context;
  int32_t (*key)(void* context, const char* name, uint8_t out_key[32]);
} FerruleKeySource;

// For FerruleProgramOptions::decrypt; `key_source` is a FerruleKeySource. kFerruleNotFound without a key,
// kFerruleInvalidArtifact when the tag is wrong (the data is then zero), kFerruleInternal if mbedTLS was built without
// AES.
FERRULE_API FerruleStatusCode ferrule_decrypt_aes_256_gcm(void* key_source, const FerruleEncryptedWeights* weights);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // FERRULE_RUNTIME_ENCRYPTION_FERRULE_ENCRYPTION_H_
