// Answers "does this have a gradient?" before anything is compiled.
#ifndef FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_
#define FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_

#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace mlir::ferrule {

/// The ops that gradients of `cost` to `wrt` pass through. All stand in the block of the cost.
struct GradientPaths {
  /// Ops that the cost depends on.
  llvm::DenseSet<Operation *> needed;
  /// Float values that depend on a wrt by ops with gradient rules, the wrts themselves included.
  llvm::DenseSet<Value> active;
};
GradientPaths findGradientPaths(Value cost, ValueRange wrt);

/// Succeeds if the gradient of `cost` to each `wrt` can be built. Otherwise emits an error at the location of the op
/// that has no gradient, with the op's name, the reason and the wrt concerned, and fails.
///
/// An op marked NonDifferentiable with a float result stops every path through it. One with an integer or bool result
/// (a comparison, argmax) carries a zero gradient, which is an error only for a wrt that has no other path to the cost.
/// A wrt that the cost does not depend on is no error: its gradient is zero.
///
/// `names` are the wrts' names in messages; where it is shorter, a variable's or entry input's own name is used.
LogicalResult checkDifferentiable(Value cost, ValueRange wrt, llvm::ArrayRef<std::string> names = {});

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_AUTODIFF_DIFFERENTIABILITY_H_
