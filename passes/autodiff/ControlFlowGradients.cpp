// Gradients of branches and loops. A branch becomes a branch over the gradients of its regions. A scan stacks the
// carries of its steps on the way forward, and the results of their contractions; its gradient is a scan in the other
// direction, whose step computes the rest of the forward step again and walks back over it. The cotangents of the
// carries are carries, and so are the sums of the captures' cotangents: they begin with -0, to which everything adds
// without a change, and every use adds one term.
#include "passes/autodiff/GradientWalk.h"
#include "passes/autodiff/Marks.h"
#include "passes/recompute/Marks.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Elementwise.h"
#include "ir/graph/Inference.h"
#include "ir/graph/Shape.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::ferrule {

namespace {

/// On a scan: the number of the first of its results that are the stacked carries. What contractions made comes after.
constexpr StringLiteral stackedAttributeName = "ferrule.stacked_carries";
/// See SubstituteMaterialized.cpp: one number a result.
constexpr StringLiteral materializedAttributeName = "ferrule.materialized";

constexpr double neutralZero = -0.0;

void cloneOps(OpBuilder &builder, Block &block, IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
}

SmallVector<Value> mapAll(ValueRange values, const IRMapping &mapping) {
  return llvm::map_to_vector(values, [&](Value value) { return mapping.lookupOrDefault(value); });
}

void addArguments(Block &block, TypeRange types, Location location) {
  for (Type type : types)
    block.addArgument(type, location);
}

//===------------------------------------------------------------------------------------------------------------===//
// Preparation
//===------------------------------------------------------------------------------------------------------------===//

/// The new op's results behind `offset` stand for the old op's.
void moveMaterialized(Operation *from, Operation *to, unsigned offset) {
  auto numbers = from->getAttrOfType<DenseI64ArrayAttr>(materializedAttributeName);
  if (!numbers)
    return;
  SmallVector<int64_t> moved(to->getNumResults(), -1);
  llvm::copy(numbers.asArrayRef(), moved.begin() + offset);
  to->setAttr(materializedAttributeName, DenseI64ArrayAttr::get(to->getContext(), moved));
}

/// while (condition(c)) c = body(c) of at most n steps, as n steps that do nothing once the condition is false.
ScanOp convertToScan(WhileOp loop) {
  OpBuilder builder(loop);
  Location location = loop.getLoc();
  unsigned carries = loop.getInits().size();
  IRMapping first;
  first.map(loop.getCondition().getArguments(), loop->getOperands());
  cloneOps(builder, loop.getCondition().front(), first);
  SmallVector<Value> inits = mapAll(getYielded(loop.getCondition()), first);
  llvm::append_range(inits, loop.getInits());
  auto scan = ScanOp::create(builder, location, TypeRange(ValueRange(inits)), inits, ValueRange(), loop.getCaptures(),
                             *loop.getMaxSteps());

  Block &body = scan.getBody().emplaceBlock();
  addArguments(body, ValueRange(inits).getTypes(), location);
  addArguments(body, loop.getCaptures().getTypes(), location);
  builder.setInsertionPointToStart(&body);
  Value active = body.getArgument(0);
  auto branch = IfOp::create(builder, location, TypeRange(ValueRange(inits)), active,
                             ValueRange(body.getArguments().drop_front()));
  YieldOp::create(builder, location, branch.getResults());
  for (Region &region : branch->getRegions())
    addArguments(region.emplaceBlock(), branch.getCaptures().getTypes(), location);

  Block &step = branch.getThenRegion().front();
  builder.setInsertionPointToStart(&step);
  IRMapping forward, next;
  forward.map(loop.getBody().getArguments(), step.getArguments());
  cloneOps(builder, loop.getBody().front(), forward);
  SmallVector<Value> state = mapAll(getYielded(loop.getBody()), forward);
  for (auto [index, argument] : llvm::enumerate(loop.getCondition().getArguments()))
    next.map(argument, index < carries ? state[index] : step.getArgument(index));
  cloneOps(builder, loop.getCondition().front(), next);
  SmallVector<Value> yielded = mapAll(getYielded(loop.getCondition()), next);
  llvm::append_range(yielded, state);
  YieldOp::create(builder, location, yielded);

  Block &rest = branch.getElseRegion().front();
  builder.setInsertionPointToStart(&rest);
  GraphBuilder b(builder, location);
  yielded.assign(1, b.full(builder.getI1Type(), {}, 0));
  llvm::append_range(yielded, rest.getArguments().take_front(carries));
  YieldOp::create(builder, location, yielded);

  moveMaterialized(loop, scan, 1);
  loop->replaceAllUsesWith(scan.getResults().drop_front());
  loop.erase();
  return scan;
}

/// What the gradient reads rather than computes again: the results of contractions, with what is added to them at once.
/// They take the memory that a layer outside of loops takes, and nearly all of a step's time. In a checkpoint they are
/// not kept.
SmallVector<Value> findKept(Block &body) {
  SmallVector<Value> kept;
  for (Operation &op : body.without_terminator()) {
    auto interface = dyn_cast<FerruleOpInterface>(&op);
    LoweringKind kind = interface ? interface.getLoweringKind() : LoweringKind::ControlFlow;
    if ((kind != LoweringKind::Contraction && kind != LoweringKind::Convolution) || isInCheckpoint(op.getLoc()))
      continue;
    Value value = op.getResult(0);
    // The gradient of a sum does not read its terms.
    while (value.hasOneUse() && isa<AddOp, SubOp>(*value.user_begin()))
      value = value.user_begin()->getResult(0);
    if (!llvm::is_contained(kept, value))
      kept.push_back(value);
  }
  return kept;
}

/// Adds results: the carries with which each step begins, and what is kept of it.
void stackResiduals(ScanOp scan) {
  if (scan->hasAttr(stackedAttributeName))
    return;
  OpBuilder builder(scan);
  SmallVector<Value> residuals(scan.getBody().getArguments().take_front(scan.getInits().size()));
  llvm::append_range(residuals, findKept(scan.getBody().front()));
  SmallVector<Type> types(scan.getResultTypes());
  for (Value residual : residuals)
    types.push_back(getStackedType(scan.getStepCount(), cast<RankedTensorType>(residual.getType())));
  auto stacked = ScanOp::create(builder, scan.getLoc(), types, scan.getInits(), scan.getXs(), scan.getCaptures(),
                                scan.getLength(), scan.getReverse());
  stacked->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  moveMaterialized(scan, stacked, 0);
  stacked->setAttr(stackedAttributeName, builder.getI64IntegerAttr(scan.getNumResults()));
  stacked.getBody().takeBody(scan.getBody());
  cast<YieldOp>(stacked.getBody().front().getTerminator()).getValuesMutable().append(residuals);
  scan->replaceAllUsesWith(stacked.getResults().take_front(scan.getNumResults()));
  scan.erase();
}

/// The carries of each step of a prepared scan.
ValueRange getStackedCarries(ScanOp scan) {
  unsigned first = scan->getAttrOfType<IntegerAttr>(stackedAttributeName).getInt();
  return scan.getResults().slice(first, scan.getInits().size());
}

/// The number of the first result that holds what contractions made.
unsigned getFirstKept(ScanOp scan) {
  return scan->getAttrOfType<IntegerAttr>(stackedAttributeName).getInt() + scan.getInits().size();
}

} // namespace

void prepareControlFlow(ValueRange costs, ValueRange wrt) {
  GradientPaths paths = findGradientPaths(costs, wrt);
  SmallVector<Operation *> found;
  for (Operation *op : paths.needed)
    if (isControlFlow(op) && llvm::any_of(op->getOperands(), [&](Value value) { return paths.active.contains(value); }))
      found.push_back(op);
  llvm::sort(found, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : found) {
    if (auto loop = dyn_cast<WhileOp>(op))
      op = convertToScan(loop);
    if (auto scan = dyn_cast<ScanOp>(op))
      stackResiduals(scan);
  }
}

void forgetPreparation(Operation *root) {
  root->walk([](ScanOp scan) { scan->removeAttr(stackedAttributeName); });
}

//===------------------------------------------------------------------------------------------------------------===//
// One region
//===------------------------------------------------------------------------------------------------------------===//

namespace {

/// A copy of a region's ops in a new block, and the walk back over it.
class RegionGradient {
public:
  /// `builder` stands in the new block; `arguments` are the values there that stand for the region's arguments.
  RegionGradient(OpBuilder &builder, Region &region, ValueRange arguments, Location location)
      : builder(builder), location(location), arguments(llvm::to_vector(arguments)) {
    IRMapping mapping;
    mapping.map(region.getArguments(), arguments);
    cloneOps(builder, region.front(), mapping);
    // Holds the yielded values while ops are replaced.
    holder = YieldOp::create(builder, location, mapAll(getYielded(region), mapping));
    builder.setInsertionPoint(holder);
  }

  /// `incoming` has one cotangent a yielded value, or null; `sums` one for an argument at which its cotangents add up.
  LogicalResult run(ArrayRef<Value> incoming, ArrayRef<unsigned> wrt, ArrayRef<std::pair<unsigned, Value>> sums) {
    SmallVector<unsigned> costs;
    for (auto [index, cotangent] : llvm::enumerate(incoming))
      if (cotangent)
        costs.push_back(index);
    auto getCosts = [&] { return llvm::map_to_vector(costs, [&](unsigned i) { return holder->getOperand(i); }); };
    SmallVector<Value> active = llvm::map_to_vector(wrt, [&](unsigned i) { return arguments[i]; });
    prepareControlFlow(getCosts(), active);
    Operation *last = holder->getPrevNode();
    walk.emplace(builder, findGradientPaths(getCosts(), active));
    for (auto [index, sum] : sums)
      walk->add(arguments[index], sum, location);
    for (unsigned index : llvm::reverse(costs))
      walk->add(holder->getOperand(index), incoming[index], location);
    return walk->run(last);
  }

  /// Of an argument: its cotangent, or zeros.
  Value getGradient(unsigned argument, double zero) {
    Value cotangent = walk->lookup(arguments[argument]);
    return cotangent ? cotangent : GraphBuilder(builder, location).like(arguments[argument], zero);
  }

  /// Yielded value `index` is read as `known` instead of computed.
  void replaceYielded(unsigned index, Value known) { holder->getOperand(index).replaceAllUsesExcept(known, holder); }

  /// Ends the block.
  void yield(ValueRange values) {
    YieldOp::create(builder, location, values);
    holder.erase();
  }

private:
  OpBuilder &builder;
  Location location;
  SmallVector<Value> arguments;
  YieldOp holder;
  std::optional<GradientWalk> walk;
};

/// The numbers of the region operands that are active.
SmallVector<unsigned> getActiveOperands(Operation *op, llvm::function_ref<bool(Value)> isActive) {
  SmallVector<unsigned> numbers;
  for (auto [index, operand] : llvm::enumerate(getRegionOperands(op)))
    if (isFloat(operand.get()) && isActive(operand.get()))
      numbers.push_back(index);
  return numbers;
}

//===------------------------------------------------------------------------------------------------------------===//
// Branches
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult buildIfGradient(IfOp branch, GraphBuilder &b, ArrayRef<Value> cotangents,
                              llvm::function_ref<bool(Value)> isActive, MutableArrayRef<Value> gradients) {
  OpBuilder &builder = b.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  Location location = b.getLocation();
  SmallVector<unsigned> wrt = getActiveOperands(branch, isActive);
  SmallVector<Value> captures(branch.getCaptures());
  SmallVector<Type> types;
  for (unsigned index : wrt)
    types.push_back(captures[index].getType());
  unsigned forward = captures.size();
  llvm::copy_if(cotangents, std::back_inserter(captures), [](Value value) { return bool(value); });
  auto backward = IfOp::create(builder, location, types, branch.getPredicate(), captures);
  for (auto [source, region] : llvm::zip(branch->getRegions(), backward->getRegions())) {
    Block &block = region.emplaceBlock();
    addArguments(block, ValueRange(captures).getTypes(), location);
    SmallVector<Value> incoming;
    unsigned next = forward;
    for (Value cotangent : cotangents)
      incoming.push_back(cotangent ? Value(block.getArgument(next++)) : Value());
    builder.setInsertionPointToStart(&block);
    RegionGradient gradient(builder, source, ValueRange(block.getArguments().take_front(forward)), location);
    if (failed(gradient.run(incoming, wrt, {})))
      return failure();
    gradient.yield(llvm::map_to_vector(wrt, [&](unsigned i) { return gradient.getGradient(i, 0.0); }));
  }
  for (auto [index, result] : llvm::zip(wrt, backward.getResults()))
    gradients[1 + index] = result;
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Scans
//===------------------------------------------------------------------------------------------------------------===//

/// The gradient of one scan.
class ScanGradient {
public:
  ScanGradient(ScanOp scan, Location location, ArrayRef<Value> cotangents, llvm::function_ref<bool(Value)> isActive)
      : scan(scan), location(location), cotangents(cotangents), isActive(isActive),
        carryCount(scan.getInits().size()), firstCapture(getFirstCapture(scan)) {}

  LogicalResult build(GraphBuilder &b, MutableArrayRef<Value> gradients) {
    OpBuilder::InsertionGuard guard(b.getBuilder());
    findActive();
    findCosts();
    ScanOp backward = createScan(b);
    if (failed(fillBody(b.getBuilder(), backward)))
      return failure();
    unsigned next = 0;
    for (ArrayRef<unsigned> numbers : {ArrayRef(carries), ArrayRef(captures), ArrayRef(slices)})
      for (unsigned number : numbers)
        gradients[number] = backward.getResult(next++);
    return success();
  }

private:
  /// The arguments that depend on something active: a carry does if its init or what a step makes of it does.
  void findActive() {
    Region &body = scan.getBody();
    active.resize(body.getNumArguments());
    for (unsigned index : getActiveOperands(scan, isActive))
      active[index] = true;
    for (bool changed = true; changed;) {
      changed = false;
      GradientPaths paths = findGradientPaths(getYielded(body), getArguments());
      for (unsigned carry = 0; carry < carryCount; ++carry)
        if (!active[carry] && paths.active.contains(getYielded(body)[carry]))
          active[carry] = changed = true;
    }
  }

  SmallVector<Value> getArguments() {
    SmallVector<Value> arguments;
    for (auto [argument, isActive] : llvm::zip(scan.getBody().getArguments(), active))
      if (isActive)
        arguments.push_back(argument);
    return arguments;
  }

  /// The yielded values that the cost depends on, and by them the arguments that get a cotangent.
  void findCosts() {
    Region &body = scan.getBody();
    hasCotangent.resize(scan.getNumResults());
    for (auto [index, cotangent] : llvm::enumerate(cotangents))
      hasCotangent[index] = bool(cotangent);
    llvm::DenseSet<Value> reached;
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<Value> costs;
      for (auto [index, value] : llvm::enumerate(getYielded(body)))
        if (hasCotangent[index])
          costs.push_back(value);
      reached = findDifferentiableValues(costs);
      for (unsigned carry = 0; carry < carryCount; ++carry)
        if (!hasCotangent[carry] && active[carry] && reached.contains(body.getArgument(carry)))
          hasCotangent[carry] = changed = true;
    }
    for (unsigned index = 0; index < active.size(); ++index) {
      bool isCarry = index < carryCount;
      if (!active[index] || !(isCarry ? bool(hasCotangent[index]) : reached.contains(body.getArgument(index))))
        continue;
      (isCarry ? carries : index < firstCapture ? slices : captures).push_back(index);
    }
  }

  /// Carries: cotangents of the carries, sums for the captures. Slices: the carries of each step, the forward slices,
  /// the cotangents of the stacked results, what contractions made.
  ScanOp createScan(GraphBuilder &b) {
    SmallVector<Value> inits, xs(getStackedCarries(scan));
    for (unsigned carry : carries)
      inits.push_back(cotangents[carry] ? cotangents[carry] : b.like(scan.getResult(carry), neutralZero));
    for (unsigned capture : captures)
      inits.push_back(b.like(scan->getOperand(capture), neutralZero));
    llvm::append_range(xs, scan.getXs());
    llvm::copy_if(cotangents.drop_front(carryCount), std::back_inserter(xs), [](Value value) { return bool(value); });
    llvm::append_range(xs, scan.getResults().drop_front(getFirstKept(scan)));
    SmallVector<Type> types(ValueRange(inits).getTypes());
    for (unsigned slice : slices)
      types.push_back(scan->getOperand(slice).getType());
    return ScanOp::create(b.getBuilder(), location, types, inits, xs, scan.getCaptures(), scan.getLength(),
                          !scan.getReverse());
  }

  LogicalResult fillBody(OpBuilder &builder, ScanOp backward) {
    Block &block = backward.getBody().emplaceBlock();
    addArguments(block, backward.getInits().getTypes(), location);
    for (Value x : backward.getXs())
      block.addArgument(getSliceType(cast<RankedTensorType>(x.getType())), location);
    addArguments(block, backward.getCaptures().getTypes(), location);
    builder.setInsertionPointToStart(&block);

    unsigned firstSlice = backward.getInits().size(), backwardCaptures = getFirstCapture(backward);
    SmallVector<Value> forward(block.getArguments().slice(firstSlice, firstCapture));
    llvm::append_range(forward, block.getArguments().drop_front(backwardCaptures));
    SmallVector<Value> incoming(scan.getNumResults());
    for (auto [index, carry] : llvm::enumerate(carries))
      incoming[carry] = block.getArgument(index);
    unsigned next = firstSlice + firstCapture;
    for (unsigned index = carryCount; index < incoming.size(); ++index)
      if (cotangents[index])
        incoming[index] = block.getArgument(next++);
    SmallVector<std::pair<unsigned, Value>> sums;
    for (auto [index, capture] : llvm::enumerate(captures))
      sums.push_back({capture, block.getArgument(carries.size() + index)});

    SmallVector<unsigned> wrt;
    for (ArrayRef<unsigned> numbers : {ArrayRef(carries), ArrayRef(captures), ArrayRef(slices)})
      llvm::append_range(wrt, numbers);
    RegionGradient gradient(builder, scan.getBody(), forward, location);
    if (failed(gradient.run(incoming, wrt, sums)))
      return failure();
    for (unsigned index = getFirstKept(scan); index < scan.getNumResults(); ++index)
      gradient.replaceYielded(index, block.getArgument(next++));
    SmallVector<Value> yielded;
    for (unsigned number : wrt)
      yielded.push_back(gradient.getGradient(number, number < carryCount ? neutralZero : 0.0));
    gradient.yield(yielded);
    return success();
  }

  ScanOp scan;
  Location location;
  ArrayRef<Value> cotangents;
  llvm::function_ref<bool(Value)> isActive;
  unsigned carryCount, firstCapture;
  SmallVector<bool> active, hasCotangent;
  /// Arguments of the body (and operands of the scan) that get a cotangent.
  SmallVector<unsigned> carries, captures, slices;
};

} // namespace

/// The region that the user wrote, in place of a rule.
static void inlineBackward(CustomGradientOp op, GraphBuilder &b, ArrayRef<Value> cotangents,
                           MutableArrayRef<Value> gradients) {
  IRMapping mapping;
  Block &block = op.getBackward().front();
  unsigned count = op.getValues().size();
  for (auto [index, argument] : llvm::enumerate(block.getArguments()))
    mapping.map(argument, index >= count      ? op.getCaptures()[index - count]
                          : cotangents[index] ? cotangents[index]
                                              : b.like(op.getResult(index), 0.0));
  for (Operation &inner : block.without_terminator())
    b.getBuilder().clone(inner, mapping)->walk([](Operation *clone) { clone->setLoc(markBackward(clone->getLoc())); });
  for (auto [index, value] : llvm::enumerate(getYielded(op.getBackward())))
    gradients[count + index] = mapping.lookup(value);
}

LogicalResult buildControlFlowGradient(Operation *op, GraphBuilder &b, ArrayRef<Value> cotangents,
                                       llvm::function_ref<bool(Value)> isActive, MutableArrayRef<Value> gradients) {
  if (auto branch = dyn_cast<IfOp>(op))
    return buildIfGradient(branch, b, cotangents, isActive, gradients);
  if (auto custom = dyn_cast<CustomGradientOp>(op)) {
    inlineBackward(custom, b, cotangents, gradients);
    return success();
  }
  auto scan = dyn_cast<ScanOp>(op);
  if (!scan)
    return op->emitOpError("has no gradient: it runs an unknown number of steps; give it max_steps");
  return ScanGradient(scan, b.getLocation(), cotangents, isActive).build(b, gradients);
}

} // namespace mlir::ferrule
