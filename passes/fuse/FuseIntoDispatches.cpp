//===- FuseIntoDispatches.cpp - Greedy grouping by data flow --------------===//
//
// One pass over the ops in program order. An elementwise op joins the latest
// group that makes one of its operands, if the group's results have the op's
// shape and no other operand depends on the group; so contractions collect
// their epilogues and updates of several variables become one pass over memory.
// Cheap elementwise values and index maps are computed again where they are
// used rather than stored. Reductions over one domain share a pass, and so do
// costly elementwise ops that read the same values.
//
// Groups never form a cycle: for each group the set of all groups that it
// depends on is kept, O(groups^2 / 64) bits.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Fuse.h"
#include "passes/fuse/OpKinds.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Elementwise.h"
#include "ir/graph/Nonzero.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "ir/graph/Tiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Ops recomputed in one place instead of read from memory: at most this many arithmetic ops over at most this many
/// tensors of full size. The backward pass of a norm with its activation takes eight ops over two tensors.
constexpr unsigned maxRecomputedOps = 12;
constexpr unsigned maxRecomputedLeaves = 2;
/// The most sums that share one pass (the skeletons' limit).
constexpr unsigned maxSharedSums = 4;
/// An op joins another that reads the same value only if the group then reads no more values than this, and only if
/// that group is one of the last few.
constexpr unsigned maxSiblingLeaves = 8;
constexpr unsigned maxSiblingDistance = 16;
/// A result of this many columns or fewer leaves most lanes of an epilogue idle.
constexpr int64_t maxNarrowColumns = 4;

struct Group {
  /// Members in program order; `resultDims` is the shape of what they store.
  SmallVector<Operation *> members;
  Dims resultDims;
  /// Whether consumers may join.
  bool open = true;
  /// All groups that this one depends on.
  llvm::BitVector dependencies;
};

class Grouping {
public:
  Grouping(Block &block, const FuseOptions &options) : block(block), options(options) {}

  void run() {
    for (Operation &op : block) {
      if (isOutside(&op) || isFree(&op) || isView(&op))
        continue;
      place(&op);
    }
    materializeViews();
  }

  /// Groups and outside ops in an order where every value is made before it is read.
  void build();

private:
  std::optional<unsigned> groupOf(Operation *op) const {
    auto it = groupIndex.find(op);
    return it == groupIndex.end() ? std::nullopt : std::optional<unsigned>(it->second);
  }

  /// The groups that must have run before `value` can be read.
  void addDependencies(Value value, llvm::BitVector &bits) const {
    DenseSet<Operation *> visited;
    SmallVector<Value> work{value};
    while (!work.empty()) {
      Operation *op = work.pop_back_val().getDefiningOp();
      if (!op)
        continue;
      if (std::optional<unsigned> group = groupOf(op)) {
        setBit(bits, *group);
        bits |= groups[*group].dependencies;
      } else if (visited.insert(op).second) {
        llvm::append_range(work, op->getOperands()); // reshape, view, loop: whatever they pass on.
      }
    }
  }

  static void setBit(llvm::BitVector &bits, unsigned index) {
    if (bits.size() <= index)
      bits.resize(index + 1);
    bits.set(index);
  }

  /// Whether the result of `op`, made elsewhere, should be computed again where it is read.
  bool isRecomputed(Operation *op) const {
    if (isFree(op) || isView(op))
      return true;
    return options.fuse && isElementwise(op) && isCheap(op) && countCheapOps(op) <= maxRecomputedOps;
  }

  /// Arithmetic ops in the cheap tree above and including op; more than the limit if something in it is not cheap.
  unsigned countCheapOps(Operation *op) const {
    DenseSet<Operation *> ops{op};
    DenseSet<Value> wholeLeaves;
    SmallVector<Operation *> work{op};
    while (!work.empty() && ops.size() <= maxRecomputedOps) {
      for (Value operand : work.pop_back_val()->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (producer && (isFree(producer) || isView(producer)))
          continue;
        if (!producer || !isElementwise(producer) || !isCheap(producer))
          wholeLeaves.insert(operand);
        else if (ops.insert(producer).second)
          work.push_back(producer);
      }
    }
    return wholeLeaves.size() > maxRecomputedLeaves ? maxRecomputedOps + 1 : ops.size();
  }

  /// Values from outside the group that op reads, after what is recomputed inside.
  void collectLeaves(Operation *op, unsigned group, llvm::SetVector<Value> &leaves,
                     llvm::SetVector<Operation *> &clones) const {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && (groupOf(producer) == std::optional<unsigned>(group) || clones.contains(producer)))
        continue;
      // A value that the root reads whole lies in memory already, and must not be computed over it.
      if (leaves.contains(operand))
        continue;
      if (producer && !loadsWhole(op) && isRecomputed(producer)) {
        collectRecomputed(producer, leaves, clones);
        continue;
      }
      leaves.insert(operand);
    }
  }

  /// Roots that take pointers read whole tensors: nothing can be computed on the way.
  static bool loadsWhole(Operation *op) { return !loadsElements(op) && !isView(op); }

  void collectRecomputed(Operation *op, llvm::SetVector<Value> &leaves, llvm::SetVector<Operation *> &clones) const {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (leaves.contains(operand))
        continue;
      bool inside = producer && (isFree(producer) || isView(producer) ||
                                 (!isView(op) && options.fuse && isElementwise(producer) && isCheap(producer)));
      // An index map reads another element than the one being computed, so a member cannot feed it; the parts of a
      // concatenation are read under a mask, from memory. Elements that are read across rows cost more than a pass.
      bool costsNothing = !inside || isFree(producer) || (isView(producer) && !isa<ConcatOp>(producer));
      inside = inside && !isa<ConcatOp>(op) && (costsNothing || !readsAcrossRows(op));
      if (inside && !clones.contains(producer))
        collectRecomputed(producer, leaves, clones);
      else if (!inside)
        leaves.insert(operand);
    }
    clones.insert(op);
  }

  /// Whether op may join the group: same shape, reads the group's values only element for element, and no other
  /// operand waits for the group.
  bool canJoin(Operation *op, unsigned index) const {
    const Group &group = groups[index];
    if (!group.open || getDims(op->getResult(0)) != group.resultDims)
      return false;
    llvm::SetVector<Value> leaves;
    llvm::SetVector<Operation *> clones;
    collectLeaves(op, index, leaves, clones);
    llvm::BitVector needed;
    for (Value leaf : leaves)
      addDependencies(leaf, needed);
    return needed.size() <= index || !needed.test(index);
  }

  void join(Operation *op, unsigned index) {
    llvm::SetVector<Value> leaves;
    llvm::SetVector<Operation *> clones;
    collectLeaves(op, index, leaves, clones);
    groups[index].members.push_back(op);
    groupIndex[op] = index;
    llvm::BitVector needed;
    for (Value leaf : leaves)
      addDependencies(leaf, needed);
    // Most ops bring nothing new, or begin a group that nobody depends on yet.
    if (!needed.test(groups[index].dependencies))
      return;
    groups[index].dependencies |= needed;
    if (groups[index].members.size() == 1)
      return;
    for (Group &other : groups)
      if (other.dependencies.size() > index && other.dependencies.test(index))
        other.dependencies |= groups[index].dependencies;
  }

  void place(Operation *op) {
    if (options.fuse && isElementwise(op)) {
      llvm::SetVector<unsigned> candidates;
      for (Value operand : op->getOperands())
        if (Operation *producer = operand.getDefiningOp())
          if (std::optional<unsigned> group = groupOf(producer))
            candidates.insert(*group);
      SmallVector<unsigned> sorted(candidates.begin(), candidates.end());
      llvm::sort(sorted, std::greater<unsigned>());
      for (unsigned candidate : sorted)
        if (!wastesLanes(op, candidate) && canJoin(op, candidate))
          return join(op, candidate);
      if (std::optional<unsigned> sibling = findSibling(op))
        return join(op, *sibling);
    }
    if (options.fuse)
      if (std::optional<unsigned> shared = findSharedReduction(op))
        return join(op, *shared);
    Group group;
    group.resultDims = getDims(op->getResult(0));
    group.open = storesElements(op);
    groups.push_back(std::move(group));
    join(op, groups.size() - 1);
  }

  /// Whether op would be computed in 16 lanes for each few columns of a contraction, and there are enough of them that
  /// a pass of its own costs less.
  bool wastesLanes(Operation *op, unsigned index) const {
    const Dims &dims = groups[index].resultDims;
    if (isCheap(op) || dims.empty() || isElementwise(groups[index].members.front()))
      return false;
    std::optional<int64_t> columns = dims.back().getConstant(), count = getElementCount(op->getResult(0)).getConstant();
    return columns && *columns <= maxNarrowColumns && count && *count >= elementsPerTile;
  }

  /// A group of elementwise ops alone that waits for all that op reads, and reads one of its values: the gates of a
  /// recurrent cell. Cheap ops are computed again where they are used.
  std::optional<unsigned> findSibling(Operation *op) const {
    if (isCheap(op))
      return std::nullopt;
    for (unsigned index = groups.size(); index-- > 0 && index + maxSiblingDistance >= groups.size();) {
      const Group &group = groups[index];
      if (!llvm::all_of(group.members, isElementwise) || !canJoin(op, index))
        continue;
      llvm::SetVector<Value> leaves = collectGroupLeaves(index), own;
      llvm::SetVector<Operation *> clones;
      collectLeaves(op, index, own, clones);
      llvm::BitVector needed;
      for (Value leaf : own)
        addDependencies(leaf, needed);
      bool isShared = llvm::any_of(own, [&](Value leaf) { return leaves.contains(leaf); });
      leaves.insert(own.begin(), own.end());
      if (isShared && !needed.test(group.dependencies) && leaves.size() <= maxSiblingLeaves)
        return index;
    }
    return std::nullopt;
  }

  /// What a group reads from memory.
  llvm::SetVector<Value> collectGroupLeaves(unsigned index) const {
    llvm::SetVector<Value> leaves;
    llvm::SetVector<Operation *> clones;
    for (Operation *member : groups[index].members)
      collectLeaves(member, index, leaves, clones);
    return leaves;
  }

  /// Whether op reads a value that the group reads too.
  bool sharesLeaf(Operation *op, unsigned index) const {
    llvm::SetVector<Value> leaves = collectGroupLeaves(index), own;
    llvm::SetVector<Operation *> clones;
    collectLeaves(op, index, own, clones);
    return llvm::any_of(own, [&](Value leaf) { return leaves.contains(leaf); });
  }

  /// A group of sums over the same domain and axes that reads a value which op reads, and does not depend on op. Sums
  /// of nothing but different tensors would keep all these until the last one is there.
  std::optional<unsigned> findSharedReduction(Operation *op) const {
    auto sum = dyn_cast<ReduceSumOp>(op);
    if (!sum || !isa<FloatType>(sum.getX().getType().getElementType()))
      return std::nullopt;
    for (unsigned index = groups.size(); index-- > 0;) {
      unsigned sums = 0;
      bool same = true;
      for (Operation *member : groups[index].members) {
        if (isElementwise(member)) // The epilogue of a sum.
          continue;
        auto other = dyn_cast<ReduceSumOp>(member);
        same &= other && other.getX().getType() == sum.getX().getType() && other.getAxes() == sum.getAxes();
        ++sums;
      }
      same &= sums > 0;
      if (same && sums < maxSharedSums && canJoin(op, index) && sharesLeaf(op, index))
        return index;
    }
    return std::nullopt;
  }

  /// Values that some group or outside op reads from memory.
  llvm::SetVector<Value> collectRequired() const {
    llvm::SetVector<Value> required;
    for (unsigned index = 0; index < groups.size(); ++index) {
      llvm::SetVector<Value> leaves = collectGroupLeaves(index);
      required.insert(leaves.begin(), leaves.end());
    }
    for (Operation &op : block)
      if (isOutside(&op))
        required.insert(op.operand_begin(), op.operand_end());
    return required;
  }

  /// Index maps and free values that something reads from memory get a group of their own. Removes groups that nothing
  /// reads any more, which may free others; not those that count a dim, whose sizes others have.
  void materializeViews() {
    bool changed = true;
    while (changed) {
      changed = false;
      llvm::SetVector<Value> required = collectRequired();
      for (Value value : required) {
        Operation *op = value.getDefiningOp();
        if (!op || groupOf(op) || isOutside(op))
          continue;
        Group group;
        group.resultDims = getDims(value);
        group.open = false;
        groups.push_back(std::move(group));
        join(op, groups.size() - 1);
        changed = true;
      }
      if (changed)
        continue; // The new groups read values that `required` does not know of.
      for (Group &group : groups) {
        bool live = llvm::any_of(group.members, [&](Operation *member) {
          return getCountedDim(member) ||
                 llvm::any_of(member->getResults(), [&](Value result) { return required.contains(result); });
        });
        if (group.members.empty() || live)
          continue;
        for (Operation *member : group.members)
          groupIndex.erase(member);
        group.members.clear();
        changed = true;
      }
    }
  }

  void buildDispatch(unsigned index, const llvm::SetVector<Value> &required, OpBuilder &builder, IRMapping &mapping);

  Block &block;
  FuseOptions options;
  SmallVector<Group> groups;
  DenseMap<Operation *, unsigned> groupIndex;
};

void Grouping::buildDispatch(unsigned index, const llvm::SetVector<Value> &required, OpBuilder &builder,
                             IRMapping &mapping) {
  const Group &group = groups[index];
  llvm::SetVector<Value> leaves;
  llvm::SetVector<Operation *> clones;
  for (Operation *member : group.members)
    collectLeaves(member, index, leaves, clones);
  SmallVector<Value> outputs;
  for (Operation *member : group.members)
    for (Value result : member->getResults())
      if (required.contains(result) || getKind(member) == LoweringKind::Library) // Its kernel writes all of them.
        outputs.push_back(result);

  SmallVector<Location> locations;
  for (Operation *member : group.members)
    locations.push_back(member->getLoc());
  SmallVector<Value> inputs;
  for (Value leaf : leaves)
    inputs.push_back(mapping.lookup(leaf));
  auto dispatch = DispatchOp::create(builder, group.members.front()->getLoc(), TypeRange(ValueRange(outputs)), inputs);
  Block *body = builder.createBlock(&dispatch.getBody());
  IRMapping inner;
  for (Value leaf : leaves)
    inner.map(leaf, body->addArgument(leaf.getType(), leaf.getLoc()));
  // Clones and members interleave by program order.
  SmallVector<Operation *> ops(group.members);
  for (Operation *clone : clones)
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
  for (auto [output, result] : llvm::zip(outputs, dispatch.getResults()))
    mapping.map(output, result);
}

void Grouping::build() {
  llvm::SetVector<Value> required = collectRequired();
  // Each value is made by one unit: a group or an outside op. Units in order of their last op, delayed until all their
  // inputs exist.
  SmallVector<Operation *> original;
  for (Operation &op : block)
    original.push_back(&op);
  auto *fresh = new Block();
  IRMapping mapping;
  for (BlockArgument argument : block.getArguments())
    mapping.map(argument, fresh->addArgument(argument.getType(), argument.getLoc()));
  OpBuilder builder(block.getParentOp()->getContext());
  builder.setInsertionPointToStart(fresh);
  DenseSet<unsigned> done;
  auto emitValue = [&](auto &&self, Value value) -> void {
    if (mapping.contains(value))
      return;
    Operation *op = value.getDefiningOp();
    if (std::optional<unsigned> index = groupOf(op)) {
      if (!done.insert(*index).second)
        return;
      for (Value leaf : collectGroupLeaves(*index))
        self(self, leaf);
      buildDispatch(*index, required, builder, mapping);
      return;
    }
    for (Value operand : op->getOperands())
      self(self, operand);
    builder.clone(*op, mapping);
  };
  for (Operation *op : original) {
    // A group is emitted at its last member, where most of its inputs exist already.
    if (std::optional<unsigned> index = groupOf(op)) {
      if (groups[*index].members.back() == op && !done.contains(*index))
        for (Value result : op->getResults())
          emitValue(emitValue, result);
      continue;
    }
    if (!isOutside(op))
      continue;
    if (op->getNumResults() == 0) {
      for (Value operand : op->getOperands())
        emitValue(emitValue, operand);
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
    grouping.build();
  }
  for (Operation &op : region.front())
    if (!isa<DispatchOp>(op) && !isOutside(&op))
      return op.emitError() << "'" << op.getName().stripDialect() << "' was left outside of every dispatch";
  return success();
}
