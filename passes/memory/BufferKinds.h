// What the buffers of an entry hold, told for people: activations, residuals, gradients.
#ifndef FERRULE_PASSES_MEMORY_BUFFERKINDS_H_
#define FERRULE_PASSES_MEMORY_BUFFERKINDS_H_

#include "ir/plan/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::ferrule {

/// Reads the marks that autodiff and recomputation left on ops and locations (passes/{autodiff,recompute}/Marks.h).
class BufferKinds {
public:
  explicit BufferKinds(func::FuncOp entry) { findAfterBackward(entry.getBody().front()); }

  /// Of the buffer that a result of a dispatch, branch or loop lies in.
  plan::BufferKind get(OpResult result) const;

private:
  void findAfterBackward(Block &block);

  /// Values that depend on what the backward computation made.
  llvm::DenseSet<Value> afterBackward;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_BUFFERKINDS_H_
