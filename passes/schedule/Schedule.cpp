#include "passes/Passes.h"

#include "ir/dims/DimConstraints.h"
#include "ir/graph/Dispatch.h"
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
uint64_t estimateBytes(Value value, ModuleOp module) {
  DimExpr bytes = getByteCount(cast<RankedTensorType>(value.getType()));
  auto declarations = module->getAttrOfType<DictionaryAttr>("ferrule.dims");
  auto valueOf = [&](const std::string &name) -> std::optional<int64_t> {
    auto range = declarations ? declarations.getAs<DictionaryAttr>(name) : DictionaryAttr();
    auto max = range ? range.getAs<IntegerAttr>("max") : IntegerAttr();
    bool bounded = max && max.getInt() != ::ferrule::DimRange::unbounded;
    return bounded ? max.getInt() : 1;
  };
  return std::max<int64_t>(0, bytes.evaluate(valueOf).value_or(0));
}

class Scheduler {
public:
  explicit Scheduler(func::FuncOp function) : function(function), module(function->getParentOfType<ModuleOp>()) {}

  void run() {
    for (DispatchOp dispatch : function.getBody().front().getOps<DispatchOp>())
      addNode(dispatch);
    pinReturned();
    addVariableOrder();
    ::ferrule::memory::Schedule schedule = ::ferrule::memory::schedule_for_memory(problem);
    if (schedule.peak < schedule.original_peak)
      reorder(schedule.order);
  }

private:
  static Value getRoot(Value value) {
    while (auto reshape = value.getDefiningOp<ReshapeOp>())
      value = reshape.getX();
    return value;
  }

  uint32_t getBuffer(Value value) {
    auto [it, inserted] = buffers.try_emplace(value, problem.buffers.size());
    if (inserted)
      problem.buffers.push_back({estimateBytes(value, module), !value.getDefiningOp<DispatchOp>()});
    return it->second;
  }

  void addNode(DispatchOp dispatch) {
    ScheduleNode node;
    for (Value input : dispatch.getInputs())
      node.reads.push_back(getBuffer(getRoot(input)));
    for (Value result : dispatch.getResults())
      node.writes.push_back(getBuffer(result));
    nodeOf[dispatch] = problem.nodes.size();
    problem.nodes.push_back(node);
    dispatches.push_back(dispatch);
  }

  /// Outputs and assigned values lie outside the arena.
  void pinReturned() {
    for (Operation &op : function.getBody().front())
      if (isa<AssignOp, func::ReturnOp>(op))
        for (Value operand : op.getOperands())
          if (auto it = buffers.find(getRoot(operand)); it != buffers.end())
            problem.buffers[it->second].pinned = true;
  }

  /// A variable is written in place after all reads of its old value, where the program's order already has it so.
  void addVariableOrder() {
    for (AssignOp assign : function.getBody().front().getOps<AssignOp>()) {
      auto producer = getRoot(assign.getValue()).getDefiningOp<DispatchOp>();
      if (!producer)
        continue;
      for (ReadOp read : function.getBody().front().getOps<ReadOp>())
        if (read.getVariable() == assign.getVariable())
          if (auto it = buffers.find(read.getResult()); it != buffers.end())
            problem.nodes[nodeOf[producer]].writes.push_back(it->second);
    }
  }

  /// Moves the dispatches to the end of the block, in order, each after the reshapes that it reads.
  void reorder(ArrayRef<uint32_t> order) {
    Operation *terminator = function.getBody().front().getTerminator();
    DenseSet<Operation *> placed;
    auto placeReshape = [&](auto &&self, Value value) -> void {
      auto reshape = value.getDefiningOp<ReshapeOp>();
      if (!reshape || !placed.insert(reshape).second)
        return;
      self(self, reshape.getX());
      reshape->moveBefore(terminator);
    };
    SmallVector<Operation *> ends;
    SmallVector<ReshapeOp> reshapes;
    for (Operation &op : function.getBody().front()) {
      if (isa<AssignOp>(op))
        ends.push_back(&op);
      if (auto reshape = dyn_cast<ReshapeOp>(op))
        reshapes.push_back(reshape);
    }
    for (uint32_t index : order) {
      for (Value input : dispatches[index].getInputs())
        placeReshape(placeReshape, input);
      dispatches[index]->moveBefore(terminator);
    }
    // One that nobody reads must not be left before what it reads.
    for (ReshapeOp reshape : reshapes)
      placeReshape(placeReshape, reshape);
    ends.push_back(terminator);
    for (Operation *op : ends) {
      for (Value operand : op->getOperands())
        placeReshape(placeReshape, operand);
      if (op != terminator)
        op->moveBefore(terminator);
    }
  }

  func::FuncOp function;
  ModuleOp module;
  ScheduleProblem problem;
  DenseMap<Value, uint32_t> buffers;
  DenseMap<Operation *, uint32_t> nodeOf;
  SmallVector<DispatchOp> dispatches;
};

struct SchedulePass : mlir::ferrule::impl::SchedulePassBase<SchedulePass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      Scheduler(function).run();
  }
};

} // namespace
