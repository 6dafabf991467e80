// What the memory pass is made of: placing the values of a block (BlockPlanner.cpp) and of an entry (PlanMemory.cpp),
// deciding what may be written in place (InPlace.cpp), writing it down as a plan (PlanEmitter.cpp), kernels shared by
// equal dispatches (KernelOutliner.h), and the check of the result (VerifyPlan.h).
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
  /// First and last instruction of its block at which it holds a live value.
  unsigned begin = 0, end = 0;
  /// Buffers with the same number above zero share storage on purpose.
  unsigned aliasGroup = 0;
  /// A variable's symbol; else for people.
  std::string name;
  plan::BufferKind kind = plan::BufferKind::Unspecified;
  Type element;
};

/// Where a value lies: in a buffer, or in a part of one whose place may depend on the dims of the loops around.
struct Place {
  unsigned buffer = 0;
  bool isPart = false;
  DimExpr offset, bytes;

  bool operator==(const Place &other) const {
    return buffer == other.buffer && isPart == other.isPart && offset == other.offset && bytes == other.bytes;
  }
};

struct PlannedInstruction;

struct PlannedBlock {
  /// Those that it declares, as numbers of EntryPlan::buffers.
  SmallVector<unsigned> buffers;
  std::vector<PlannedInstruction> instructions;
};

struct PlannedInstruction {
  /// The dispatch that is called or the branch or loop that is run; null for a copy of `bytes` from operands[1] to
  /// operands[0], and for a dim that takes the value at operands[0], at most `bytes`.
  Operation *op = nullptr;
  /// Of a call the results, then the inputs; of a branch or while loop the condition.
  SmallVector<Place> operands;
  DimExpr bytes;
  /// What a copy moves, or a dim reads.
  Value value;
  Location location;
  /// One a region.
  std::vector<PlannedBlock> blocks;
  /// The dim of a scan's loop, or the one that takes a value.
  std::string dim;

  DispatchOp getDispatch() const { return dyn_cast_or_null<DispatchOp>(op); }
  bool isCopy() const { return !op && dim.empty(); }
  bool isBinding() const { return !op && !dim.empty(); }
};

/// Bytes of the arena: what is needed, the most that is live at one moment, and the sum of all buffers.
struct MemoryUse {
  uint64_t peakBytes = 0, lowerBoundBytes = 0, naiveBytes = 0;
};

struct EntryPlan {
  std::vector<PlannedBuffer> buffers;
  PlannedBlock body;
  MemoryUse memory;
  /// Where the value lies that a region's argument, an op's result or a leaf is.
  DenseMap<Value, Place> places;
};

struct MemoryOptions {
  /// Off: a result never takes an operand's bytes and updates go through a copy. Results must not change.
  bool inPlace = true;
  /// Work allowed to the search for a better placement, a block.
  uint64_t searchSteps = 20'000'000;
};

/// Plans `entry`, a function of dispatches, branches and loops. Fails with an error at the entry if a dim that sizes a
/// buffer has no upper bound.
FailureOr<EntryPlan> planMemory(func::FuncOp entry, const ::ferrule::DimConstraints &constraints,
                                const MemoryOptions &options);

/// The value whose bytes `value` is: looks through reshapes, which move nothing.
Value getStoredValue(Value value);

/// The value in whose bytes `value` lies, as all or a part of them: looks through reshapes and slices, too. A slice that
/// stands outside of dispatches takes elements side by side along the first axis, and moves nothing.
Value getSource(Value value);

/// Reads the same bytes as its operand, or some of them.
bool isMemoryView(Operation *op);

/// Whether result `result` of `dispatch` may be written over input `input`: every element of the input is read only
/// where the result's element of the same number is computed, before it is stored.
bool canShareStorage(DispatchOp dispatch, unsigned result, unsigned input);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_MEMORYPLAN_H_
