// Makes kernels of dispatches: equal dispatches, whatever entry they stand in, share one.
#ifndef FERRULE_PASSES_MEMORY_KERNELOUTLINER_H_
#define FERRULE_PASSES_MEMORY_KERNELOUTLINER_H_

#include "ir/plan/PlanOps.h"

#include "mlir/IR/Builders.h"

namespace mlir::ferrule {

class KernelOutliner {
public:
  /// `symbols` is the module's table; a kernel's name avoids what is in it.
  explicit KernelOutliner(SymbolTable &symbols) : symbols(symbols) {}

  /// The kernel whose dispatch has the structure of `dispatch`: the same ops, attributes and types, joined in the same
  /// way. A new one is made before `insertion`. Its name is its chief op and its number: `matmul.3`.
  plan::KernelOp getKernel(DispatchOp dispatch, Operation *insertion);

private:
  SymbolTable &symbols;
  unsigned kernelCount = 0;
  /// By a hash of the structure.
  DenseMap<unsigned, SmallVector<plan::KernelOp, 1>> kernels;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_KERNELOUTLINER_H_
