// The backward walk over one block: from cotangents of some of its values to those of others.
#ifndef FERRULE_PASSES_AUTODIFF_GRADIENTWALK_H_
#define FERRULE_PASSES_AUTODIFF_GRADIENTWALK_H_

#include "ir/graph/GraphBuilder.h"
#include "passes/autodiff/Differentiability.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::ferrule {

class GradientWalk {
public:
  /// New ops go where `builder` stands: behind all ops that are walked.
  GradientWalk(OpBuilder &builder, GradientPaths paths) : builder(builder), paths(std::move(paths)) {}

  /// Adds to a value's cotangent. A value that is used several times adds its cotangents in reverse order of recorded
  /// use, left to right: this order is part of the result's bits.
  void add(Value value, Value cotangent, Location location);

  /// The cotangent of a value, or null.
  Value lookup(Value value) const { return cotangents.lookup(value); }

  /// Walks from `last` back to the beginning of its block; null walks nothing.
  LogicalResult run(Operation *last);

private:
  LogicalResult visit(Operation *op);
  bool isActive(Value value) const { return paths.active.contains(value); }

  OpBuilder &builder;
  GradientPaths paths;
  llvm::DenseMap<Value, Value> cotangents;
};

/// Gives the branches and loops between the costs and `wrt` the form that their gradients start from: a while loop is a
/// scan of its most steps, and a scan stacks the carries that each step begins with. Values that are wrt or cost may be
/// replaced, as all their uses are.
void prepareControlFlow(ValueRange costs, ValueRange wrt);

/// Removes what prepareControlFlow noted on ops.
void forgetPreparation(Operation *root);

/// The rule of an op whose gradient is that of its regions; as FerruleOpInterface::buildGradient. Only operands for
/// which `isActive` holds get a gradient.
LogicalResult buildControlFlowGradient(Operation *op, GraphBuilder &b, ArrayRef<Value> cotangents,
                                       llvm::function_ref<bool(Value)> isActive, MutableArrayRef<Value> gradients);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_AUTODIFF_GRADIENTWALK_H_
