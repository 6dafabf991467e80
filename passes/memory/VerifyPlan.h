// Judges a plan by running it: not what it computes, but what each buffer holds when it is read.
#ifndef FERRULE_PASSES_MEMORY_VERIFYPLAN_H_
#define FERRULE_PASSES_MEMORY_VERIFYPLAN_H_

#include "ir/plan/PlanOps.h"

namespace mlir::ferrule {

/// What the instructions of an entry mean, as values of the graph that it was made from.
struct PlanMeaning {
  /// By instruction: what each operand (outputs, then inputs) holds after it was written, or must hold when it is read.
  DenseMap<Operation *, SmallVector<Value>> operands;
  /// By buffer: what it holds before the first instruction, and must hold after the last.
  DenseMap<Value, Value> initial, final;
};

/// Fails, with an error at the instruction, unless
/// - placement: the runtime's own validator accepts the arena buffers and the peak, one interval an alias group;
/// - order: each buffer that is read was written before, and none of its bytes since by another one;
/// - in place: a call that writes over bytes that it reads does so element for element, and writes no byte twice;
/// - outputs: each holds something at the end.
/// With `meaning`, "something" is what the graph says, so that old and new contents of a variable cannot be confused.
LogicalResult verifyPlan(plan::EntryOp entry, const PlanMeaning *meaning = nullptr);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_VERIFYPLAN_H_
