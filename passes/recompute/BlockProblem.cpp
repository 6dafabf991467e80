#include "passes/recompute/BlockProblem.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Nonzero.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/recompute/Marks.h"
#include "passes/recompute/Recipe.h"
#include "passes/recompute/TimeEstimate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

bool isInstruction(Operation *op) { return isa<DispatchOp>(op) || isControlFlow(op); }

class Describer {
public:
  Describer(Block &block, const ::ferrule::DimConstraints &constraints) : block(block), constraints(constraints), time(constraints) {}

  RecomputeProblem run() {
    for (Operation &op : block)
      if (isInstruction(&op))
        addNode(&op);
    for (DispatchOp dispatch : block.getOps<DispatchOp>())
      addRecipe(dispatch);
    pinReturned();
    return std::move(problem);
  }

private:
  uint32_t getNumber(Value value) {
    auto [it, inserted] = numbers.try_emplace(value, problem.values.size());
    if (inserted)
      problem.values.push_back({uint64_t(time.getBytes(value)), /*pinned=*/true, noNode, /*forced=*/false});
    return it->second;
  }

  void addNode(Operation *op) {
    RecomputeNode node;
    for (Value operand : op->getOperands())
      node.reads.push_back(getNumber(getSource(operand)));
    for (OpResult result : op->getResults()) {
      uint32_t number = getNumber(result);
      problem.values[number].pinned = false;
      problem.values[number].producer = problem.nodes.size();
      problem.values[number].forced = isMarked(result);
      node.writes.push_back(number);
    }
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      describeDispatch(dispatch, node);
    else
      describeControlFlow(op, node);
    problem.nodes.push_back(std::move(node));
  }

  /// What a loop over segments keeps is as little as the user wants.
  static bool isMarked(OpResult result) {
    if (result.getOwner()->hasAttr(recomputedAttributeName) || result.getOwner()->hasAttr(segmentAttributeName))
      return false;
    auto dispatch = dyn_cast<DispatchOp>(result.getOwner());
    if (!dispatch)
      return isInCheckpoint(result.getOwner()->getLoc());
    Operation *op = dispatch.getYielded()[result.getResultNumber()].getDefiningOp();
    return op && isInCheckpoint(op->getLoc());
  }

  void describeDispatch(DispatchOp dispatch, RecomputeNode &node) {
    node.clonable = !getCountedDim(dispatch);
    node.cheap = llvm::all_of(dispatch.getBodyBlock(), [](Operation &op) { return isOnePass(&op); });
    node.nanoseconds = time.ofDispatch(dispatch);
    for (auto [result, value] : llvm::enumerate(dispatch.getResults()))
      for (auto [input, operand] : llvm::enumerate(dispatch.getInputs()))
        if (problem.values[node.writes[result]].bytes == problem.values[node.reads[input]].bytes &&
            problem.values[node.reads[input]].producer != noNode && canShareStorage(dispatch, result, input))
          node.shares.push_back({uint32_t(result), uint32_t(input)});
  }

  void addRecipe(DispatchOp dispatch) {
    std::optional<Recipe> recipe = findRecipe(dispatch);
    if (!recipe)
      return;
    OpBuilder builder(dispatch.getContext());
    OwningOpRef<DispatchOp> created(createRecipe(builder, dispatch, *recipe));
    RecomputeNode node;
    for (Value operand : created->getInputs())
      node.reads.push_back(getNumber(getSource(operand)));
    for (unsigned result : recipe->made) {
      node.writes.push_back(getNumber(dispatch.getResult(result)));
      problem.values[node.writes.back()].recipe = problem.nodes.size() + problem.recipes.size();
    }
    describeDispatch(*created, node);
    problem.recipes.push_back(std::move(node));
  }

  void describeControlFlow(Operation *op, RecomputeNode &node) {
    bool counts = false;
    op->walk([&](DispatchOp dispatch) { counts |= bool(getCountedDim(dispatch)); });
    node.clonable = !counts && !isa<WhileOp>(op);
    node.nanoseconds = time.ofControlFlow(op);
    addCarries(op, node);
    for (Region &region : op->getRegions()) {
      RecomputeProblem inner = Describer(region.front(), constraints).run();
      for (uint64_t bytes : getLiveBytes(inner, getOriginal(inner)))
        node.workspaceBytes = std::max(node.workspaceBytes, bytes);
    }
  }

  /// A loop's carry lies where its init was made if nothing else reads that.
  void addCarries(Operation *op, RecomputeNode &node) {
    for (unsigned carry = 0; carry < getCarryCount(op); ++carry) {
      unsigned operand = getRegionOperands(op)[carry].getOperandNumber();
      const RecomputeValue &init = problem.values[node.reads[operand]];
      if (init.producer != noNode && init.bytes == problem.values[node.writes[carry]].bytes)
        node.shares.push_back({carry, operand});
    }
  }

  /// Outputs, assigned values and what a region yields lie where they belong.
  void pinReturned() {
    for (Operation &op : block)
      if (isa<AssignOp, YieldOp, func::ReturnOp>(op))
        for (Value operand : op.getOperands())
          if (auto it = numbers.find(getSource(operand)); it != numbers.end())
            problem.values[it->second].pinned = true;
  }

  Block &block;
  const ::ferrule::DimConstraints &constraints;
  TimeEstimate time;
  RecomputeProblem problem;
  DenseMap<Value, uint32_t> numbers;
};

/// The operand as it is read from `base`: through copies of the reshapes and slices on the way.
Value readFrom(OpBuilder &builder, Value operand, Value base) {
  Operation *view = operand.getDefiningOp();
  if (!isMemoryView(view))
    return base;
  IRMapping mapping;
  mapping.map(view->getOperand(0), readFrom(builder, view->getOperand(0), base));
  return builder.clone(*view, mapping)->getResult(0);
}

} // namespace

RecomputeProblem mlir::ferrule::describeBlock(Block &block, const ::ferrule::DimConstraints &constraints) {
  return Describer(block, constraints).run();
}

void mlir::ferrule::applySequence(Block &block, const RecomputeSequence &sequence) {
  SmallVector<Operation *> instructions;
  SmallVector<std::pair<DispatchOp, Recipe>> recipes;
  for (Operation &op : block) {
    if (isInstruction(&op))
      instructions.push_back(&op);
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      if (std::optional<Recipe> recipe = findRecipe(dispatch))
        recipes.push_back({dispatch, std::move(*recipe)});
  }
  // With the operands that it has in `block` as it was described.
  auto createAgain = [&](OpBuilder &builder, uint32_t node) -> Operation * {
    if (node < instructions.size())
      return builder.clone(*instructions[node]);
    auto &[dispatch, recipe] = recipes[node - instructions.size()];
    return createRecipe(builder, dispatch, recipe);
  };
  SmallVector<uint32_t> before(sequence.steps.size());
  uint32_t next = instructions.size();
  for (uint32_t time = sequence.steps.size(); time-- > 0;) {
    if (!sequence.steps[time].isClone)
      next = sequence.steps[time].node;
    before[time] = next;
  }
  std::vector<Value> values(sequence.instances.size());
  for (auto [time, step] : llvm::enumerate(sequence.steps)) {
    OpBuilder builder(instructions[before[time]]);
    Operation *op = step.isClone ? createAgain(builder, step.node) : instructions[step.node];
    builder.setInsertionPoint(op);
    // The operation's own operands may be those of second runs already: what they were is known by value.
    SmallVector<Value> operands(op->getOperands());
    for (auto [operand, instance] : llvm::zip(operands, sequence.getReads(step)))
      if (instance != sequence.instances[instance].value)
        operand = readFrom(builder, operand, values[instance]);
    op->setOperands(operands);
    if (!step.isClone)
      continue;
    op->setAttr(recomputedAttributeName, builder.getUnitAttr());
    for (auto [instance, result] : llvm::zip(sequence.getWrites(step), op->getResults()))
      values[instance] = result;
  }
}
