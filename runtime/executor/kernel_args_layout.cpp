// The kernels in artifacts were compiled against these layouts. They are part of the format (serialize/schema/README.md):
// fields are only ever appended to FerruleKernelArgs, and no number changes.
#include <stddef.h>

#include "kernels/base/kernel_args.h"

static_assert(offsetof(FerruleKernelArgs, size) == 0 && offsetof(FerruleKernelArgs, thread) == 8 &&
              offsetof(FerruleKernelArgs, buffers) == 16 && offsetof(FerruleKernelArgs, dims) == 24 &&
              offsetof(FerruleKernelArgs, tile_begin) == 32 && offsetof(FerruleKernelArgs, tile_end) == 40 &&
              offsetof(FerruleKernelArgs, scratch) == 48 && offsetof(FerruleKernelArgs, error) == 56 &&
              offsetof(FerruleKernelArgs, params) == 64 && sizeof(FerruleKernelArgs) == 72);

static_assert(offsetof(FerruleKernelError, code) == 0 && offsetof(FerruleKernelError, position) == 8 &&
              offsetof(FerruleKernelError, value) == 16 && offsetof(FerruleKernelError, limit) == 24 &&
              sizeof(FerruleKernelError) == 32);

static_assert(kFerruleKernelOk == 0 && kFerruleKernelIndexOutOfRange == 1 && kFerruleKernelIndexOutOfAxis == 2);
