/* A product without files, threads or a heap whose model is an object file: net.o and net.h out of
   fer.compile(..., emit="object").save("net.o"). The linker puts kernels and weights where code and constants are; all other
   memory is one array. Trains on the device and prints what it predicts.

   The model's entries are train_step(x [4, 8], target [4, 3]) -> loss, and predict(x) -> [4, 3]. */
#include <stdio.h>
#include <string.h>

#include "net.h"
#include "static_memory.h"

#define ROWS 4
#define INPUTS 8
#define OUTPUTS 3
#define STEPS 20

static const int64_t x_shape[2] = {ROWS, INPUTS}, y_shape[2] = {ROWS, OUTPUTS};
static float x[ROWS * INPUTS], target[ROWS * OUTPUTS], y[ROWS * OUTPUTS], loss;

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

static int fail(const FerruleStatus* status) {
  puts(ferrule_status_message(status));
  return 1;
}

int main(void) {
  FerruleProgram* program = NULL;
  FerruleSession* session = NULL;
  FerruleTensor inputs[2], loss_output, y_output;
  FerruleStatus* status;
  size_t before_running;
  int i;
  for (i = 0; i < ROWS * INPUTS; ++i) x[i] = (float)(i % 7) / 8;
  for (i = 0; i < ROWS * OUTPUTS; ++i) target[i] = (float)(i % 5) / 4;
  inputs[0] = tensor_of(x, sizeof(x), 2, x_shape);
  inputs[1] = tensor_of(target, sizeof(target), 2, y_shape);
  loss_output = tensor_of(&loss, sizeof(loss), 0, NULL);
  y_output = tensor_of(y, sizeof(y), 2, y_shape);

  status = net_open(&program);
  if (status == NULL) status = ferrule_session_create(program, NULL, &session);
  if (status != NULL) return fail(status);
  before_running = static_memory_used();
  for (i = 0; i < STEPS; ++i) {
    status = ferrule_session_run(session, "train_step", inputs, 2, &loss_output, 1);
    if (status != NULL) return fail(status);
  }
  status = ferrule_session_run(session, "predict", inputs, 1, &y_output, 1);
  if (status != NULL) return fail(status);
  if (static_memory_used() != before_running) return puts("a run took memory"), 1;
  printf("loss %.9g\n", loss);
  for (i = 0; i < ROWS * OUTPUTS; ++i) printf("%.9g\n", y[i]);
  printf("bytes %u\n", (unsigned)static_memory_used());
  return 0;
}
