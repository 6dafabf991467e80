/* The C API used from C99: opens the test program, trains a step, reads an error. */
#include <stdio.h>
#include <string.h>

#include "runtime/api/ferrule.h"

/* From test_program.h, through c_api_test_artifact.cpp. */
const void* test_artifact_bytes(uint64_t* out_byte_size);

static int expect(FerruleStatus* status, const char* action) {
  if (status == NULL) return 1;
  fprintf(stderr, "%s: %s\n", action, ferrule_status_message(status));
  ferrule_status_release(status);
  return 0;
}

static FerruleTensor float_tensor(float* data, uint64_t byte_size, uint32_t rank, const int64_t* shape) {
  FerruleTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.struct_size = sizeof(tensor);
  tensor.data = data;
  tensor.byte_size = byte_size;
  tensor.dtype.code = 2;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.rank = rank;
  tensor.shape = shape;
  return tensor;
}

int main(void) {
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleSessionOptions options;
  FerruleStatus* status;
  uint64_t byte_size = 0;
  const void* bytes = test_artifact_bytes(&byte_size);
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, loss = 0;
  const int64_t shape[2] = {2, 4};
  FerruleTensor input = float_tensor(x, sizeof(x), 2, shape), output = float_tensor(&loss, sizeof(loss), 0, NULL);

  if (!expect(ferrule_program_open_bytes(bytes, byte_size, NULL, &program), "open")) return 1;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.thread_count = 1;
  if (!expect(ferrule_session_create(program, &options, &session), "create")) return 1;
  if (!expect(ferrule_session_run(session, "train", &input, 1, &output, 1), "run")) return 1;
  if (loss != 76) {
    fprintf(stderr, "loss is %g, but must be 76\n", loss);
    return 1;
  }

  /* A caller that knows a shorter struct gets only what it knows. */
  FerruleSessionInfo info;
  memset(&info, 0x55, sizeof(info));
  info.struct_size = offsetof(FerruleSessionInfo, arena_bytes);
  if (!expect(ferrule_session_info(session, &info), "info")) return 1;
  if (info.thread_count != 1 || info.arena_bytes != 0x5555555555555555u) return 1;

  status = ferrule_session_run(session, "nothing", &input, 1, &output, 1);
  if (ferrule_status_code(status) != kFerruleNotFound || strstr(ferrule_status_message(status), "nothing") == NULL)
    return 1;
  ferrule_status_release(status);
  status = ferrule_program_open("/nowhere/net.fer", NULL, &program);
  if (ferrule_status_code(status) != kFerruleNotFound) return 1;
  ferrule_status_release(status);

  ferrule_program_release(program); /* the session keeps what it needs */
  if (!expect(ferrule_session_run(session, "train", &input, 1, &output, 1), "run again")) return 1;
  ferrule_session_release(session);
  ferrule_session_release(NULL);
  return 0;
}
