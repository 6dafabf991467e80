/* predict_encrypted ARTIFACT KEY_FILE: as predict.c, with encrypted weights. A product has its key in a keystore. */
#include <stdio.h>
#include <string.h>

#include "runtime/encryption/ferrule_encryption.h"

static int32_t read_key(void* path, const char* name, uint8_t out_key[32]) {
  FILE* file = fopen(path, "rb");
  size_t count = file == NULL ? 0 : fread(out_key, 1, 32, file);
  (void)name; /* this product has one key */
  if (file != NULL) fclose(file);
  return count == 32;
}

int main(int argc, char** argv) {
  static const int64_t shape[2] = {1, 4};
  float x[4] = {0, 1, 2, 3}, y[4] = {0, 0, 0, 0};
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleProgramOptions options;
  FerruleKeySource keys;
  FerruleTensor input, output;
  FerruleStatus* status;
  int code;
  if (argc != 3) return fprintf(stderr, "usage: predict_encrypted ARTIFACT KEY_FILE\n"), 2;
  memset(&keys, 0, sizeof(keys));
  keys.struct_size = sizeof(keys);
  keys.context = argv[2];
  keys.key = read_key;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.decrypt = ferrule_decrypt_aes_256_gcm;
  options.decrypt_context = &keys;

  memset(&input, 0, sizeof(input));
  input.struct_size = sizeof(input);
  input.dtype.code = 2; /* float */
  input.dtype.bits = 32;
  input.dtype.lanes = 1;
  input.data = x;
  input.byte_size = sizeof(x);
  input.rank = 2;
  input.shape = shape;
  output = input;
  output.data = y;

  status = ferrule_program_open(argv[1], &options, &program);
  if (status == NULL) status = ferrule_session_create(program, NULL, &session);
  if (status == NULL) status = ferrule_session_run(session, "predict", &input, 1, &output, 1);
  code = status == NULL ? 0 : 1;
  if (code == 0)
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  else
    fprintf(stderr, "%s\n", ferrule_status_message(status));
  ferrule_status_release(status);
  ferrule_session_release(session);
  ferrule_program_release(program);
  return code;
}
