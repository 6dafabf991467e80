//===- FuseIntoDispatches.cpp - Dispatches of groups ----------------------===//
//
// Each group of ops (Grouping.h) becomes a dispatch, in an order where every
// value is made before it is read.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Fuse.h"
#include "passes/fuse/Grouping.h"
#include "passes/fuse/OpKinds.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/State.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Writes a block again, as dispatches and what stays outside of them.
class Building {
public:
  Building(Block &block, const Grouping &grouping)
      : block(block), grouping(grouping), required(grouping.collectRequired()),
        builder(block.getParentOp()->getContext()) {}

  void run();

private:
  void buildDispatch(unsigned index);
  void buildGroup(unsigned index);
  void buildValue(Value value);

  Block &block;
  const Grouping &grouping;
  llvm::SetVector<Value> required;
  OpBuilder builder;
  IRMapping mapping;
  DenseSet<unsigned> done;
  /// What the stored clones of a group became.
  DenseMap<std::pair<Value, unsigned>, Value> lateValues;
};

void Building::buildDispatch(unsigned index) {
  const Group &group = grouping.getGroup(index);
  SmallVector<Value> outputs;
  for (Operation *member : group.members)
    for (Value result : member->getResults())
      if (required.contains(result) || getKind(member) == LoweringKind::Library) // Its kernel writes all of them.
        outputs.push_back(result);
  size_t ownCount = outputs.size();
  for (Operation *clone : group.storedClones)
    outputs.push_back(clone->getResult(0));
  SmallVector<Value> inputs;
  for (Value leaf : group.leaves) {
    std::optional<unsigned> maker = group.getLateMaker(leaf);
    inputs.push_back(maker ? lateValues.lookup({leaf, *maker}) : mapping.lookup(leaf));
  }
  auto dispatch = DispatchOp::create(builder, group.members.front()->getLoc(), TypeRange(ValueRange(outputs)), inputs);
  Block *body = builder.createBlock(&dispatch.getBody());
  IRMapping inner;
  for (Value leaf : group.leaves)
    inner.map(leaf, body->addArgument(leaf.getType(), leaf.getLoc()));
  // Clones and members interleave by program order.
  SmallVector<Operation *> ops(group.members);
  for (Operation *clone : group.clones)
    if (!llvm::is_contained(group.members, clone))
      ops.push_back(clone);
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    builder.clone(*op, inner);
  SmallVector<Value> yielded;
  for (Value output : outputs)
    yielded.push_back(inner.lookup(output));
  YieldOp::create(builder, dispatch.getLoc(), yielded);
  // Members that every reader computes again are not needed here.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (!isa<YieldOp>(op) && op.use_empty())
      op.erase();
  for (unsigned argument = body->getNumArguments(); argument-- > 0;)
    if (body->getArgument(argument).use_empty()) {
      body->eraseArgument(argument);
      dispatch.getInputsMutable().erase(argument);
    }
  builder.setInsertionPointAfter(dispatch);
  for (auto [number, output] : llvm::enumerate(outputs)) {
    if (number < ownCount)
      mapping.map(output, dispatch.getResult(number));
    else
      lateValues[{output, index}] = dispatch.getResult(number);
  }
}

/// After the groups that it reads from.
void Building::buildGroup(unsigned index) {
  if (!done.insert(index).second)
    return;
  const Group &group = grouping.getGroup(index);
  for (Value leaf : group.leaves) {
    if (std::optional<unsigned> maker = group.getLateMaker(leaf))
      buildGroup(*maker);
    else
      buildValue(leaf);
  }
  buildDispatch(index);
}

void Building::buildValue(Value value) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (std::optional<unsigned> index = grouping.groupOf(op))
    return buildGroup(*index);
  for (Value operand : op->getOperands())
    buildValue(operand);
  builder.clone(*op, mapping);
}

void Building::run() {
  // Each value is made by one unit: a group or an outside op. Units in order of their last op, delayed until all their
  // inputs exist.
  SmallVector<Operation *> original;
  for (Operation &op : block)
    original.push_back(&op);
  auto *fresh = new Block();
  for (BlockArgument argument : block.getArguments())
    mapping.map(argument, fresh->addArgument(argument.getType(), argument.getLoc()));
  builder.setInsertionPointToStart(fresh);
  for (Operation *op : original) {
    // A group is built at its last member, where most of its inputs exist already.
    if (std::optional<unsigned> index = grouping.groupOf(op)) {
      if (grouping.getGroup(*index).members.back() == op)
        buildGroup(*index);
    } else if (isOutside(op) && op->getNumResults() == 0) {
      for (Value operand : op->getOperands())
        buildValue(operand);
      builder.clone(*op, mapping);
    }
  }
  block.getParent()->push_back(fresh);
  for (Operation *op : llvm::reverse(original)) {
    op->dropAllUses();
    op->erase();
  }
  block.erase();
}

} // namespace

LogicalResult mlir::ferrule::fuseIntoDispatches(Region &region, const FuseOptions &options) {
  {
    Grouping grouping(region.front(), options);
    grouping.run();
    Building(region.front(), grouping).run();
  }
  for (Operation &op : region.front())
    if (!isa<DispatchOp>(op) && !isOutside(&op))
      return op.emitError() << "'" << op.getName().stripDialect() << "' was left outside of every dispatch";
  return success();
}
