// What instructions take, by estimate: enough to compare one with another.
#ifndef FERRULE_PASSES_RECOMPUTE_TIMEESTIMATE_H_
#define FERRULE_PASSES_RECOMPUTE_TIMEESTIMATE_H_

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Dispatch.h"

namespace mlir::ferrule {

/// Sizes are those at the upper ends of the dims' ranges; a dim without an end counts as 1.
class TimeEstimate {
public:
  explicit TimeEstimate(const ::ferrule::DimConstraints &constraints) : constraints(constraints) {}

  double getBytes(Value value) const;

  /// Nanoseconds: of its arithmetic and of its memory traffic, one after the other.
  double ofDispatch(DispatchOp dispatch) const;

  /// Nanoseconds. Of a branch the longer side; of a while loop, whose steps are not known, one step.
  double ofControlFlow(Operation *op) const;

private:
  double evaluate(const DimExpr &expression) const;
  double ofBlock(Block &block) const;

  const ::ferrule::DimConstraints &constraints;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_TIMEESTIMATE_H_
