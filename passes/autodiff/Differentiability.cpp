#include "passes/autodiff/Differentiability.h"

#include "ir/graph/Gradient.h"
#include "ir/graph/Inference.h"
#include "ir/graph/State.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::ferrule {

static GradientKind getKind(Operation *op) {
  auto interface = dyn_cast<FerruleOpInterface>(op);
  return interface ? interface.getGradientKind() : GradientKind::NonDifferentiable;
}

/// Why no gradient passes the op, from a float operand to any result; empty if it passes, or is zero by definition.
static std::string getBlockReason(Operation *op) {
  // A gradient inside a gradient is expanded before the outer one, and has rules then.
  if (isa<GradientOp>(op) || getKind(op) == GradientKind::Zero)
    return "";
  if (getKind(op) == GradientKind::NonDifferentiable) {
    auto interface = dyn_cast<FerruleOpInterface>(op);
    return interface ? interface.getNonDifferentiableReason().str() : "it is no op of the graph dialect";
  }
  return llvm::none_of(op->getResults(), isFloat) ? "its result is not floating point" : "";
}

static bool hasFloatResult(Operation *op) { return llvm::any_of(op->getResults(), isFloat); }

/// Whether a cotangent of the results can be carried to the operands.
static bool passesGradient(Operation *op) { return getKind(op) == GradientKind::Rule || isa<GradientOp>(op); }

static llvm::DenseSet<Operation *> findNeededOps(Value cost) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && needed.insert(op).second)
      worklist.push_back(op);
  };
  visit(cost);
  while (!worklist.empty())
    for (Value operand : worklist.pop_back_val()->getOperands())
      visit(operand);
  return needed;
}

/// Calls `visit` for each op in `needed` that has an operand in the growing set of values reached from `from`; the op's
/// results join the set where `visit` returns true.
static void propagate(ValueRange from, const llvm::DenseSet<Operation *> &needed, llvm::DenseSet<Value> &reached,
                      llvm::function_ref<bool(Operation *)> visit) {
  SmallVector<Value> worklist(from.begin(), from.end());
  reached.insert(from.begin(), from.end());
  llvm::DenseSet<Operation *> visited;
  while (!worklist.empty())
    for (Operation *user : worklist.pop_back_val().getUsers()) {
      if (!needed.contains(user) || !visited.insert(user).second || !visit(user))
        continue;
      for (Value result : user->getResults())
        if (reached.insert(result).second)
          worklist.push_back(result);
    }
}

GradientPaths findGradientPaths(Value cost, ValueRange wrt) {
  GradientPaths paths;
  paths.needed = findNeededOps(cost);
  // An op may be reached by an integer operand first, so results of mixed ops are judged per value below.
  SmallVector<Value> floats = llvm::to_vector(llvm::make_filter_range(wrt, isFloat));
  llvm::DenseSet<Value> reached;
  propagate(floats, paths.needed, reached, [&](Operation *op) { return passesGradient(op) && hasFloatResult(op); });
  for (Value value : reached)
    if (isFloat(value))
      paths.active.insert(value);
  return paths;
}

/// The values from which the cost can be reached by gradient rules.
static llvm::DenseSet<Value> findDifferentiableValues(Value cost, const llvm::DenseSet<Operation *> &needed) {
  llvm::DenseSet<Value> values;
  SmallVector<Value> worklist{cost};
  values.insert(cost);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !passesGradient(op))
      continue;
    for (Value operand : op->getOperands())
      if (isFloat(operand) && values.insert(operand).second)
        worklist.push_back(operand);
  }
  return values;
}

static std::string getName(Value wrt, unsigned index, ArrayRef<std::string> names) {
  if (index < names.size())
    return names[index];
  if (auto read = wrt.getDefiningOp<ReadOp>())
    return read.getVariable().str();
  if (auto argument = dyn_cast<BlockArgument>(wrt))
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ferrule.name"))
        return name.str();
  return "wrt[" + std::to_string(index) + "]";
}

/// With `floatsOnly` an op without float results is no obstacle.
static SmallVector<GradientObstacle> findObstacles(Value cost, ValueRange wrt, bool floatsOnly) {
  SmallVector<GradientObstacle> obstacles;
  llvm::DenseSet<Operation *> needed = findNeededOps(cost);
  llvm::DenseSet<Value> differentiable = findDifferentiableValues(cost, needed);
  for (auto [index, value] : llvm::enumerate(wrt)) {
    // Walk everything that depends on this wrt, up to the ops that let nothing through.
    SmallVector<Operation *> blocking;
    bool needsAll = !floatsOnly && !differentiable.contains(value);
    llvm::DenseSet<Value> reached;
    propagate(value, needed, reached, [&](Operation *op) {
      if (getKind(op) == GradientKind::Zero)
        return false;
      if (getBlockReason(op).empty())
        return true;
      bool reachesCost = llvm::any_of(op->getResults(), [&](Value result) { return differentiable.contains(result); });
      if (needsAll || (hasFloatResult(op) && reachesCost))
        blocking.push_back(op);
      return false;
    });
    llvm::sort(blocking, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    for (Operation *op : blocking)
      obstacles.push_back({op, getBlockReason(op), unsigned(index)});
  }
  return obstacles;
}

SmallVector<GradientObstacle> findGradientObstacles(Value cost, ValueRange wrt) {
  return findObstacles(cost, wrt, /*floatsOnly=*/false);
}

SmallVector<GradientObstacle> findFloatGradientObstacles(Value cost, ValueRange wrt) {
  return findObstacles(cost, wrt, /*floatsOnly=*/true);
}

LogicalResult refuse(const GradientObstacle &obstacle, ValueRange wrt, ArrayRef<std::string> names) {
  return emitError(obstacle.op->getLoc())
         << obstacle.op->getName().stripDialect() << " has no gradient: " << obstacle.reason
         << "; the gradient of the cost to " << getName(wrt[obstacle.wrt], obstacle.wrt, names) << " needs it";
}

LogicalResult checkDifferentiable(Value cost, ValueRange wrt, ArrayRef<std::string> names) {
  SmallVector<GradientObstacle> obstacles = findGradientObstacles(cost, wrt);
  return obstacles.empty() ? success() : refuse(obstacles.front(), wrt, names);
}

} // namespace mlir::ferrule
