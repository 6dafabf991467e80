#include "passes/layout/Layout.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Layout.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Worth to be kept over the steps. Index maps and constants cost nothing where they are read.
static bool isWorthKeeping(Operation *op) {
  LoweringKind kind = cast<FerruleOpInterface>(op).getLoweringKind();
  return kind != LoweringKind::Shape && kind != LoweringKind::Constant;
}

/// Whether the op may end the run, which it must not do for a loop without a step.
static bool canFail(Operation *op) {
  auto library = dyn_cast<LibraryOpInterface>(op);
  return library && library.getLibraryCall().canFail;
}

/// The ops of a region that compute the same in every step.
static llvm::SetVector<Operation *> findInvariant(Operation *loop, Block &block) {
  DenseSet<Value> same;
  for (BlockArgument argument : block.getArguments())
    if (argument.getArgNumber() >= getFirstCapture(loop))
      same.insert(argument);
  llvm::SetVector<Operation *> invariant;
  auto isSame = [&](Value value) { return same.contains(value); };
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() != 0 || canFail(&op) || !llvm::all_of(op.getOperands(), isSame))
      continue;
    invariant.insert(&op);
    same.insert(op.result_begin(), op.result_end());
  }
  return invariant;
}

/// What must be computed outside: the ops worth keeping, and what they read.
static DenseSet<Operation *> findHoisted(const llvm::SetVector<Operation *> &invariant) {
  DenseSet<Operation *> hoisted;
  for (Operation *op : llvm::reverse(invariant.getArrayRef())) {
    bool isRead = llvm::any_of(op->getUsers(), [&](Operation *user) { return hoisted.contains(user); });
    if (isRead || isWorthKeeping(op))
      hoisted.insert(op);
  }
  return hoisted;
}

static void addCapture(Operation *loop, Value outside, Region &reader, Value inside) {
  if (auto scan = dyn_cast<ScanOp>(loop))
    scan.getCapturesMutable().append(outside);
  else
    cast<WhileOp>(loop).getCapturesMutable().append(outside);
  for (Region &region : loop->getRegions()) {
    BlockArgument argument = region.addArgument(outside.getType(), outside.getLoc());
    if (&region == &reader)
      inside.replaceAllUsesWith(argument);
  }
}

static void hoistFrom(Operation *loop, Region &region) {
  llvm::SetVector<Operation *> invariant = findInvariant(loop, region.front());
  DenseSet<Operation *> hoisted = findHoisted(invariant);
  OpBuilder builder(loop);
  IRMapping mapping;
  for (auto [operand, argument] : llvm::zip(getRegionOperands(loop), region.getArguments()))
    mapping.map(argument, operand.get());
  for (Operation *op : invariant)
    if (hoisted.contains(op))
      builder.clone(*op, mapping);
  for (Operation *op : invariant)
    if (hoisted.contains(op) && isWorthKeeping(op))
      for (Value result : op->getResults())
        if (!result.use_empty())
          addCapture(loop, mapping.lookup(result), region, result);
  for (Operation *op : llvm::reverse(invariant.getArrayRef()))
    if (op->use_empty())
      op->erase();
}

void mlir::ferrule::hoistInvariants(ModuleOp module) {
  // Inner loops first: what leaves one may leave the one around it.
  module.walk([](Operation *op) {
    if (isa<ScanOp, WhileOp>(op))
      for (Region &region : op->getRegions())
        hoistFrom(op, region);
  });
}

/// A capture that is unpacked outside comes in panels, and is unpacked inside: products there want the panels.
static void sinkUnpacks(Operation *op) {
  MutableArrayRef<OpOperand> operands = getRegionOperands(op);
  for (unsigned index = getFirstCapture(op); index < operands.size(); ++index) {
    auto unpack = operands[index].get().getDefiningOp<UnpackOp>();
    if (!unpack)
      continue;
    operands[index].set(unpack.getX());
    for (Region &region : op->getRegions()) {
      BlockArgument argument = region.getArgument(index);
      auto builder = OpBuilder::atBlockBegin(&region.front());
      argument.setType(cast<RankedTensorType>(unpack.getX().getType()));
      auto inside = UnpackOp::create(builder, unpack.getLoc(), unpack.getType(), argument, unpack.getNAxes(),
                                     unpack.getKAxes(), unpack.getGroups());
      argument.replaceAllUsesExcept(inside.getResult(), inside);
    }
  }
}

void mlir::ferrule::sinkUnpacksIntoRegions(ModuleOp module) {
  module.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isControlFlow(op))
      sinkUnpacks(op);
  });
}
