// Which values are computed where they are read, instead of being read from memory.
#ifndef FERRULE_PASSES_FUSE_CHEAPVALUES_H_
#define FERRULE_PASSES_FUSE_CHEAPVALUES_H_

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ferrule {

/// Roots that take pointers read whole tensors: nothing can be computed on the way.
bool loadsWhole(Operation *op);

/// Answers for the ops of one block, which do not depend on how they are grouped.
class CheapValues {
public:
  /// Without `fuse` only constants and index maps are computed where they are read.
  explicit CheapValues(bool fuse) : fuse(fuse) {}

  /// Whether the result of `op`, made elsewhere, should be computed again where it is read.
  bool isRecomputed(Operation *op) const;

  /// Whether that is so and op computes something. It and what is above it is cheap then; but a value that lies in
  /// memory anyway is read from there, unless it is made of one tensor that is kept as long for others.
  bool isComputedOnTheWay(Operation *op) const;

  /// What computing op on the way reads from memory, but for what is broadcast into it.
  DenseSet<Value> collectTensors(Operation *op) const;

  /// Adds op, and what is computed on the way to it, to `clones`, and what these read to `leaves`.
  void collect(Operation *op, llvm::SetVector<Value> &leaves, llvm::SetVector<Operation *> &clones) const;

private:
  unsigned countOps(Operation *op, DenseSet<Value> &tensors) const;

  bool fuse;
  mutable DenseMap<Operation *, bool> computedOnTheWay;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FUSE_CHEAPVALUES_H_
