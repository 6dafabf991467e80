#include "passes/memory/MemoryPlan.h"

#include "ir/graph/Layout.h"

using namespace mlir;
using namespace mlir::ferrule;

static LoweringKind getKind(Operation *op) { return cast<FerruleOpInterface>(op).getLoweringKind(); }

/// Follows the uses of a value that is read element for element: through elementwise ops to the yield, and nowhere
/// else. A root or an index map would read other elements, some of them after they were overwritten.
static bool isReadElementwise(Value value, DenseSet<Value> &visited) {
  if (!visited.insert(value).second)
    return true;
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<YieldOp>(user))
      return true;
    return getKind(user) == LoweringKind::Elementwise && isReadElementwise(user->getResult(0), visited);
  });
}

/// Whether `value` is computed from `source`.
static bool dependsOn(Value value, Value source, DenseSet<Value> &visited) {
  if (value == source)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !visited.insert(value).second)
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, source, visited); });
}

/// That holds for any kernel that loads an operand of one element number no later than the first result that needs it is
/// stored: the operand must not be needed for the first time after `result`.
static bool isLoadedBeforeStore(DispatchOp dispatch, unsigned result, Value argument) {
  for (auto [number, yielded] : llvm::enumerate(dispatch.getYielded())) {
    DenseSet<Value> visited;
    if (dependsOn(yielded, argument, visited))
      return number <= result;
  }
  return true;
}

/// An op that is computed whole says itself which operand its first result may overwrite; the argument must be read as
/// nothing else.
static bool isOverwrittenByLibrary(Value argument, Value yielded) {
  Operation *op = yielded.getDefiningOp();
  if (!op || getKind(op) != LoweringKind::Library || !argument.hasOneUse() || yielded != op->getResult(0))
    return false;
  OpOperand &use = *argument.getUses().begin();
  return use.getOwner() == op && llvm::is_contained(cast<FerruleOpInterface>(op).getInPlaceOperands(),
                                                    use.getOperandNumber());
}

/// Kernels store through an epilogue, which visits each element once, in whatever order, and reads what it needs just
/// before. Those that write without one (pool gradients, packs) have no operand that is read element for element.
bool mlir::ferrule::canShareStorage(DispatchOp dispatch, unsigned result, unsigned input) {
  Value argument = dispatch.getBodyBlock().getArgument(input);
  Value yielded = dispatch.getYielded()[result];
  if (getDims(argument) != getDims(yielded) || cast<RankedTensorType>(argument.getType()).getElementTypeBitWidth() !=
                                                   cast<RankedTensorType>(yielded.getType()).getElementTypeBitWidth())
    return false;
  if (isOverwrittenByLibrary(argument, yielded))
    return true;
  DenseSet<Value> visited;
  return isReadElementwise(argument, visited) && isLoadedBeforeStore(dispatch, result, argument);
}
