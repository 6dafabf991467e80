#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/api/ferrule.h"

struct Net {
  FerruleProgram* program;
  FerruleSession* session;
};

/* Takes the status; 1 if it is an error. */
static int failed(FerruleStatus* status, char* message, uint64_t message_size) {
  if (status == NULL) return 0;
  snprintf(message, message_size, "%s", ferrule_status_message(status));
  ferrule_status_release(status);
  return 1;
}

Net* net_open(const void* artifact, uint64_t byte_size, char* message, uint64_t message_size) {
  FerruleProgramOptions options;
  FerruleSessionOptions session_options;
  Net* net = calloc(1, sizeof(Net));
  if (net == NULL) return NULL;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.in_place = 1;
  memset(&session_options, 0, sizeof(session_options));
  session_options.struct_size = sizeof(session_options);
  session_options.thread_count = 1; /* big and small cores: measure before asking for more */
  if (failed(ferrule_program_open_bytes(artifact, byte_size, &options, &net->program), message, message_size) ||
      failed(ferrule_session_create(net->program, &session_options, &net->session), message, message_size)) {
    net_close(net);
    return NULL;
  }
  return net;
}

int net_predict(Net* net, const float* x, float* y, char* message, uint64_t message_size) {
  static const int64_t shape[2] = {1, 4};
  FerruleTensor input, output;
  memset(&input, 0, sizeof(input));
  input.struct_size = sizeof(input);
  input.data = (void*)x;
  input.byte_size = 4 * sizeof(float);
  input.dtype.code = 2; /* float */
  input.dtype.bits = 32;
  input.dtype.lanes = 1;
  input.rank = 2;
  input.shape = shape;
  output = input;
  output.data = y;
  return failed(ferrule_session_run(net->session, "predict", &input, 1, &output, 1), message, message_size);
}

void net_close(Net* net) {
  if (net == NULL) return;
  ferrule_session_release(net->session);
  ferrule_program_release(net->program);
  free(net);
}
