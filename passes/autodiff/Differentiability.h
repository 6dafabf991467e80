// Answers "does this have a gradient?" before anything is compiled.
#ifndef FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_
#define FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace mlir::ferrule {

/// The ops that gradients of `costs` to `wrt` pass through. All stand in the block of the costs.
struct GradientPaths {
  /// Ops that a cost depends on.
  llvm::DenseSet<Operation *> needed;
  /// Float values that depend on a wrt by ops with gradient rules, the wrts themselves included.
  llvm::DenseSet<Value> active;
};
GradientPaths findGradientPaths(ValueRange costs, ValueRange wrt);

/// The values from which a cost can be reached by gradient rules, the costs included. A branch or loop counts as if
/// each result depended on each operand.
llvm::DenseSet<Value> findDifferentiableValues(ValueRange costs);

/// An op that stops the gradient on its way from the cost to a wrt.
struct GradientObstacle {
  Operation *op;
  std::string reason;
  /// Which wrt.
  unsigned wrt;
};

/// What makes the gradients of `cost` to `wrt` impossible, by wrt and then in program order; empty if they can be built.
///
/// An op marked NonDifferentiable with a float result stops every path through it. One with an integer or bool result
/// (a comparison, argmax) carries a zero gradient, which is an obstacle only for a wrt that has no other path to the
/// cost. A wrt that the cost does not depend on meets none: its gradient is zero. Obstacles in branches and loop bodies
/// come last; there only ops with float results count.
llvm::SmallVector<GradientObstacle> findGradientObstacles(Value cost, ValueRange wrt);

/// The same without ops whose results are no floats: their zero gradients count everywhere. That is the rule for
/// derivatives of derivatives: the gradient of relu is a comparison and a choice, and its derivative is zero.
llvm::SmallVector<GradientObstacle> findFloatGradientObstacles(Value cost, ValueRange wrt);

/// Succeeds if there is no obstacle. Otherwise emits an error at the location of the first op that has no gradient,
/// with the op's name, the reason and the wrt concerned, and fails.
///
/// `names` are the wrts' names in messages; where it is shorter, a variable's or entry input's own name is used.
LogicalResult checkDifferentiable(Value cost, ValueRange wrt, llvm::ArrayRef<std::string> names = {});

/// Emits that error for `obstacle` of the gradient to `wrt`, and fails.
LogicalResult refuse(const GradientObstacle &obstacle, ValueRange wrt, llvm::ArrayRef<std::string> names = {});

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_
