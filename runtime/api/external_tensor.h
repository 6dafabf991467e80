/* What a kernel that the product brings (FerruleExternalKernel) is told about its operands when the artifact calls it for an
   external op of a model (`fer.external_op`): dtype, rank and sizes of each result and operand, so that one function can
   serve several. C11 and C++17; nothing to link.

   Only for such kernels: the dims of another external kernel are what the compiler of the artifact says. */
#ifndef FERRULE_RUNTIME_API_EXTERNAL_TENSOR_H_
#define FERRULE_RUNTIME_API_EXTERNAL_TENSOR_H_

#include <stdint.h>

#include "kernels/base/kernel_args.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The dims of such a call, from the front: the number of results, the number of operands; then of each result and of each
   operand, in order, the dtype's code and bits as in DLPack, the rank and that many sizes. The buffers stand in the same
   order. */
typedef struct FerruleExternalTensor {
  void* data;     /* row-major; only results may be written */
  int32_t code;   /* 0 int, 1 uint, 2 float, 4 bfloat, 6 bool */
  int32_t bits;   /* of an element; bool has 8 */
  int64_t rank;
  const int64_t* shape;
} FerruleExternalTensor;

static inline int64_t ferrule_external_result_count(const FerruleKernelArgs* args) { return args->dims[0]; }
static inline int64_t ferrule_external_operand_count(const FerruleKernelArgs* args) { return args->dims[1]; }

/* Tensor `number` of a call: results from 0 on, then operands. It must be less than both counts together. */
static inline FerruleExternalTensor ferrule_external_tensor(const FerruleKernelArgs* args, int64_t number) {
  const int64_t* description = args->dims + 2;
  FerruleExternalTensor tensor;
  for (int64_t before = 0; before < number; ++before) description += 3 + description[2];
  tensor.data = args->buffers[number];
  tensor.code = (int32_t)description[0];
  tensor.bits = (int32_t)description[1];
  tensor.rank = description[2];
  tensor.shape = description + 3;
  return tensor;
}

#ifdef __cplusplus
}  // extern "C"
#endif

#endif /* FERRULE_RUNTIME_API_EXTERNAL_TENSOR_H_ */
