#include "passes/recompute/Recipe.h"

#include "passes/recompute/Marks.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::ferrule;

bool mlir::ferrule::isOnePass(Operation *op) {
  if (isa<YieldOp>(op))
    return true;
  LoweringKind kind = cast<FerruleOpInterface>(op).getLoweringKind();
  return kind == LoweringKind::Elementwise || kind == LoweringKind::Shape || kind == LoweringKind::Constant;
}

/// Collects the ops that compute `value` from arguments and from `given`; false if one of them is dear.
static bool collectCheapOps(Value value, const DenseMap<Value, unsigned> &given, llvm::SetVector<Operation *> &ops,
                            llvm::SmallSetVector<unsigned, 4> &read) {
  if (auto found = given.find(value); found != given.end()) {
    read.insert(found->second);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!op || ops.contains(op))
    return true;
  if (!isOnePass(op))
    return false;
  ops.insert(op);
  return llvm::all_of(op->getOperands(), [&](Value operand) { return collectCheapOps(operand, given, ops, read); });
}

std::optional<Recipe> mlir::ferrule::findRecipe(DispatchOp dispatch) {
  if (dispatch.getNumResults() < 2 ||
      llvm::all_of(dispatch.getBodyBlock(), [](Operation &op) { return isOnePass(&op); }))
    return std::nullopt;
  // In the order of the body, so that what a result comes of is known before it.
  SmallVector<unsigned> order;
  OperandRange yielded = dispatch.getYielded();
  for (unsigned result = 0; result < yielded.size(); ++result)
    if (yielded[result].getDefiningOp())
      order.push_back(result);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    Operation *first = yielded[a].getDefiningOp(), *second = yielded[b].getDefiningOp();
    return first != second && first->isBeforeInBlock(second);
  });
  Recipe recipe;
  DenseMap<Value, unsigned> given;
  llvm::SmallSetVector<unsigned, 4> read;
  for (unsigned result : order) {
    llvm::SetVector<Operation *> ops;
    llvm::SmallSetVector<unsigned, 4> readHere;
    if (given.contains(yielded[result]) || !collectCheapOps(yielded[result], given, ops, readHere)) {
      given.try_emplace(yielded[result], result);
      continue;
    }
    recipe.made.push_back(result);
    read.insert(readHere.begin(), readHere.end());
  }
  if (recipe.made.empty())
    return std::nullopt;
  llvm::sort(recipe.made);
  recipe.read = read.takeVector();
  llvm::sort(recipe.read);
  return recipe;
}

DispatchOp mlir::ferrule::createRecipe(OpBuilder &builder, DispatchOp dispatch, const Recipe &recipe) {
  DenseMap<Value, unsigned> given;
  for (unsigned result : recipe.read)
    given[dispatch.getYielded()[result]] = result;
  llvm::SetVector<Operation *> ops;
  llvm::SmallSetVector<unsigned, 4> read;
  SmallVector<Type> types;
  for (unsigned result : recipe.made) {
    collectCheapOps(dispatch.getYielded()[result], given, ops, read);
    types.push_back(dispatch.getResult(result).getType());
  }
  llvm::SmallSetVector<Value, 4> arguments;
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (isa<BlockArgument>(operand))
        arguments.insert(operand);
  SmallVector<Value> operands;
  for (unsigned result : recipe.read)
    operands.push_back(dispatch.getResult(result));
  for (Value argument : arguments)
    operands.push_back(dispatch.getInputs()[cast<BlockArgument>(argument).getArgNumber()]);
  auto created = DispatchOp::create(builder, dispatch.getLoc(), types, operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&created.getBody());
  IRMapping mapping;
  for (unsigned result : recipe.read)
    mapping.map(dispatch.getYielded()[result],
                body->addArgument(dispatch.getResult(result).getType(), dispatch.getLoc()));
  for (Value argument : arguments)
    mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
  for (Operation &op : dispatch.getBodyBlock())
    if (ops.contains(&op))
      builder.clone(op, mapping);
  SmallVector<Value> results;
  for (unsigned result : recipe.made)
    results.push_back(mapping.lookup(dispatch.getYielded()[result]));
  YieldOp::create(builder, dispatch.getBodyBlock().getTerminator()->getLoc(), results);
  return created;
}
