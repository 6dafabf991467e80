//===- StoreLate.cpp - Values that die between two readers ----------------===//
//
// A product of the forward pass reads an activation, and so does the gradient
// of its weight, much later. If the activation is cheap to compute from a
// tensor that is kept in any case (as the norm and relu of a convolution's
// result are), a group of the backward pass that reads this tensor stores the
// activation again: one more result of a pass over memory that is made anyway,
// instead of a tensor that is kept in between. All such activations of a
// residual network take nearly half of what it keeps.
//
//===----------------------------------------------------------------------===//

#include "passes/fuse/Grouping.h"
#include "passes/fuse/OpKinds.h"

using namespace mlir;
using namespace mlir::ferrule;

void Grouping::storeLate() {
  for (auto [position, op] : llvm::enumerate(block))
    positions[&op] = position;
  DenseMap<Value, SmallVector<unsigned>> readers;
  for (auto [index, group] : llvm::enumerate(groups))
    for (Value leaf : group.leaves)
      readers[leaf].push_back(index);
  for (Operation &op : block) {
    if (!groupOf(&op) || !cheap.isComputedOnTheWay(&op) || llvm::any_of(op.getResult(0).getUsers(), isOutside))
      continue;
    DenseSet<Value> tensors = cheap.collectTensors(&op);
    ArrayRef<unsigned> ownReaders = readers[op.getResult(0)];
    if (tensors.size() != 1 || ownReaders.size() < 2)
      continue;
    for (unsigned maker : readers[*tensors.begin()])
      if (storeLate(&op, ownReaders, maker))
        break;
  }
}

/// Lets those readers of op's result that are nearer to the group `maker` than to op read it from there. False if it is
/// not unused for longer before that than it then waits for them, or if it cannot be made there.
bool Grouping::storeLate(Operation *op, ArrayRef<unsigned> readers, unsigned maker) {
  Value value = op->getResult(0);
  if (maker == *groupOf(op) || !groups[maker].open || groups[maker].resultDims != getDims(value))
    return false;
  unsigned begin = positions.lookup(op), end = getPosition(maker), lastEarly = begin, distance = 0;
  SmallVector<unsigned> late;
  for (unsigned reader : readers) {
    unsigned position = getPosition(reader), fromMaker = std::max(position, end) - std::min(position, end);
    bool isLate = reader != maker && position > begin && position - begin > fromMaker && !dependsOn(maker, reader);
    if (isLate) {
      late.push_back(reader);
      distance = std::max(distance, fromMaker);
    } else {
      lastEarly = std::max(lastEarly, position);
    }
  }
  bool hasEarly = late.size() < readers.size();
  if (late.empty() || !hasEarly || lastEarly + distance >= end || !addStoredClone(op, maker))
    return false;
  llvm::BitVector needed(groups[maker].dependencies);
  needed.resize(std::max<size_t>(needed.size(), maker + 1));
  needed.set(maker);
  for (unsigned reader : late) {
    groups[reader].lateLeaves[value] = maker;
    addDependencies(reader, needed);
  }
  return true;
}

/// Makes the group compute op on the way and store its value; false if it would have to wait for itself.
bool Grouping::addStoredClone(Operation *op, unsigned maker) {
  Group &group = groups[maker];
  llvm::SetVector<Value> leaves(group.leaves);
  llvm::SetVector<Operation *> clones(group.clones);
  if (!clones.contains(op))
    cheap.collect(op, leaves, clones);
  llvm::BitVector needed;
  for (Value leaf : leaves.getArrayRef().drop_front(group.leaves.size())) {
    Operation *producer = leaf.getDefiningOp();
    if (producer && !groupOf(producer) && !isOutside(producer))
      return false; // Nothing stores it so far.
    addDependencies(leaf, needed);
  }
  if (needed.size() > maker && needed.test(maker))
    return false;
  group.leaves = std::move(leaves);
  group.clones = std::move(clones);
  group.storedClones.push_back(op);
  addDependencies(maker, needed);
  return true;
}
