/* predict ARTIFACT: y = predict(x) for one row of four numbers, through the C API. */
#include <stdio.h>
#include <string.h>

#include "runtime/api/ferrule.h"

int main(int argc, char** argv) {
  static const int64_t shape[2] = {1, 4};
  float x[4] = {0, 1, 2, 3}, y[4] = {0, 0, 0, 0};
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleTensor input, output;
  FerruleStatus* status;
  int code;
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

  status = argc == 2 ? ferrule_program_open(argv[1], NULL, &program) : NULL;
  if (status == NULL && program != NULL) status = ferrule_session_create(program, NULL, &session);
  if (status == NULL && session != NULL) status = ferrule_session_run(session, "predict", &input, 1, &output, 1);
  code = status == NULL && session != NULL ? 0 : 1;
  if (code == 0)
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  else
    fprintf(stderr, "%s\n", status == NULL ? "usage: predict ARTIFACT" : ferrule_status_message(status));
  ferrule_status_release(status);
  ferrule_session_release(session);
  ferrule_program_release(program);
  return code;
}
