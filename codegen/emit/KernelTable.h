//===- KernelTable.h - The kernels of a program ------- --------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_KERNELTABLE_H
#define FERRULE_CODEGEN_EMIT_KERNELTABLE_H

#include "codegen/common/KernelEmitter.h"
#include "codegen/common/TileChoice.h"
#include "codegen/emit/CodeImage.h"
#include "ir/plan/PlanOps.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ferrule {

/// The kernels of a program, in the order in which the plan's module holds them.
class KernelTable {
public:
  explicit KernelTable(MLIRContext *context);

  /// Emits every `ferrule_plan.kernel` of `plan`, and gives each call the dims and tiles that its kernel asks for.
  /// `tunable`, if given, receives the kernels for which there is something to choose.
  LogicalResult emitKernels(ModuleOp plan, const TileChoices &choices = {},
                            std::vector<TunableKernel> *tunable = nullptr);

  /// The number of a kernel of the plan.
  unsigned getNumber(StringRef kernel) const { return numbers.lookup(kernel); }
  ArrayRef<KernelSpec> getKernels() const { return kernels; }

  /// Machine code of all kernels that have any (no symbol), in their order, for each target, on `threads` threads (0: one a
  /// CPU), whose number changes no byte. On failure `error` says why.
  FailureOr<std::vector<CodeImage>> compile(ArrayRef<const CpuTarget *> targets, int threads, std::string &error);

private:
  OwningOpRef<ModuleOp> module;
  SmallVector<KernelSpec> kernels;
  llvm::StringMap<unsigned> numbers;
};

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_KERNELTABLE_H
