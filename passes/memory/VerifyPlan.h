// Judges a plan by running it: not what it computes, but what each buffer holds when it is read.
#ifndef FERRULE_PASSES_MEMORY_VERIFYPLAN_H_
#define FERRULE_PASSES_MEMORY_VERIFYPLAN_H_

#include "ir/plan/PlanOps.h"

namespace mlir::ferrule {

/// The bytes of an operand: a buffer, or a part of one.
struct BufferRange {
  Value buffer;
  bool isPart = false;
  DimExpr offset, bytes;

  bool operator==(const BufferRange &other) const {
    return buffer == other.buffer && isPart == other.isPart && offset == other.offset && bytes == other.bytes;
  }
};

/// What the instructions of an entry mean, as values of the graph that it was made from.
struct PlanMeaning {
  /// A place holds `before` at the border of a block, and that value is called `after` on the other side.
  struct Renaming {
    BufferRange before;
    Value valueBefore;
    BufferRange after;
    Value valueAfter;
  };
  /// By call and copy: what each operand (outputs, then inputs) holds after it was written, or must hold when it is
  /// read. By branch and while loop: its condition.
  DenseMap<Operation *, SmallVector<Value>> operands;
  /// By value: what its parts are called that are values of their own.
  struct Part {
    BufferRange range;
    Value value;
  };
  DenseMap<Value, SmallVector<Part, 1>> parts;
  /// By buffer: what it holds before the first instruction, and must hold after the last.
  DenseMap<Value, Value> initial, final;
  /// By block of a branch or loop: from outside to its first run; from its end to its next run (for the condition of a
  /// while loop: to the body); from its end to outside.
  struct Borders {
    SmallVector<Renaming> entry, next, exit;
  };
  DenseMap<Region *, Borders> blocks;
};

/// Fails, with an error at the instruction, unless
/// - placement: the runtime's own validator accepts the arena buffers of each block and the peak, one interval an alias
///   group, and no buffer of a deeper block lies where one is live around it;
/// - order: each buffer that is read was written before, and none of its bytes since by another one; a loop is run
///   twice, so that a step finds what it needs after the step before;
/// - in place: a call that writes over bytes that it reads does so element for element, and writes no byte twice;
/// - outputs: each holds something at the end.
/// With `meaning`, "something" is what the graph says, so that old and new contents of a variable cannot be confused.
LogicalResult verifyPlan(plan::EntryOp entry, const PlanMeaning *meaning = nullptr);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_VERIFYPLAN_H_
