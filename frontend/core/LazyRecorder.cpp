//===- LazyRecorder.cpp - Dynamic mode: record now, run when looked at ----===//

#include "frontend/core/LazyRecorder.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphOps.h"
#include "frontend/core/Slice.h"
#include "ir/interfaces/FerruleOpInterface.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ferrule::frontend {

LazyRecorder::LazyRecorder(mlir::MLIRContext *context, ProgramCache &cache) : OpStream(context), cache(cache) {
  startRecord();
}

void LazyRecorder::startRecord() {
  // Handles of the old record are concrete or of no use to anybody.
  takeNewId();
  handles.clear();
  newHandles.clear();
  elements.clear();
  failures.clear();
  leaves.clear();
  lastFlushed = lastCounted = nullptr;
  pendingCount = 0;
  mlir::Location location = builder.getUnknownLoc();
  record = mlir::ModuleOp::create(location);
  builder.setInsertionPointToEnd(record->getBody());
  auto function = mlir::func::FuncOp::create(builder, location, "record", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

llvm::Expected<mlir::Value> LazyRecorder::getValue(const TensorRef &tensor, const CallSite &site) {
  if (tensor->hasFailed())
    return makeError(tensor->getFailure()->kind, tensor->getFailure()->message + "; its result is used" +
                                                     describeSite(site));
  if (isMine(*tensor))
    return mlir::Value::getFromOpaquePointer(tensor->getOpaqueValue());
  if (tensor->isTraced())
    return refuseHandle(
        *tensor, "while tracing is used after its trace ended; return it from the traced function instead", site);
  auto [entry, isNew] = leaves.try_emplace(tensor.get());
  if (isNew) {
    mlir::Value argument = getOwnBlock()->addArgument(
        toTensorType(tensor->getType(), tensor->getShape(), getContext()), builder.getUnknownLoc());
    entry->second = {tensor, argument};
    elements[argument] = tensor->getBuffer();
  }
  return entry->second.second;
}

TensorRef LazyRecorder::findLeaf(mlir::Value value) const {
  auto found = llvm::find_if(leaves, [&](const auto &leaf) { return leaf.second.second == value; });
  return found == leaves.end() ? nullptr : found->second.first;
}

TensorRef LazyRecorder::wrap(mlir::Value value, const SourceLocation &location) {
  // In a region there are no elements, however often it will run.
  if (isInRegion())
    return std::make_shared<Tensor>(frontend::getType(value), frontend::getShape(value), getHandleId(),
                                    /*isTraced=*/true, value.getAsOpaquePointer(), location);
  auto tensor = std::make_shared<Tensor>(frontend::getType(value), frontend::getShape(value), id,
                                         /*isTraced=*/false, value.getAsOpaquePointer(), location);
  auto found = elements.find(value);
  if (found != elements.end())
    tensor->setBuffer(found->second);
  else
    newHandles.emplace_back(value, tensor);
  return tensor;
}

const DimConstraints &LazyRecorder::getConstraints() const { return constraints; }

void LazyRecorder::recordEquality(const DimExpr &, const DimExpr &, const SourceLocation &) {
  // Never called: without dims no two sizes are undecided.
}

llvm::iterator_range<mlir::Block::iterator> LazyRecorder::getPendingOps() {
  mlir::Block *block = getOwnBlock();
  mlir::Block::iterator first = lastFlushed ? std::next(mlir::Block::iterator(lastFlushed)) : block->begin();
  return {first, block->end()};
}

llvm::Error LazyRecorder::didRecord() {
  if (isInRegion())
    return llvm::Error::success();
  mlir::Block *block = builder.getBlock();
  mlir::Block::iterator next = lastCounted ? std::next(mlir::Block::iterator(lastCounted)) : block->begin();
  for (; next != block->end(); ++next) {
    ++pendingCount;
    lastCounted = &*next;
  }
  if (flushEveryOp || pendingCount >= maximumPendingOps)
    flush();
  return llvm::Error::success();
}

void LazyRecorder::exitGradientScope() {
  if (gradientScopeDepth && --gradientScopeDepth == 0 && !pendingCount && !isInRegion())
    startRecord();
}

void LazyRecorder::flush() {
  if (!pendingCount)
    return;
  sortNewHandles();
  runAll(collectOutputs().getArrayRef());
  // A region that is open uses values of the record.
  if (!isInGradientScope() && !isInRegion())
    return startRecord();
  lastFlushed = lastCounted;
  pendingCount = 0;
}

void LazyRecorder::sortNewHandles() {
  for (auto &[value, handle] : newHandles)
    if (!handle.expired())
      handles[value].push_back(std::move(handle));
  newHandles.clear();
}

/// Runs `outputs` together. If that fails, halves of them, until what fails
/// stands alone.
void LazyRecorder::runAll(llvm::ArrayRef<mlir::Value> outputs) {
  llvm::SmallVector<mlir::Value> sound;
  for (mlir::Value output : outputs)
    if (std::shared_ptr<const ErrorText> reason = findFailure(output))
      fail(output, std::move(reason));
    else
      sound.push_back(output);
  if (sound.empty())
    return;
  llvm::Error error = run(sound);
  if (!error)
    return;
  auto reason = std::make_shared<const ErrorText>(takeErrorText(std::move(error)));
  if (sound.size() == 1)
    return fail(sound.front(), std::move(reason));
  size_t half = sound.size() / 2;
  runAll(llvm::ArrayRef<mlir::Value>(sound).take_front(half));
  runAll(llvm::ArrayRef<mlir::Value>(sound).drop_front(half));
}

/// The failure of something that `value` is computed from, if there is one.
std::shared_ptr<const ErrorText> LazyRecorder::findFailure(mlir::Value value) const {
  if (failures.empty())
    return nullptr;
  llvm::DenseSet<mlir::Value> seen{value};
  llvm::SmallVector<mlir::Value> open{value};
  while (!open.empty()) {
    mlir::Value next = open.pop_back_val();
    if (std::shared_ptr<const ErrorText> reason = failures.lookup(next))
      return reason;
    if (mlir::Operation *op = next.getDefiningOp(); op && !isConcrete(next))
      for (mlir::Value operand : op->getOperands())
        if (seen.insert(operand).second)
          open.push_back(operand);
  }
  return nullptr;
}

void LazyRecorder::fail(mlir::Value value, std::shared_ptr<const ErrorText> reason) {
  for (const std::weak_ptr<Tensor> &handle : handles.lookup(value))
    if (TensorRef tensor = handle.lock())
      tensor->setFailure(reason);
  handles.erase(value);
  failures[value] = std::move(reason);
}

llvm::SetVector<mlir::Value> LazyRecorder::collectOutputs() {
  llvm::SetVector<mlir::Value> outputs;
  auto isWanted = [&](mlir::Value value) {
    auto found = handles.find(value);
    return found != handles.end() &&
           llvm::any_of(found->second, [](const std::weak_ptr<Tensor> &handle) { return !handle.expired(); });
  };
  for (mlir::Operation &op : getPendingOps()) {
    for (mlir::Value result : op.getResults())
      if (isWanted(result))
        outputs.insert(result);
    if (isInGradientScope())
      collectResiduals(&op, outputs);
  }
  return outputs;
}

/// What the gradient rule of `op` will read. Which ops a gradient will pass
/// through is not known yet, so every op with a rule keeps its residuals.
void LazyRecorder::collectResiduals(mlir::Operation *op, llvm::SetVector<mlir::Value> &outputs) {
  auto rules = llvm::dyn_cast<mlir::ferrule::FerruleOpInterface>(op);
  if (!rules || rules.getGradientKind() != mlir::ferrule::GradientKind::Rule)
    return;
  mlir::ferrule::Residuals residuals = rules.getResiduals();
  for (unsigned index : residuals.operands)
    if (index < op->getNumOperands() && !isConcrete(op->getOperand(index)))
      outputs.insert(op->getOperand(index));
  for (unsigned index : residuals.results)
    outputs.insert(op->getResult(index));
}

llvm::Error LazyRecorder::run(mlir::ValueRange outputs) {
  Slice slice = cutSlice(*getOwnBlock(), outputs, [&](mlir::Value value) { return isConcrete(value); });
  llvm::SmallVector<HostArray, 8> inputs;
  for (mlir::Value input : slice.inputs) {
    HostArray array;
    array.type = frontend::getType(input);
    array.shape = llvm::to_vector<4>(llvm::cast<mlir::RankedTensorType>(input.getType()).getShape());
    array.buffer = elements.lookup(input);
    inputs.push_back(std::move(array));
  }
  llvm::Expected<std::vector<HostArray>> results = cache.run(*slice.module, inputs);
  if (!results)
    return results.takeError();
  for (auto [value, array] : llvm::zip_equal(outputs, *results))
    publish(value, array.buffer);
  return llvm::Error::success();
}

void LazyRecorder::publish(mlir::Value value, std::shared_ptr<HostBuffer> buffer) {
  auto found = handles.find(value);
  if (found != handles.end()) {
    for (const std::weak_ptr<Tensor> &handle : found->second)
      if (TensorRef tensor = handle.lock())
        tensor->setBuffer(buffer);
    handles.erase(found);
  }
  elements[value] = std::move(buffer);
}

} // namespace ferrule::frontend
