// Plans one block: an entry's body, or a region of a branch or loop, and the blocks in it, inner ones first.
#ifndef FERRULE_PASSES_MEMORY_BLOCKPLANNER_H_
#define FERRULE_PASSES_MEMORY_BLOCKPLANNER_H_

#include "ir/graph/ControlFlow.h"
#include "passes/memory/BufferKinds.h"
#include "passes/memory/MemoryPlan.h"

namespace mlir::ferrule {

/// A place that holds one value when a block begins and another when it ends: a variable, or a carry of a loop.
struct PlaceUpdate {
  Place place;
  SmallVector<Value> oldValues;
  Value newValue;
  Location location;
};

/// A place that gets a value in a block and is not read in it: an output, or what a region yields.
struct PlaceResult {
  Place place;
  Value value;
  Location location;
};

/// What the blocks of one entry share.
class PlanningContext {
public:
  PlanningContext(func::FuncOp entry, const ::ferrule::DimConstraints &constraints, const MemoryOptions &options)
      : entry(entry), constraints(constraints), options(options), kinds(entry) {}

  /// Adds a buffer of `block` for a tensor of that type; remembers an error if it has no upper bound.
  unsigned addBuffer(PlannedBlock &block, plan::Storage storage, unsigned index, RankedTensorType type, StringRef name);

  /// Adds a buffer of the arena for a result of a dispatch, branch or loop.
  unsigned addArenaBuffer(PlannedBlock &block, OpResult result, StringRef name);

  /// Adds a buffer of the arena for what only running takes.
  unsigned addWorkspace(PlannedBlock &block, RankedTensorType type, StringRef name);

  /// The place that is the whole of a buffer.
  Place getWhole(unsigned buffer) const { return {buffer, false, DimExpr(0), plan.buffers[buffer].bytes}; }

  /// A name that no dim of the entry has.
  std::string takeLoopDim();

  func::FuncOp entry;
  const ::ferrule::DimConstraints &constraints;
  MemoryOptions options;
  EntryPlan plan;
  unsigned aliasGroupCount = 0;
  bool hasError = false;

private:
  BufferKinds kinds;
  unsigned loopCount = 0;
};

class BlockPlanner {
public:
  /// The leaves of the block (its arguments, what it reads) must have their places in `context`.
  BlockPlanner(PlanningContext &context, Block &block, ArrayRef<PlaceUpdate> updates, ArrayRef<PlaceResult> results)
      : context(context), buffers(context.plan.buffers), places(context.plan.places), block(block), updates(updates),
        results(results) {}

  /// Fills `planned`, which may hold buffers already, with instructions, lifetimes and offsets from 0 on.
  FailureOr<MemoryUse> run(PlannedBlock &planned);

private:
  void addConstants();
  void bindUpdates();
  void bindResults();
  void bindControlFlow();
  void createInstructions();
  void createCall(DispatchOp dispatch);
  void createScan(ScanOp scan);
  void createWhile(WhileOp loop);
  void createIf(IfOp branch);
  void createInits(Operation *op, ValueRange inits);
  PlannedInstruction createCopy(Place target, Value value, Location location) const;
  void planRegion(PlannedInstruction &instruction, Region &region, ArrayRef<PlaceUpdate> regionUpdates,
                  ArrayRef<PlaceResult> regionResults);
  void bindCaptures(Operation *op, Block &region);
  void bindCarries(Operation *op, Block &region);
  SmallVector<PlaceUpdate> getCarryUpdates(Operation *op, Block &body) const;
  void createFinalCopies();
  void setLifetimes();
  void shareStorage();
  LogicalResult place(MemoryUse &use);

  bool canUpdateInPlace(const PlaceUpdate &update, OpResult producer) const;
  bool canComputeInit(OpOperand &init) const;
  bool isMadeHere(Value value) const;
  Place getPlace(Value value) const;
  const PlaceUpdate *findUpdate(Value oldValue) const;

  PlanningContext &context;
  std::vector<PlannedBuffer> &buffers;
  DenseMap<Value, Place> &places;
  Block &block;
  ArrayRef<PlaceUpdate> updates;
  ArrayRef<PlaceResult> results;
  PlannedBlock *planned = nullptr;
  /// Results of ops that are written where they finally belong.
  DenseMap<Value, Place> destinations;
  /// Updates and results that a copy at the end serves.
  SmallVector<std::pair<Place, Value>> lateUpdates, lateResults;
  std::vector<PlannedInstruction> earlyCopies;
  /// By instruction: the arena that its blocks need.
  DenseMap<unsigned, MemoryUse> workspaces;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_MEMORY_BLOCKPLANNER_H_
