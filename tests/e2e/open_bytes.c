/* open_bytes ARTIFACT SHIFT: reads the file to an address SHIFT bytes behind a multiple of 4,096, opens it there and prints
   predict of 0, 1, 2, 3. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/api/ferrule.h"

static int fail(FerruleStatus* status) {
  fprintf(stderr, "%s\n", ferrule_status_message(status));
  ferrule_status_release(status);
  return 1;
}

int main(int argc, char** argv) {
  static const int64_t shape[2] = {1, 4};
  float x[4] = {0, 1, 2, 3}, y[4] = {0, 0, 0, 0};
  FILE* file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  void* memory = NULL;
  long size;
  if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) return 2;
  rewind(file);
  if (posix_memalign(&memory, 4096, (size_t)size + 4096) != 0) return 2;
  char* bytes = (char*)memory + atoi(argv[2]);
  if (fread(bytes, 1, (size_t)size, file) != (size_t)size) return 2;
  fclose(file);

  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleTensor input, output;
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
  FerruleStatus* status = ferrule_program_open_bytes(bytes, (uint64_t)size, NULL, &program);
  if (status != NULL) return fail(status);
  status = ferrule_session_create(program, NULL, &session);
  if (status == NULL) status = ferrule_session_run(session, "predict", &input, 1, &output, 1);
  if (status != NULL) return fail(status);
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  ferrule_session_release(session);
  ferrule_program_release(program);
  free(memory);
  return 0;
}
