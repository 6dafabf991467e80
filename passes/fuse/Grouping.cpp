//===- Grouping.cpp - Greedy grouping by data flow ------------------------===//
//
// One pass over the ops in program order. An elementwise op joins a group that
// makes one of its operands, if the group's results have the op's shape and no
// other operand depends on the group: a product's group before others, and of
// these the latest. So contractions collect their epilogues and updates of
// several variables become one pass over memory.
// Cheap elementwise values and index maps are computed again where they are
// used rather than stored (CheapValues.h). Reductions over one domain share a
// pass, and so do costly elementwise ops that read the same values.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Grouping.h"

#include "passes/fuse/OpKinds.h"

#include "ir/graph/Nonzero.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Tiles.h"

using namespace mlir;
using namespace mlir::ferrule;

/// The most sums that share one pass (the skeletons' limit).
static constexpr unsigned maxSharedSums = 4;
/// An op joins another that reads the same value only if the group then reads no more values than this, and only if
/// that group is one of the last few.
static constexpr unsigned maxSiblingLeaves = 8;
static constexpr unsigned maxSiblingDistance = 16;
/// Where a value is read is looked for along this many ops that each have one reader.
static constexpr unsigned maxReadersAhead = 4;
/// A result of this many columns or fewer leaves most lanes of an epilogue idle.
static constexpr int64_t maxNarrowColumns = 4;

static void setBit(llvm::BitVector &bits, unsigned index) {
  if (bits.size() <= index)
    bits.resize(index + 1);
  bits.set(index);
}

void Grouping::run() {
  for (Operation &op : block) {
    if (isOutside(&op) || isFree(&op) || isView(&op))
      continue;
    place(&op);
  }
  materializeViews();
  if (options.fuse) {
    completeDependencies();
    storeLate();
  }
}

/// The groups that must have run before `value` can be read.
void Grouping::addDependencies(Value value, llvm::BitVector &bits) const {
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

bool Grouping::dependsOn(unsigned index, unsigned other) const {
  const llvm::BitVector &dependencies = groups[index].dependencies;
  return dependencies.size() > other && dependencies.test(other);
}

/// Makes the group, and all that depend on it, depend on the others.
void Grouping::addDependencies(unsigned index, const llvm::BitVector &needed) {
  Group &group = groups[index];
  if (!needed.test(group.dependencies))
    return;
  group.dependencies |= needed;
  for (Group &other : groups)
    if (other.dependencies.size() > index && other.dependencies.test(index))
      other.dependencies |= group.dependencies;
}

/// Brings the dependencies of all groups up to date where some were made behind their readers.
void Grouping::completeDependencies() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (Group &group : groups) {
      llvm::BitVector needed;
      for (Value leaf : group.leaves)
        addDependencies(leaf, needed);
      if (!needed.test(group.dependencies))
        continue;
      group.dependencies |= needed;
      changed = true;
    }
  }
}

/// Values from outside the group that op reads, after what is recomputed inside.
void Grouping::collectLeaves(Operation *op, unsigned group, llvm::SetVector<Value> &leaves,
                             llvm::SetVector<Operation *> &clones) const {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (producer && (groupOf(producer) == std::optional<unsigned>(group) || clones.contains(producer)))
      continue;
    // A value that the root reads whole lies in memory already, and must not be computed over it.
    if (leaves.contains(operand))
      continue;
    if (producer && !loadsWhole(op) && cheap.isRecomputed(producer)) {
      cheap.collect(producer, leaves, clones);
      continue;
    }
    leaves.insert(operand);
  }
}

/// Whether op may join the group: same shape, reads the group's values only element for element, and no other
/// operand waits for the group.
bool Grouping::canJoin(Operation *op, unsigned index) const {
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

void Grouping::join(Operation *op, unsigned index) {
  Group &group = groups[index];
  size_t leafCount = group.leaves.size();
  collectLeaves(op, index, group.leaves, group.clones);
  group.members.push_back(op);
  groupIndex[op] = index;
  llvm::BitVector needed;
  for (Value leaf : group.leaves.getArrayRef().drop_front(leafCount))
    addDependencies(leaf, needed);
  // Most ops bring nothing new, or begin a group that nobody depends on yet.
  if (group.members.size() == 1)
    group.dependencies |= needed;
  else
    addDependencies(index, needed);
}

void Grouping::place(Operation *op) {
  if (options.fuse && isElementwise(op)) {
    llvm::SetVector<unsigned> candidates;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        if (std::optional<unsigned> group = groupOf(producer))
          candidates.insert(*group);
    SmallVector<unsigned> sorted(candidates.begin(), candidates.end());
    llvm::sort(sorted, [&](unsigned a, unsigned b) {
      return std::pair(makesProducts(a), a) > std::pair(makesProducts(b), b);
    });
    for (unsigned candidate : sorted)
      if (!wastesLanes(op, candidate) && canJoin(op, candidate))
        return join(op, findReadingGroup(op, candidate).value_or(candidate));
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

/// Whether the group's kernel is a product, which takes long enough for its epilogue to cost little.
bool Grouping::makesProducts(unsigned index) const {
  switch (getKind(groups[index].members.front())) {
  case LoweringKind::Contraction:
  case LoweringKind::Convolution:
  case LoweringKind::ConvolutionInputGradient:
    return true;
  default:
    return false;
  }
}

/// Whether op would be computed in 16 lanes for each few columns of a contraction, and there are enough of them that
/// a pass of its own costs less.
bool Grouping::wastesLanes(Operation *op, unsigned index) const {
  const Dims &dims = groups[index].resultDims;
  if (isCheap(op) || dims.empty() || isElementwise(groups[index].members.front()))
    return false;
  std::optional<int64_t> columns = dims.back().getConstant(), count = getElementCount(op->getResult(0)).getConstant();
  return columns && *columns <= maxNarrowColumns && count && *count >= elementsPerTile;
}

/// A group behind `index` in which the result of op is read, and which reads all that op needs in any case: exp(-x^2)
/// in the gradient of gelu is computed where x is read again, not kept from where x was made.
std::optional<unsigned> Grouping::findReadingGroup(Operation *op, unsigned index) const {
  if (isCheap(op) || op->getNumResults() != 1)
    return std::nullopt;
  Value value = op->getResult(0);
  for (unsigned step = 0; step < maxReadersAhead && value.hasOneUse(); ++step) {
    Operation *reader = *value.user_begin();
    if (isOutside(reader) || !isElementwise(reader))
      break;
    for (Value other : reader->getOperands()) {
      Operation *producer = other.getDefiningOp();
      std::optional<unsigned> group = producer && other != value ? groupOf(producer) : std::nullopt;
      if (!group || *group <= index || wastesLanes(op, *group) || !canJoin(op, *group))
        continue;
      llvm::SetVector<Value> leaves;
      llvm::SetVector<Operation *> clones;
      collectLeaves(op, *group, leaves, clones);
      if (llvm::all_of(leaves, [&](Value leaf) { return groups[*group].leaves.contains(leaf); }))
        return group;
    }
    value = reader->getResult(0);
  }
  return std::nullopt;
}

/// A group of elementwise ops alone that waits for all that op reads, and reads one of its values: the gates of a
/// recurrent cell. Cheap ops are computed again where they are used.
std::optional<unsigned> Grouping::findSibling(Operation *op) const {
  if (isCheap(op))
    return std::nullopt;
  for (unsigned index = groups.size(); index-- > 0 && index + maxSiblingDistance >= groups.size();) {
    const Group &group = groups[index];
    if (!llvm::all_of(group.members, isElementwise) || !canJoin(op, index))
      continue;
    llvm::SetVector<Value> own;
    llvm::SetVector<Operation *> clones;
    collectLeaves(op, index, own, clones);
    llvm::BitVector needed;
    for (Value leaf : own)
      addDependencies(leaf, needed);
    size_t shared = llvm::count_if(own, [&](Value leaf) { return group.leaves.contains(leaf); });
    if (shared > 0 && !needed.test(group.dependencies) &&
        group.leaves.size() + own.size() - shared <= maxSiblingLeaves)
      return index;
  }
  return std::nullopt;
}

/// Whether op reads a value that the group reads too.
bool Grouping::sharesLeaf(Operation *op, unsigned index) const {
  llvm::SetVector<Value> own;
  llvm::SetVector<Operation *> clones;
  collectLeaves(op, index, own, clones);
  return llvm::any_of(own, [&](Value leaf) { return groups[index].leaves.contains(leaf); });
}

/// A group of sums over the same domain and axes that reads a value which op reads, and does not depend on op. Sums
/// of nothing but different tensors would keep all these until the last one is there.
std::optional<unsigned> Grouping::findSharedReduction(Operation *op) const {
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
    if (same && sums < maxSharedSums && sharesLeaf(op, index) && canJoin(op, index))
      return index;
  }
  return std::nullopt;
}

llvm::SetVector<Value> Grouping::collectRequired() const {
  llvm::SetVector<Value> required;
  for (const Group &group : groups)
    for (Value leaf : group.leaves)
      if (!group.lateLeaves.contains(leaf))
        required.insert(leaf);
  for (Operation &op : block)
    if (isOutside(&op))
      required.insert(op.operand_begin(), op.operand_end());
  return required;
}

/// Index maps and free values that something reads from memory get a group of their own. Removes groups that nothing
/// reads any more, which may free others; not those that count a dim, whose sizes others have.
void Grouping::materializeViews() {
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
      group.leaves.clear();
      group.clones.clear();
      changed = true;
    }
  }
}
