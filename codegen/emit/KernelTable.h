//===- KernelTable.h - One kernel for equal dispatches --------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_KERNELTABLE_H
#define FERRULE_CODEGEN_EMIT_KERNELTABLE_H

#include "codegen/common/KernelEmitter.h"
#include "codegen/emit/CodeImage.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ferrule {

/// The kernels of a program. Dispatches whose bodies read the same share one.
class KernelTable {
public:
  explicit KernelTable(MLIRContext *context);

  /// The number of the kernel that computes `dispatch`; emits it if it is new.
  FailureOr<unsigned> getKernel(DispatchOp dispatch);

  ArrayRef<KernelSpec> getKernels() const { return kernels; }

  /// Machine code of all kernels for each target, `threads` targets at a time. On failure `error` says why.
  FailureOr<std::vector<CodeImage>> compile(ArrayRef<const CpuTarget *> targets, int threads, std::string &error);

private:
  OwningOpRef<ModuleOp> module;
  SmallVector<KernelSpec> kernels;
  llvm::StringMap<unsigned> byStructure;
};

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_KERNELTABLE_H
