// What the memory pass is made of: placing an entry's values (PlanMemory.cpp), deciding what may be written in place
// (InPlace.cpp), kernels shared by equal dispatches (KernelOutliner.h), and the check of the result (VerifyPlan.h).
#ifndef FERRULE_PASSES_MEMORY_MEMORYPLAN_H_
#define FERRULE_PASSES_MEMORY_MEMORYPLAN_H_

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Dispatch.h"
#include "ir/plan/PlanOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace mlir::ferrule {

struct PlannedBuffer {
  plan::Storage storage = plan::Storage::Arena;
  /// Of the input or output.
  unsigned index = 0;
  /// A constant's value.
  ElementsAttr constant;
  uint64_t offset = 0;
  DimExpr bytes;
  /// The most that `bytes` can be over the whole range of the dims.
  uint64_t plannedBytes = 0;
  /// First and last instruction at which it holds a live value.
  unsigned begin = 0, end = 0;
  /// Buffers with the same number above zero share storage on purpose.
  unsigned aliasGroup = 0;
  /// A variable's symbol; else for people.
  std::string name;
};

struct PlannedInstruction {
  /// Null for a copy of `bytes` from operands[1] to operands[0].
  DispatchOp dispatch;
  /// Buffers of the results, then of the inputs.
  SmallVector<unsigned> operands;
  DimExpr bytes;
  /// What a copy moves.
  Value value;
  Location location;
};

struct EntryPlan {
  std::vector<PlannedBuffer> buffers;
  std::vector<PlannedInstruction> instructions;
  uint64_t peakBytes = 0, lowerBoundBytes = 0, naiveBytes = 0;
};

struct MemoryOptions {
  /// Off: a result never takes an operand's bytes and updates go through a copy. Results must not change.
  bool inPlace = true;
  /// Work allowed to the search for a better placement.
  uint64_t searchSteps = 20'000'000;
};

/// Plans `entry`, a function of dispatches. Fails with an error at the entry if a dim that sizes a buffer has no upper
/// bound.
FailureOr<EntryPlan> planMemory(func::FuncOp entry, const ::ferrule::DimConstraints &constraints,
                                const MemoryOptions &options);

/// The value whose bytes `value` is: looks through reshapes, which move nothing.
Value getStoredValue(Value value);

/// Whether result `result` of `dispatch` may be written over input `input`: every element of the input is read only
/// where the result's element of the same number is computed, before it is stored.
bool canShareStorage(DispatchOp dispatch, unsigned result, unsigned input);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_MEMORYPLAN_H_
