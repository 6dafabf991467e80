// Hand-made kernels for the runtime's tests, built by clang and lld to a flat position-independent image as the
// compiler makes them. The table in front holds each kernel's position in the image.
#include "kernels/base/kernel_args.h"

enum { kColumns = 4 };

// out[r][c] = 2 * x[r][c] + w[c]; dims: rows; a tile is a row. Operands: out, x, w.
int32_t affine(const FerruleKernelArgs* args) {
  float* out = args->buffers[0];
  const float* x = args->buffers[1];
  const float* w = args->buffers[2];
  for (int64_t r = args->tile_begin; r < args->tile_end; ++r)
    for (int c = 0; c < kColumns; ++c) out[r * kColumns + c] = 2 * x[r * kColumns + c] + w[c];
  return 0;
}

// w[c] += sum of x[r][c]; dims: rows; one tile. Operands: w (in place), x, w.
int32_t accumulate(const FerruleKernelArgs* args) {
  float* w = args->buffers[0];
  const float* x = args->buffers[1];
  for (int c = 0; c < kColumns; ++c)
    for (int64_t r = 0; r < args->dims[0]; ++r) w[c] += x[r * kColumns + c];
  return 0;
}

// out = sum of x, by way of the thread's scratch (16 bytes); dims: rows; one tile. Operands: out, x.
int32_t sum(const FerruleKernelArgs* args) {
  float* out = args->buffers[0];
  const float* x = args->buffers[1];
  float* lanes = args->scratch;
  for (int c = 0; c < kColumns; ++c) lanes[c] = 0;
  for (int64_t r = 0; r < args->dims[0]; ++r)
    for (int c = 0; c < kColumns; ++c) lanes[c] += x[r * kColumns + c];
  *out = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  return 0;
}

// out[r] = index[r], which must be below the limit in `params`; dims: rows; a tile is a row. Operands: out, index.
int32_t check_index(const FerruleKernelArgs* args) {
  int32_t* out = args->buffers[0];
  const int32_t* index = args->buffers[1];
  const int64_t limit = *(const int64_t*)args->params;
  for (int64_t r = args->tile_begin; r < args->tile_end; ++r) {
    if (index[r] >= limit) {
      args->error->code = kFerruleKernelIndexOutOfRange;
      args->error->position = r;
      args->error->value = index[r];
      args->error->limit = limit;
      return kFerruleKernelIndexOutOfRange;
    }
    out[r] = index[r];
  }
  return 0;
}

// out[r] = x[r][0] / 2: zero for a denormal x if the thread flushes denormals. A tile is a row. Operands: out, x.
int32_t halve(const FerruleKernelArgs* args) {
  float* out = args->buffers[0];
  const float* x = args->buffers[1];
  for (int64_t r = args->tile_begin; r < args->tile_end; ++r) out[r] = x[r * kColumns] * 0.5f;
  return 0;
}

// out[r] = the thread that computed row r. A tile is a row. Operands: out.
int32_t thread_of_row(const FerruleKernelArgs* args) {
  int32_t* out = args->buffers[0];
  for (int64_t r = args->tile_begin; r < args->tile_end; ++r) out[r] = (int32_t)args->thread;
  return 0;
}

// out = how many rows have x[r][0] > 0; dims: rows; one tile. Operands: out, x.
int32_t count_positive(const FerruleKernelArgs* args) {
  int32_t* out = args->buffers[0];
  const float* x = args->buffers[1];
  *out = 0;
  for (int64_t r = 0; r < args->dims[0]; ++r) *out += x[r * kColumns] > 0;
  return 0;
}

// out = counter < limit as one byte. Operands: out, counter, limit.
int32_t is_below(const FerruleKernelArgs* args) {
  *(uint8_t*)args->buffers[0] = *(const int32_t*)args->buffers[1] < *(const int32_t*)args->buffers[2];
  return 0;
}

// ++counter. Operands: counter (in place).
int32_t increment(const FerruleKernelArgs* args) {
  ++*(int32_t*)args->buffers[0];
  return 0;
}

// The rows of x with x[r][0] > 0, one behind the other, and how many; dims: rows; one tile. Operands: out, count, x.
int32_t select_positive(const FerruleKernelArgs* args) {
  float* out = args->buffers[0];
  const float* x = args->buffers[2];
  int64_t count = 0;
  for (int64_t r = 0; r < args->dims[0]; ++r) {
    if (!(x[r * kColumns] > 0)) continue;
    for (int c = 0; c < kColumns; ++c) out[count * kColumns + c] = x[r * kColumns + c];
    ++count;
  }
  *(int64_t*)args->buffers[1] = count;
  return 0;
}

// As the first row of affine; -1.1 to as many floats behind it as `params` says. Wrong on purpose. Operands: out, x, w.
int32_t write_beyond(const FerruleKernelArgs* args) {
  float* out = args->buffers[0];
  const float* x = args->buffers[1];
  const float* w = args->buffers[2];
  const int64_t beyond = *(const int64_t*)args->params;
  for (int64_t i = 0; i < kColumns; ++i) out[i] = 2 * x[i] + w[i];
  for (int64_t i = 0; i < beyond; ++i) out[kColumns + i] = -1.1f;
  return 0;
}

// out = the float that lies as many floats from the start of x as `params` says. Wrong on purpose. Operands: out, x.
int32_t read_elsewhere(const FerruleKernelArgs* args) {
  const float* x = args->buffers[1];
  *(float*)args->buffers[0] = x[*(const int64_t*)args->params];
  return 0;
}

// The order of ferrule::runtime::testing::TestKernel.
__attribute__((section(".table"), used)) static FerruleKernelFunction const table[] = {
    affine, accumulate, sum, check_index, halve, thread_of_row, count_positive, is_below, increment,
    select_positive, write_beyond, read_elsewhere,
};
