#include "passes/fuse/CheapValues.h"

#include "passes/fuse/OpKinds.h"

#include "ir/graph/Shape.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Ops recomputed in one place instead of read from memory: at most this many arithmetic ops over at most this many
/// tensors of full size. The backward pass of a norm with its activation takes eight ops over two tensors.
static constexpr unsigned maxOps = 12;
static constexpr unsigned maxTensors = 2;
/// Ops one behind the other that are looked through to find who reads a value.
static constexpr unsigned maxChain = 3;
/// Readers that are looked at to find how long a tensor is kept.
static constexpr unsigned maxFollowed = 64;

bool mlir::ferrule::loadsWhole(Operation *op) { return !loadsElements(op) && !isView(op); }

/// Whether the value lies in memory however ops are grouped: something takes a pointer to it.
static bool isStored(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isOutside(user) || loadsWhole(user); });
}

/// Whether op computes something cheap of one value, which is then the one to read.
static bool isCheapOfOne(Operation *op, Value value) {
  return isElementwise(op) && isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return operand == value || (producer && (isFree(producer) || isa<BroadcastToOp>(producer)));
  });
}

/// Whether a value that is not computed on the way is kept for more than what is computed from it on the way: something
/// else reads it, or what is cheap to compute of it alone.
static bool isReadElsewhere(Value value, unsigned depth = 0) {
  return !value.getDefiningOp() || llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isOutside(user) || !(isElementwise(user) || isView(user)))
      return true;
    return depth < maxChain && isCheapOfOne(user, value) && isReadElsewhere(user->getResult(0), depth + 1);
  });
}

/// Whether the value is read, or what is computed from it without `op`, after everything that reads the result of `op`
/// whole. So it is kept that long in any case.
static bool isKeptAsLong(Value value, Operation *op) {
  if (!value.getDefiningOp())
    return true;
  auto isLater = [&](Operation *reader) {
    return llvm::none_of(op->getUsers(), [&](Operation *user) {
      return (isOutside(user) || loadsWhole(user)) && reader->isBeforeInBlock(user);
    });
  };
  DenseSet<Operation *> visited{op};
  SmallVector<Value> work{value};
  while (!work.empty() && visited.size() <= maxFollowed)
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (!visited.insert(user).second)
        continue;
      if (isLater(user))
        return true;
      if (!isOutside(user) && (isElementwise(user) || isView(user)))
        work.push_back(user->getResult(0));
    }
  return false;
}

/// Whether the value would be stored for nothing but what is computed from it on the way. Then this is stored instead:
/// one tensor to read, not two, and written over the other one if that dies there.
static bool isStoredFor(Value value) {
  Operation *producer = value.getDefiningOp();
  return producer && !isReadElsewhere(value) && (isElementwise(producer) || value.hasOneUse());
}

bool CheapValues::isRecomputed(Operation *op) const { return isFree(op) || isView(op) || isComputedOnTheWay(op); }

bool CheapValues::isComputedOnTheWay(Operation *op) const {
  if (!fuse || !isElementwise(op) || !isCheap(op))
    return false;
  auto known = computedOnTheWay.find(op);
  if (known != computedOnTheWay.end())
    return known->second;
  DenseSet<Value> tensors;
  bool result = countOps(op, tensors) <= maxOps && tensors.size() <= maxTensors;
  if (isStored(op->getResult(0)))
    result &= tensors.size() <= 1 && llvm::all_of(tensors, [&](Value tensor) { return isKeptAsLong(tensor, op); });
  else
    result &= tensors.size() <= 1 || llvm::none_of(tensors, isStoredFor);
  return computedOnTheWay[op] = result;
}

DenseSet<Value> CheapValues::collectTensors(Operation *op) const {
  DenseSet<Value> tensors;
  countOps(op, tensors);
  return tensors;
}

/// Arithmetic ops that are computed on the way to op, and op, until there are more than the limit. Adds what they read.
unsigned CheapValues::countOps(Operation *op, DenseSet<Value> &tensors) const {
  DenseSet<Operation *> ops{op};
  SmallVector<Operation *> work{op};
  while (!work.empty() && ops.size() <= maxOps) {
    for (Value operand : work.pop_back_val()->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && (isFree(producer) || isView(producer)))
        continue;
      if (!producer || !isComputedOnTheWay(producer))
        tensors.insert(operand);
      else if (ops.insert(producer).second)
        work.push_back(producer);
    }
  }
  return ops.size();
}

void CheapValues::collect(Operation *op, llvm::SetVector<Value> &leaves,
                          llvm::SetVector<Operation *> &clones) const {
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (leaves.contains(operand))
      continue;
    bool inside = producer && (isFree(producer) || isView(producer) || (!isView(op) && isComputedOnTheWay(producer)));
    // An index map reads another element than the one being computed, so a member cannot feed it; the parts of a
    // concatenation are read under a mask, from memory. Elements that are read across rows cost more than a pass.
    bool costsNothing = !inside || isFree(producer) || (isView(producer) && !isa<ConcatOp>(producer));
    inside = inside && !isa<ConcatOp>(op) && (costsNothing || !readsAcrossRows(op));
    if (inside && !clones.contains(producer))
      collect(producer, leaves, clones);
    else if (!inside)
      leaves.insert(operand);
  }
  clones.insert(op);
}
