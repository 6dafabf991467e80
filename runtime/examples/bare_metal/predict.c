/* A product without files, threads or a heap: the artifact and its kernels are linked in, all memory is one array.
   Trains a step and prints a prediction.

   The artifact calls kernels by name; those here are the functions of an object file that was compiled beforehand, so no
   page has to become executable. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/kernel_args.h"
#include "runtime/api/ferrule.h"
#include "static_memory.h"

/* The linker's names for the bytes of artifact.fer. */
extern const unsigned char _binary_artifact_fer_start[], _binary_artifact_fer_end[];

/* The object file's kernels. */
int32_t affine(const FerruleKernelArgs* args);
int32_t accumulate(const FerruleKernelArgs* args);
int32_t sum(const FerruleKernelArgs* args);
int32_t check_index(const FerruleKernelArgs* args);
int32_t halve(const FerruleKernelArgs* args);
int32_t thread_of_row(const FerruleKernelArgs* args);
int32_t count_positive(const FerruleKernelArgs* args);
int32_t is_below(const FerruleKernelArgs* args);
int32_t increment(const FerruleKernelArgs* args);
int32_t select_positive(const FerruleKernelArgs* args);
int32_t write_beyond(const FerruleKernelArgs* args);
int32_t read_elsewhere(const FerruleKernelArgs* args);

/* The context is the compiled function. */
static int32_t call(void* function, const FerruleKernelArgs* args) { return ((FerruleKernelFunction)function)(args); }

#define KERNEL(name) {sizeof(FerruleExternalKernel), #name, (void*)name, call}
static const FerruleExternalKernel kernels[] = {
    KERNEL(affine),        KERNEL(accumulate),     KERNEL(sum),      KERNEL(check_index), KERNEL(halve),
    KERNEL(thread_of_row), KERNEL(count_positive), KERNEL(is_below), KERNEL(increment),   KERNEL(select_positive),
    KERNEL(write_beyond),  KERNEL(read_elsewhere)};

static FerruleTensor tensor_of(float* data, uint64_t byte_size, uint32_t rank, const int64_t* shape) {
  FerruleTensor tensor;
  memset(&tensor, 0, sizeof(tensor));
  tensor.struct_size = sizeof(tensor);
  tensor.data = data;
  tensor.byte_size = byte_size;
  tensor.dtype.code = 2; /* float */
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.rank = rank;
  tensor.shape = shape;
  return tensor;
}

int main(void) {
  static const int64_t shape[2] = {1, 4};
  static float x[4] = {0, 1, 2, 3}, y[4], loss;
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleProgramOptions options;
  FerruleTensor input = tensor_of(x, sizeof(x), 2, shape), output = tensor_of(y, sizeof(y), 0, NULL);
  FerruleTensor loss_output = tensor_of(&loss, sizeof(loss), 0, NULL);
  FerruleStatus* status;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.kernels = kernels;
  options.kernel_count = sizeof(kernels) / sizeof(kernels[0]);
  status = ferrule_program_open_bytes(_binary_artifact_fer_start,
                                      (uint64_t)(_binary_artifact_fer_end - _binary_artifact_fer_start), &options,
                                      &program);
  if (status == NULL) status = ferrule_session_create(program, NULL, &session);
  const size_t used_before_running = static_memory_used();
  if (status == NULL) status = ferrule_session_run(session, "train", &input, 1, &loss_output, 1);
  if (status == NULL) status = ferrule_session_run(session, "predict", &input, 1, &output, 1);
  if (status != NULL) {
    puts(ferrule_status_message(status));
    return 1;
  }
  if (static_memory_used() != used_before_running) {
    puts("a run took memory");
    return 1;
  }
  printf("loss %g, then %g %g %g %g, in %u bytes\n", loss, y[0], y[1], y[2], y[3], (unsigned)static_memory_used());
  return 0;
}
