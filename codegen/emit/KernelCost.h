//===- KernelCost.h - What a call of a kernel computes and moves -*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_KERNELCOST_H
#define FERRULE_CODEGEN_EMIT_KERNELCOST_H

#include "ir/plan/PlanOps.h"

namespace mlir::ferrule {

/// What a profile divides a call's time by. Bytes are those that the kernel cannot do without: each once, however often
/// it comes from memory, and only the elements that a slice or a look-up takes.
struct KernelCost {
  DimExpr flops, readBytes, writtenBytes;
};

/// `dispatch` is that of the call's kernel.
KernelCost getKernelCost(plan::CallOp call, DispatchOp dispatch);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_KERNELCOST_H
