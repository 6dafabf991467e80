// The calling convention between the runtime and every compiled kernel.
//
// A kernel is `int32_t f(const FerruleKernelArgs*)`: 0 means success, anything else is an error code whose
// details stand in `*error`. Every field is 8 bytes wide; fields are only ever appended, and `size` says how
// many bytes the caller filled. A kernel calls no library, allocates nothing and has no globals.
#ifndef FERRULE_KERNELS_BASE_KERNEL_ARGS_H_
#define FERRULE_KERNELS_BASE_KERNEL_ARGS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Filled by a kernel that fails; one a thread. The runtime reports the lowest `position` over all threads.
typedef struct FerruleKernelError {
  int64_t code;      // a FerruleKernelErrorCode
  int64_t position;  // logical row-major index of the offending element
  int64_t value;     // the offending value, e.g. an index
  int64_t limit;     // what `value` must stay below, e.g. the size of the axis
} FerruleKernelError;

typedef enum FerruleKernelErrorCode {
  kFerruleKernelOk = 0,
  kFerruleKernelIndexOutOfRange = 1,  // `value` must lie in 0 .. limit - 1
  kFerruleKernelIndexOutOfAxis = 2,   // `value` must lie in -limit .. limit - 1
} FerruleKernelErrorCode;

typedef struct FerruleKernelArgs {
  uint64_t size;          // sizeof(FerruleKernelArgs) of the caller
  uint64_t thread;        // 0 .. thread count - 1
  void* const* buffers;   // one pointer an operand; arena and weights are 64-byte aligned
  const int64_t* dims;    // the values of the dims that the kernel names, evaluated for this call
  int64_t tile_begin;     // the half-open range of tiles that this call computes
  int64_t tile_end;
  void* scratch;          // 64-byte aligned, per thread, as many bytes as the kernel table says
  FerruleKernelError* error;
  const void* params;     // a packed parameter block from the artifact, or null
} FerruleKernelArgs;

typedef int32_t (*FerruleKernelFunction)(const FerruleKernelArgs*);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // FERRULE_KERNELS_BASE_KERNEL_ARGS_H_
