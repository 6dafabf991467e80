#include "passes/autodiff/Differentiability.h"

#include "ir/graph/ControlFlow.h"
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
  if (auto loop = dyn_cast<WhileOp>(op); loop && !loop.getMaxSteps())
    return "it runs an unknown number of steps; give it max_steps";
  if (getKind(op) == GradientKind::NonDifferentiable) {
    auto interface = dyn_cast<FerruleOpInterface>(op);
    return interface ? interface.getNonDifferentiableReason().str() : "it is no op of the graph dialect";
  }
  return llvm::none_of(op->getResults(), isFloat) ? "its result is not floating point" : "";
}

static bool hasFloatResult(Operation *op) { return llvm::any_of(op->getResults(), isFloat); }

/// Whether a cotangent of the results can be carried to the operands.
static bool passesGradient(Operation *op) {
  return getKind(op) == GradientKind::Rule || getKind(op) == GradientKind::Regions || isa<GradientOp>(op);
}

static llvm::DenseSet<Operation *> findNeededOps(ValueRange costs) {
  llvm::DenseSet<Operation *> needed;
  SmallVector<Operation *> worklist;
  auto visit = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && needed.insert(op).second)
      worklist.push_back(op);
  };
  llvm::for_each(costs, visit);
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

GradientPaths findGradientPaths(ValueRange costs, ValueRange wrt) {
  GradientPaths paths;
  paths.needed = findNeededOps(costs);
  // An op may be reached by an integer operand first, so results of mixed ops are judged per value below.
  SmallVector<Value> floats = llvm::to_vector(llvm::make_filter_range(wrt, isFloat));
  llvm::DenseSet<Value> reached;
  propagate(floats, paths.needed, reached, [&](Operation *op) { return passesGradient(op) && hasFloatResult(op); });
  for (Value value : reached)
    if (isFloat(value))
      paths.active.insert(value);
  return paths;
}

llvm::DenseSet<Value> findDifferentiableValues(ValueRange costs) {
  llvm::DenseSet<Value> values(costs.begin(), costs.end());
  SmallVector<Value> worklist(costs);
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

/// What the costs of a block say about it.
struct BlockCosts {
  explicit BlockCosts(ValueRange costs) : needed(findNeededOps(costs)), wanted(findDifferentiableValues(costs)) {}

  llvm::DenseSet<Operation *> needed;
  llvm::DenseSet<Value> wanted;
};

/// Looks for what stops gradients to one wrt: the ops of a block first, then those of the regions in it.
class ObstacleSearch {
public:
  ObstacleSearch(unsigned wrt, SmallVectorImpl<GradientObstacle> &obstacles) : wrt(wrt), obstacles(obstacles) {}

  /// With `floatsOnly` an op without float results is no obstacle.
  void search(const BlockCosts &costs, ValueRange from, bool floatsOnly) {
    llvm::DenseSet<Value> reached;
    bool needsAll = !floatsOnly && llvm::none_of(from, [&](Value value) { return costs.wanted.contains(value); });
    SmallVector<Operation *> blocking, regions;
    propagate(from, costs.needed, reached, [&](Operation *op) {
      if (getKind(op) == GradientKind::Zero)
        return false;
      bool reachesCost = llvm::any_of(op->getResults(), [&](Value result) { return costs.wanted.contains(result); });
      if (getBlockReason(op).empty()) {
        if (isControlFlow(op) && reachesCost)
          regions.push_back(op);
        return true;
      }
      if (needsAll || (hasFloatResult(op) && reachesCost))
        blocking.push_back(op);
      return false;
    });
    auto isBefore = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    llvm::sort(blocking, isBefore);
    llvm::sort(regions, isBefore);
    for (Operation *op : blocking)
      obstacles.push_back({op, getBlockReason(op), wrt});
    for (Operation *op : regions)
      searchRegions(op, reached, costs.wanted);
  }

private:
  /// Every carry that can carry something counts as reached and wanted.
  void searchRegions(Operation *op, const llvm::DenseSet<Value> &reached, const llvm::DenseSet<Value> &wanted) {
    for (Region &region : op->getRegions()) {
      if (auto loop = dyn_cast<WhileOp>(op); loop && &region == &loop.getCondition())
        continue;
      SmallVector<Value> from, costs;
      for (auto [operand, argument] : llvm::zip(getRegionOperands(op), region.getArguments()))
        if (isFloat(argument) && (reached.contains(operand.get()) || argument.getArgNumber() < getCarryCount(op)))
          from.push_back(argument);
      for (auto [result, value] : llvm::zip(op->getResults(), getYielded(region)))
        if (isFloat(value) && (wanted.contains(result) || result.getResultNumber() < getCarryCount(op)))
          costs.push_back(value);
      search(BlockCosts(costs), from, /*floatsOnly=*/true);
    }
  }

  unsigned wrt;
  SmallVectorImpl<GradientObstacle> &obstacles;
};

/// Whether some value of `from` meets an obstacle: one search for all of them, since an op that stops one of them is
/// reached from all together too.
static bool anyObstacle(const BlockCosts &costs, ArrayRef<Value> from, bool floatsOnly) {
  SmallVector<GradientObstacle> obstacles;
  ObstacleSearch(/*wrt=*/0, obstacles).search(costs, from, floatsOnly);
  return !obstacles.empty();
}

static SmallVector<GradientObstacle> findObstacles(Value cost, ValueRange wrt, bool floatsOnly) {
  SmallVector<GradientObstacle> obstacles;
  BlockCosts costs(cost);
  // A search for each wrt takes the square of a net's depth, so only a gradient that is refused pays for it. An op
  // without float results counts for those alone that have no other path to the cost: these are asked about apart.
  SmallVector<Value> wanted, others;
  for (Value value : wrt)
    (costs.wanted.contains(value) ? wanted : others).push_back(value);
  if (!anyObstacle(costs, wanted, floatsOnly) && !anyObstacle(costs, others, floatsOnly))
    return obstacles;
  for (auto [index, value] : llvm::enumerate(wrt))
    ObstacleSearch(index, obstacles).search(costs, value, floatsOnly);
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
