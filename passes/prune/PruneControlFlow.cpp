#include "passes/prune/PruneControlFlow.h"

#include "ir/graph/ControlFlow.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::ferrule;

/// The arguments of the block that the values depend on.
static llvm::BitVector findNeededArguments(Block &block, ArrayRef<Value> values) {
  llvm::BitVector needed(block.getNumArguments());
  DenseSet<Operation *> visited;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value))
      needed.set(argument.getArgNumber());
    else if (visited.insert(value.getDefiningOp()).second)
      llvm::append_range(work, value.getDefiningOp()->getOperands());
  }
  return needed;
}

namespace {

/// What an op must keep.
struct Needs {
  llvm::BitVector results, arguments;
};

} // namespace

/// A carry is needed if its result is read, or what another step makes of it is.
static Needs findNeeds(Operation *op) {
  Needs needs{llvm::BitVector(op->getNumResults()), llvm::BitVector(getRegionOperands(op).size())};
  for (OpResult result : op->getResults())
    if (!result.use_empty())
      needs.results.set(result.getResultNumber());
  for (bool changed = true; changed;) {
    changed = false;
    for (Region &region : op->getRegions()) {
      auto loop = dyn_cast<WhileOp>(op);
      bool isCondition = loop && &region == &loop.getCondition();
      SmallVector<Value> values;
      for (auto [index, value] : llvm::enumerate(getYielded(region)))
        if (isCondition || needs.results.test(index))
          values.push_back(value);
      needs.arguments |= findNeededArguments(region.front(), values);
    }
    for (unsigned carry = 0; carry < getCarryCount(op); ++carry) {
      changed |= needs.arguments.test(carry) && !needs.results.test(carry);
      if (needs.arguments.test(carry))
        needs.results.set(carry);
    }
  }
  // A carry that is read only as a result still has its place among the arguments.
  for (unsigned carry = 0; carry < getCarryCount(op); ++carry)
    if (needs.results.test(carry))
      needs.arguments.set(carry);
  return needs;
}

/// The op again with what it must keep, in place of the old one.
static Operation *rebuild(Operation *op, const Needs &needs) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  unsigned first = isa<IfOp>(op) ? 1 : 0, carries = getCarryCount(op), captures = getFirstCapture(op);
  state.addOperands(op->getOperands().take_front(first));
  SmallVector<int32_t> segments(isa<ScanOp>(op) ? 3 : 2, 0);
  for (auto [index, operand] : llvm::enumerate(getRegionOperands(op)))
    if (needs.arguments.test(index)) {
      state.addOperands(operand.get());
      ++segments[index < carries ? 0 : index < captures ? 1 : segments.size() - 1];
    }
  SmallVector<unsigned> kept;
  for (unsigned index : needs.results.set_bits()) {
    kept.push_back(index);
    state.addTypes(op->getResult(index).getType());
  }
  state.addAttributes(op->getAttrs());
  if (!isa<IfOp>(op)) {
    NamedAttrList attributes(op->getAttrs());
    attributes.set("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
    state.attributes = attributes;
  }
  for (Region &region : op->getRegions()) {
    auto loop = dyn_cast<WhileOp>(op);
    if (!loop || &region != &loop.getCondition()) {
      SmallVector<Value> yielded;
      for (unsigned index : kept)
        yielded.push_back(getYielded(region)[index]);
      region.front().getTerminator()->setOperands(yielded);
    }
    // What is not needed computes nothing that is: its users are dead.
    for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(region.front())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
    llvm::BitVector unneeded(needs.arguments);
    region.front().eraseArguments(unneeded.flip());
    state.addRegion()->takeBody(region);
  }
  Operation *smaller = builder.create(state);
  for (auto [index, number] : llvm::enumerate(kept))
    op->getResult(number).replaceAllUsesWith(smaller->getResult(index));
  op->erase();
  return smaller;
}

Operation *mlir::ferrule::pruneControlFlow(Operation *op) {
  Needs needs = findNeeds(op);
  return needs.results.all() && needs.arguments.all() ? op : rebuild(op, needs);
}
