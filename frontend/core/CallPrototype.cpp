//===- CallPrototype.cpp - Calls that recorded several ops before ---------===//

#include "frontend/core/CallPrototype.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

namespace ferrule::frontend {

//===----------------------------------------------------------------------===//
// Places in a record
//===----------------------------------------------------------------------===//

RecordMark::RecordMark(LazyRecorder &recorder)
    : streamId(recorder.getId()), block(recorder.getBuilder().getBlock()), last(block->empty() ? nullptr : &block->back()) {}

std::optional<mlir::Block::iterator> RecordMark::getNext(LazyRecorder &recorder) const {
  if (recorder.getId() != streamId || recorder.isInRegion())
    return std::nullopt;
  return last ? std::next(mlir::Block::iterator(last)) : block->begin();
}

//===----------------------------------------------------------------------===//
// Taking a call
//===----------------------------------------------------------------------===//

/// As copyOp, also for an op whose regions use no values from outside.
static mlir::Operation *copyWithRegions(mlir::Operation *op, mlir::Location location, mlir::ValueRange operands) {
  if (op->getNumRegions() == 0)
    return copyOp(op, location, operands);
  mlir::Operation *copy = mlir::Operation::create(location, op->getName(), op->getResultTypes(), operands,
                                                  op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
                                                  /*successors=*/{}, op->getNumRegions());
  mlir::IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), copy->getRegions()))
    from.cloneInto(&to, mapping);
  copy->walk([&](mlir::Operation *inner) { inner->setLoc(location); });
  return copy;
}

/// Each step says whether the call can still be repeated.
class CallPrototype::Taking {
public:
  Taking(LazyRecorder &recorder, CallPrototype &prototype) : recorder(recorder), prototype(prototype) {}

  bool addInputs(llvm::ArrayRef<TensorRef> inputs) {
    inputCount = inputs.size();
    // Two inputs that are one value could be two values the next time.
    return llvm::all_of(inputs, [&](const TensorRef &input) {
      std::optional<mlir::Value> value = getValue(input);
      return value && number(*value);
    });
  }

  bool addConstants(llvm::iterator_range<mlir::Block::iterator> ops) {
    for (mlir::Operation &op : ops)
      if (!llvm::all_of(op.getOperands(), [&](mlir::Value operand) { return addConstant(operand); }))
        return false;
    return true;
  }

  bool addOp(mlir::Operation &op) {
    if (prototype.steps.size() == maximumOps)
      return false;
    // What a branch or loop uses from outside is an operand of it.
    llvm::SetVector<mlir::Value> outside;
    mlir::getUsedValuesDefinedAbove(op.getRegions(), outside);
    if (!outside.empty())
      return false;
    Step step{nullptr, {}};
    for (mlir::Value operand : op.getOperands()) {
      auto found = numbers.find(operand);
      if (found == numbers.end())
        return false;
      step.operands.push_back(found->second);
    }
    step.op = copyWithRegions(&op, mlir::UnknownLoc::get(op.getContext()), {});
    prototype.steps.push_back(std::move(step));
    return llvm::all_of(op.getResults(), [&](mlir::Value result) { return number(result); });
  }

  bool addResult(const TensorRef &result) {
    std::optional<mlir::Value> value = getValue(result);
    auto found = value ? numbers.find(*value) : numbers.end();
    if (found == numbers.end() || isConstant(found->second))
      return false;
    prototype.results.push_back(found->second);
    return true;
  }

private:
  std::optional<mlir::Value> getValue(const TensorRef &tensor) {
    llvm::Expected<mlir::Value> value = recorder.getValue(tensor, {tensor->getLocation(), {}});
    if (value)
      return *value;
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }

  bool number(mlir::Value value) { return numbers.try_emplace(value, numbers.size()).second; }

  /// Each call must return a tensor of its own: a gradient tells them apart.
  bool isConstant(unsigned number) const {
    return number >= inputCount && number < inputCount + prototype.constants.size();
  }

  /// What an op made is no constant; a leaf that is no input is one.
  bool addConstant(mlir::Value value) {
    if (value.getDefiningOp() || numbers.contains(value))
      return true;
    TensorRef leaf = recorder.findLeaf(value);
    if (!leaf)
      return false;
    constantBytes += leaf->getBuffer()->size();
    prototype.constants.push_back(std::move(leaf));
    return number(value) && constantBytes <= maximumConstantBytes;
  }

  LazyRecorder &recorder;
  CallPrototype &prototype;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  size_t inputCount = 0, constantBytes = 0;
};

std::unique_ptr<CallPrototype> CallPrototype::take(LazyRecorder &recorder, const RecordMark &mark,
                                                   llvm::ArrayRef<TensorRef> inputs,
                                                   llvm::ArrayRef<TensorRef> results) {
  std::optional<mlir::Block::iterator> next = mark.getNext(recorder);
  if (!next)
    return nullptr;
  auto ops = llvm::make_range(*next, recorder.getBuilder().getBlock()->end());
  std::unique_ptr<CallPrototype> prototype(new CallPrototype);
  Taking taking(recorder, *prototype);
  bool isWhole = taking.addInputs(inputs) && taking.addConstants(ops) &&
                 llvm::all_of(ops, [&](mlir::Operation &op) { return taking.addOp(op); }) &&
                 llvm::all_of(results, [&](const TensorRef &result) { return taking.addResult(result); });
  return isWhole ? std::move(prototype) : nullptr;
}

CallPrototype::~CallPrototype() {
  for (Step &step : steps)
    step.op->destroy();
}

//===----------------------------------------------------------------------===//
// Repeating it
//===----------------------------------------------------------------------===//

llvm::Expected<llvm::SmallVector<TensorRef, 2>>
CallPrototype::record(LazyRecorder &recorder, llvm::ArrayRef<TensorRef> inputs, const CallSite &site) const {
  llvm::SmallVector<mlir::Value, 32> values;
  for (llvm::ArrayRef<TensorRef> tensors : {inputs, llvm::ArrayRef<TensorRef>(constants)})
    for (const TensorRef &tensor : tensors) {
      llvm::Expected<mlir::Value> value = recorder.getValue(tensor, site);
      if (!value)
        return value.takeError();
      values.push_back(*value);
    }
  mlir::Location location = recorder.toMLIRLocation(site.location);
  llvm::SmallVector<mlir::Value, 4> operands;
  for (const Step &step : steps) {
    operands.clear();
    for (unsigned number : step.operands)
      operands.push_back(values[number]);
    mlir::Operation *op = recorder.getBuilder().insert(copyWithRegions(step.op, location, operands));
    values.append(op->result_begin(), op->result_end());
  }
  llvm::SmallVector<TensorRef, 2> handles;
  for (unsigned number : results)
    handles.push_back(number < inputs.size() ? inputs[number] : recorder.wrap(values[number], site.location));
  if (llvm::Error error = recorder.didRecord())
    return error;
  return handles;
}

} // namespace ferrule::frontend
