/* The C API used from C99: opens the test program, trains a step, reads an error. */
#include <stdio.h>
#include <string.h>

#include "runtime/api/ferrule.h"

typedef struct {
  int info_count, error_count;
} LogCounts;

static void count_sentences(void* context, FerruleLogLevel level, const char* sentence) {
  LogCounts* counts = context;
  if (sentence[0] == '\0') return;
  if (level == kFerruleLogError)
    ++counts->error_count;
  else
    ++counts->info_count;
}

static int32_t refuse(void* context, const uint8_t root_sha256[32]) {
  memcpy(context, root_sha256, 32);
  return 0;
}

/* The code of a run in the background, plus one; 0 while it has not ended. */
static void note_code(void* context, FerruleStatus* status) {
  *(int*)context = 1 + (int)ferrule_status_code(status);
  ferrule_status_release(status);
}

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

  /* What the caller brings: a logger, and a check of the artifact. */
  LogCounts counts = {0, 0};
  FerruleLogger logger = {sizeof(FerruleLogger), &counts, count_sentences};
  FerruleProgramOptions program_options;
  FerruleProgram* refused = NULL;
  uint8_t seen[32] = {0};
  memset(&program_options, 0, sizeof(program_options));
  program_options.struct_size = sizeof(program_options);
  program_options.logger = &logger;
  program_options.accept = refuse;
  program_options.accept_context = seen;
  status = ferrule_program_open_bytes(bytes, byte_size, &program_options, &refused);
  if (ferrule_status_code(status) != kFerruleInvalidArtifact || refused != NULL || counts.error_count != 1) return 1;
  ferrule_status_release(status);
  FerruleProgramInfo program_info;
  memset(&program_info, 0, sizeof(program_info));
  program_info.struct_size = sizeof(program_info);
  if (!expect(ferrule_program_info(program, &program_info), "info")) return 1;
  if (memcmp(seen, program_info.root_sha256, 32) != 0) return 1;

  /* A run in the background. */
  int code = 0;
  loss = 0;
  if (!expect(ferrule_session_reset(session), "reset")) return 1;
  if (!expect(ferrule_session_run_async(session, "train", &input, 1, &output, 1, note_code, &code), "start")) return 1;
  ferrule_session_wait(session);
  if (code != 1 + (int)kFerruleOk || loss != 76) return 1;

  ferrule_program_release(program); /* the session keeps what it needs */
  if (!expect(ferrule_session_run(session, "train", &input, 1, &output, 1), "run again")) return 1;
  ferrule_session_release(session);
  ferrule_session_release(NULL);
  return 0;
}
