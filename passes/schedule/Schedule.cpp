#include "passes/schedule/Schedule.h"

#include "passes/Passes.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/ControlFlow.h"
#include "ir/graph/ModuleDims.h"
#include "ir/graph/Nonzero.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "runtime/memory/planner/schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ferrule {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;
using ::ferrule::memory::ScheduleNode;
using ::ferrule::memory::ScheduleProblem;

namespace {

/// Bytes at the upper end of the dims' ranges; a size without an end counts as if its dims were 1.
uint64_t estimateBytes(Value value, const ::ferrule::DimConstraints &constraints) {
  DimExpr bytes = getByteCount(cast<RankedTensorType>(value.getType()));
  auto valueOf = [&](const std::string &name) -> std::optional<int64_t> {
    int64_t max = constraints.getRange(name).max;
    return max == ::ferrule::DimRange::unbounded ? 1 : max;
  };
  return std::max<int64_t>(0, bytes.evaluate(valueOf).value_or(0));
}

/// Orders one block. Branches and loops are instructions like calls, with a workspace that their own schedules tell.
class Scheduler {
public:
  Scheduler(Block &block, const ::ferrule::DimConstraints &constraints) : block(block), constraints(constraints) {}

  /// Returns the most bytes that are live at one instruction of the block.
  uint64_t run() {
    describe();
    ::ferrule::memory::Schedule schedule = ::ferrule::memory::schedule_for_memory(problem);
    if (schedule.peak < schedule.original_peak)
      reorder(schedule.order);
    return std::min(schedule.peak, schedule.original_peak);
  }

  void freeEarly() {
    describe();
    reorder(::ferrule::memory::schedule_freeing_early(problem).order);
  }

private:
  void describe() {
    for (DispatchOp dispatch : block.getOps<DispatchOp>())
      if (std::optional<CountedDim> counted = getCountedDim(dispatch))
        counts[counted->name] = counted->count;
    for (Operation &op : block)
      if (isInstruction(&op))
        addNode(&op);
    pinReturned();
    addUpdateOrder();
  }

  static bool isInstruction(Operation *op) { return isa<DispatchOp>(op) || isControlFlow(op); }

  /// Reads the bytes of its operand.
  static bool isView(Operation *op) { return isa_and_nonnull<ReshapeOp, SliceOp>(op); }

  static Value getRoot(Value value) {
    while (isView(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  }

  uint32_t getBuffer(Value value) {
    auto [it, inserted] = buffers.try_emplace(value, problem.buffers.size());
    if (inserted) {
      Operation *producer = value.getDefiningOp();
      problem.buffers.push_back({estimateBytes(value, constraints), !producer || !isInstruction(producer)});
    }
    return it->second;
  }

  void addNode(Operation *op) {
    ScheduleNode node;
    for (Value operand : op->getOperands())
      node.reads.push_back(getBuffer(getRoot(operand)));
    for (Value result : op->getResults())
      node.writes.push_back(getBuffer(result));
    if (isControlFlow(op)) {
      uint64_t workspace = 0;
      for (Region &region : op->getRegions())
        workspace = std::max(workspace, Scheduler(region.front(), constraints).run());
      node.writes.push_back(problem.buffers.size());
      problem.buffers.push_back({workspace, false});
    }
    readCounts(op, node);
    nodeOf[op] = problem.nodes.size();
    problem.nodes.push_back(node);
    instructions.push_back(op);
  }

  /// An instruction runs after those that count its dims, also where it reads nothing of theirs.
  void readCounts(Operation *instruction, ScheduleNode &node) {
    if (counts.empty())
      return;
    std::set<std::string> used;
    auto collect = [&](ArrayRef<DimExpr> sizes) {
      for (const DimExpr &size : sizes)
        size.collectDims(used);
    };
    instruction->walk([&](Operation *op) {
      for (NamedAttribute attribute : op->getAttrs())
        if (auto sizes = dyn_cast<DimsAttr>(attribute.getValue()))
          collect(sizes.getDims());
      for (Value result : op->getResults())
        collect(getDims(result));
    });
    for (const std::string &name : used) {
      auto count = counts.find(name);
      if (count != counts.end() && count->second.getDefiningOp() != instruction)
        node.reads.push_back(getBuffer(count->second));
    }
  }

  /// Outputs, assigned values and what a region yields lie outside the block's own memory.
  void pinReturned() {
    for (Operation &op : block)
      if (isa<AssignOp, YieldOp, func::ReturnOp>(op))
        for (Value operand : op.getOperands())
          if (auto it = buffers.find(getRoot(operand)); it != buffers.end())
            problem.buffers[it->second].pinned = true;
  }

  /// A variable is written in place after all reads of its old value, where the program's order already has it so; and
  /// so is the carry of a loop.
  void addUpdateOrder() {
    llvm::StringMap<SmallVector<Value, 1>> reads;
    for (ReadOp read : block.getOps<ReadOp>())
      reads[read.getVariable()].push_back(read.getResult());
    for (AssignOp assign : block.getOps<AssignOp>())
      for (Value read : reads.lookup(assign.getVariable()))
        addUpdateOrder(read, assign.getValue());
    Operation *parent = block.getParentOp();
    for (unsigned carry = 0; carry < getCarryCount(parent); ++carry)
      if (block.getTerminator()->getNumOperands() > carry)
        addUpdateOrder(block.getArgument(carry), block.getTerminator()->getOperand(carry));
  }

  void addUpdateOrder(Value oldValue, Value newValue) {
    auto producer = nodeOf.find(getRoot(newValue).getDefiningOp());
    auto buffer = buffers.find(oldValue);
    if (producer != nodeOf.end() && buffer != buffers.end())
      problem.nodes[producer->second].writes.push_back(buffer->second);
  }

  /// Moves the instructions to the end of the block, in order, each after the views that it reads.
  void reorder(ArrayRef<uint32_t> order) {
    Operation *terminator = block.getTerminator();
    DenseSet<Operation *> placed;
    auto placeView = [&](auto &&self, Value value) -> void {
      Operation *view = value.getDefiningOp();
      if (!isView(view) || !placed.insert(view).second)
        return;
      self(self, view->getOperand(0));
      view->moveBefore(terminator);
    };
    SmallVector<Operation *> ends, views;
    for (Operation &op : block) {
      if (isa<AssignOp>(op))
        ends.push_back(&op);
      if (isView(&op))
        views.push_back(&op);
    }
    for (uint32_t index : order) {
      for (Value operand : instructions[index]->getOperands())
        placeView(placeView, operand);
      instructions[index]->moveBefore(terminator);
    }
    // One that nobody reads must not be left before what it reads.
    for (Operation *view : views)
      placeView(placeView, view->getResult(0));
    ends.push_back(terminator);
    for (Operation *op : ends) {
      for (Value operand : op->getOperands())
        placeView(placeView, operand);
      if (op != terminator)
        op->moveBefore(terminator);
    }
  }

  Block &block;
  const ::ferrule::DimConstraints &constraints;
  /// The tensor that each dim is counted in.
  std::map<std::string, Value> counts;
  ScheduleProblem problem;
  DenseMap<Value, uint32_t> buffers;
  DenseMap<Operation *, uint32_t> nodeOf;
  SmallVector<Operation *> instructions;
};

struct SchedulePass : mlir::ferrule::impl::SchedulePassBase<SchedulePass> {
  void runOnOperation() override {
    FailureOr<::ferrule::DimConstraints> constraints = getDimConstraints(getOperation());
    if (failed(constraints))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      Scheduler(function.getBody().front(), *constraints).run();
  }
};

} // namespace

void mlir::ferrule::freeEarly(Block &block, const ::ferrule::DimConstraints &constraints) {
  Scheduler(block, constraints).freeEarly();
}
