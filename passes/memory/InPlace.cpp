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

/// The order in which a panel outer product stores differs from its result's order in memory, and pool gradients,
/// packs and the like write without callbacks; only kernels that store through an epilogue visit each element once,
/// reading what the epilogue needs just before.
bool mlir::ferrule::canShareStorage(DispatchOp dispatch, unsigned result, unsigned input) {
  Value argument = dispatch.getBodyBlock().getArgument(input);
  Value yielded = dispatch.getYielded()[result];
  if (getDims(argument) != getDims(yielded) || cast<RankedTensorType>(argument.getType()).getElementTypeBitWidth() !=
                                                   cast<RankedTensorType>(yielded.getType()).getElementTypeBitWidth())
    return false;
  DenseSet<Value> visited;
  return isReadElementwise(argument, visited);
}
