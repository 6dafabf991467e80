//===- RegionRecording.cpp - Branches and loop bodies under construction --===//

#include "frontend/core/RegionRecording.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphOps.h"
#include "ir/graph/ControlFlow.h"

#include "llvm/ADT/SetVector.h"

namespace ferrule::frontend {

std::vector<TensorRef> beginRegion(OpStream &stream, std::string name, llvm::ArrayRef<RegionArgument> arguments,
                                   const SourceLocation &location) {
  RegionRecording &recording = stream.openRegion(std::move(name));
  std::vector<TensorRef> handles;
  mlir::Location where = stream.toMLIRLocation(location);
  for (const RegionArgument &argument : arguments)
    handles.push_back(stream.wrap(
        recording.getBlock().addArgument(toTensorType(argument.type, argument.shape, stream.getContext()), where),
        location));
  recording.argumentCount = arguments.size();
  return handles;
}

llvm::Expected<std::unique_ptr<RegionRecording>> finishRegion(OpStream &stream, llvm::ArrayRef<TensorRef> yielded,
                                                              const CallSite &site) {
  for (const TensorRef &tensor : yielded) {
    llvm::Expected<mlir::Value> value = stream.getValue(tensor, site);
    if (!value)
      return value.takeError();
    stream.getRegion().yielded.push_back(*value);
  }
  return stream.closeRegion();
}

void dropRegion(OpStream &stream) { stream.closeRegion(); }

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// A tensor of the variable's type, as an argument that later becomes a carry
/// or a capture.
static void addInitial(RegionRecording &recording, RegionVariable &state, OpStream &stream) {
  mlir::Type type = toTensorType(state.variable->getType(), state.variable->getShape(), stream.getContext());
  state.initial = recording.getBlock().addArgument(type, stream.getBuilder().getUnknownLoc());
}

TensorRef readInRegion(OpStream &stream, const VariableRef &variable, const SourceLocation &location) {
  RegionRecording &recording = stream.getRegion();
  auto [entry, isNew] = recording.variables.try_emplace(variable.get());
  RegionVariable &state = entry->second;
  if (isNew) {
    state.variable = variable;
    addInitial(recording, state, stream);
    state.current = state.initial;
  }
  return stream.wrap(state.current, location);
}

llvm::Error assignInRegion(OpStream &stream, const VariableRef &variable, const TensorRef &value,
                           const CallSite &site) {
  llvm::Expected<mlir::Value> converted = stream.getValue(value, site);
  if (!converted)
    return converted.takeError();
  RegionVariable &state = stream.getRegion().variables[variable.get()];
  state.variable = variable;
  state.current = *converted;
  state.isAssigned = true;
  state.assignedAt = site.location;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {

class ControlFlowBuilder {
public:
  ControlFlowBuilder(OpStream &stream, const ControlFlowCall &call, VariableAccess variables)
      : stream(stream), call(call), access(variables) {}

  llvm::Expected<std::vector<TensorRef>> build() {
    if (llvm::Error error = resolveOperands())
      return error;
    if (llvm::Error error = collectVariables())
      return error;
    for (RegionRecording *region : call.regions)
      collectCaptures(*region);
    mlir::Operation *op = createOp();
    for (auto [recording, region] : llvm::zip_equal(call.regions, op->getRegions()))
      fillRegion(*recording, region);
    return finish(op);
  }

private:
  bool isBranch() const { return call.op == "if"; }
  bool isScan() const { return call.op == "scan"; }
  bool isGradient() const { return call.op == "custom_gradient"; }

  llvm::Error resolve(llvm::ArrayRef<TensorRef> tensors, mlir::SmallVector<mlir::Value> &values) {
    for (const TensorRef &tensor : tensors) {
      llvm::Expected<mlir::Value> value = stream.getValue(tensor, call.site);
      if (!value)
        return value.takeError();
      values.push_back(*value);
    }
    return llvm::Error::success();
  }

  llvm::Error resolveOperands() {
    if (isBranch())
      if (llvm::Error error = resolve(call.predicate, predicate))
        return error;
    if (llvm::Error error = resolve(call.inits, inits))
      return error;
    return resolve(call.xs, xs);
  }

  /// The value outside of each variable that a region reads or assigns.
  llvm::Error collectVariables() {
    for (RegionRecording *region : call.regions)
      for (auto &[key, state] : region->variables) {
        if (state.isAssigned && call.op == "while" && region == call.regions.front())
          return makeError(ErrorKind::Trace, state.variable->describe() + " is assigned at " +
                                                 state.assignedAt.str() +
                                                 " in the condition of F.while_loop, which only the body may do" +
                                                 describeSite(call.site));
        if (state.isAssigned && isGradient())
          return makeError(ErrorKind::Trace, state.variable->describe() + " is assigned at " +
                                                 state.assignedAt.str() + " in " + region->name +
                                                 ", which runs only where a gradient is taken" +
                                                 describeSite(call.site));
        if (state.isAssigned)
          assigned.insert({key, state.variable});
        if (outside.count(key))
          continue;
        llvm::Expected<TensorRef> tensor = access.read(state.variable);
        if (!tensor)
          return tensor.takeError();
        llvm::Expected<mlir::Value> value = stream.getValue(*tensor, call.site);
        if (!value)
          return value.takeError();
        outside[key] = *value;
      }
    return llvm::Error::success();
  }

  /// Whether the variable is a carry: a loop's body assigns it.
  bool isCarried(Variable *variable) const { return !isBranch() && assigned.count(variable); }

  static bool isInside(mlir::Value value, mlir::Block &block) { return value.getParentBlock() == &block; }

  void collectCaptures(RegionRecording &region) {
    mlir::Block &block = region.getBlock();
    auto capture = [&](mlir::Value value) {
      if (!isInside(value, block))
        captures.insert(value);
    };
    for (mlir::Operation &op : block)
      llvm::for_each(op.getOperands(), capture);
    llvm::for_each(region.yielded, capture);
    for (auto &[key, state] : region.variables) {
      capture(state.current);
      if (!isCarried(key))
        captures.insert(outside[key]);
    }
    // A branch that leaves a variable alone yields its old value.
    if (isBranch())
      for (auto &[key, variable] : assigned)
        if (!region.variables.count(key))
          captures.insert(outside[key]);
  }

  mlir::Operation *createOp() {
    mlir::OpBuilder &builder = stream.getBuilder();
    mlir::OperationState state(stream.toMLIRLocation(call.site.location), "ferrule." + call.op);
    state.addOperands(predicate);
    state.addOperands(inits);
    for (auto &[key, variable] : assigned)
      if (isCarried(key))
        state.addOperands(outside[key]);
    unsigned carries = state.operands.size();
    state.addOperands(xs);
    state.addOperands(captures.getArrayRef());
    if (!isBranch()) {
      mlir::SmallVector<int32_t> segments{int32_t(carries)};
      if (isScan() || isGradient())
        segments.push_back(xs.size());
      segments.push_back(captures.size());
      state.addAttribute("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments));
    }
    if (call.steps)
      state.addAttribute(isScan() ? "length" : "max_steps", toDimsAttribute(*call.steps, stream.getContext()));
    if (isScan())
      state.addAttribute("reverse", builder.getBoolAttr(call.isReversed));
    state.addTypes(getResultTypes());
    for (size_t index = 0; index < call.regions.size(); ++index)
      state.addRegion();
    return builder.create(state);
  }

  /// What the caller asked for comes first among the carries, and last among the
  /// results of a branch come the variables.
  mlir::SmallVector<mlir::Type> getResultTypes() {
    RegionRecording &body = *call.regions.back();
    mlir::SmallVector<mlir::Type> types;
    if (isGradient())
      return llvm::to_vector(mlir::ValueRange(inits).getTypes());
    unsigned plain = isBranch() ? body.yielded.size() : inits.size();
    for (mlir::Value value : llvm::ArrayRef<mlir::Value>(body.yielded).take_front(plain))
      types.push_back(value.getType());
    for (auto &[key, variable] : assigned)
      types.push_back(outside[key].getType());
    for (mlir::Value slice : llvm::ArrayRef<mlir::Value>(body.yielded).drop_front(plain))
      types.push_back(
          mlir::ferrule::getStackedType(*call.steps, llvm::cast<mlir::RankedTensorType>(slice.getType())));
    return types;
  }

  /// Moves the recorded ops behind arguments in the op's order.
  void fillRegion(RegionRecording &recording, mlir::Region &region) {
    mlir::Block &source = recording.getBlock();
    mlir::Block &block = region.emplaceBlock();
    llvm::DenseMap<mlir::Value, mlir::Value> inner;
    auto addArgument = [&](mlir::Value original) {
      return inner[original] = block.addArgument(original.getType(), original.getLoc());
    };
    unsigned carries = std::min<size_t>(inits.size(), recording.argumentCount);
    for (unsigned index = 0; index < carries; ++index)
      addArgument(source.getArgument(index));
    for (auto &[key, variable] : assigned)
      if (isCarried(key))
        carriedArguments[{&region, key}] = block.addArgument(outside[key].getType(), outside[key].getLoc());
    for (unsigned index = carries; index < recording.argumentCount; ++index)
      addArgument(source.getArgument(index));
    llvm::for_each(captures, addArgument);
    for (auto &[key, state] : recording.variables)
      if (state.initial)
        inner[state.initial] = isCarried(key) ? carriedArguments.lookup({&region, key}) : inner.lookup(outside[key]);

    block.getOperations().splice(block.end(), source.getOperations());
    for (mlir::Operation &op : block)
      for (mlir::OpOperand &operand : op.getOpOperands())
        if (mlir::Value value = inner.lookup(operand.get()))
          operand.set(value);
    createYield(recording, region, inner);
  }

  void createYield(RegionRecording &recording, mlir::Region &region, llvm::DenseMap<mlir::Value, mlir::Value> &inner) {
    auto map = [&](mlir::Value value) {
      mlir::Value mapped = inner.lookup(value);
      return mapped ? mapped : value;
    };
    bool isCondition = call.op == "while" && &recording == call.regions.front();
    unsigned plain = isBranch() || isCondition || isGradient() ? recording.yielded.size() : inits.size();
    mlir::SmallVector<mlir::Value> yielded;
    for (mlir::Value value : llvm::ArrayRef<mlir::Value>(recording.yielded).take_front(plain))
      yielded.push_back(map(value));
    if (!isCondition)
      for (auto &[key, variable] : assigned) {
        auto state = recording.variables.find(key);
        yielded.push_back(state == recording.variables.end() ? inner.lookup(outside[key])
                                                             : map(state->second.current));
      }
    for (mlir::Value slice : llvm::ArrayRef<mlir::Value>(recording.yielded).drop_front(plain))
      yielded.push_back(map(slice));
    mlir::OpBuilder builder(stream.getContext());
    builder.setInsertionPointToEnd(&region.front());
    mlir::ferrule::YieldOp::create(builder, builder.getUnknownLoc(), yielded);
  }

  llvm::Expected<std::vector<TensorRef>> finish(mlir::Operation *op) {
    unsigned first = isBranch() ? call.regions.back()->yielded.size() : inits.size();
    std::vector<TensorRef> results;
    for (mlir::OpResult result : op->getResults()) {
      unsigned number = result.getResultNumber();
      TensorRef handle = stream.wrap(result, call.site.location);
      if (number < first || number >= first + assigned.size())
        results.push_back(std::move(handle));
      else if (llvm::Error error = access.assign(std::next(assigned.begin(), number - first)->second, handle))
        return error;
    }
    if (llvm::Error error = stream.didRecord())
      return error;
    return results;
  }

  OpStream &stream;
  const ControlFlowCall &call;
  VariableAccess access;
  mlir::SmallVector<mlir::Value> predicate, inits, xs;
  /// Variables that a region assigns, in the order of first use.
  llvm::MapVector<Variable *, VariableRef> assigned;
  llvm::DenseMap<Variable *, mlir::Value> outside;
  llvm::SetVector<mlir::Value> captures;
  llvm::DenseMap<std::pair<mlir::Region *, Variable *>, mlir::Value> carriedArguments;
};

} // namespace

llvm::Expected<std::vector<TensorRef>> recordControlFlow(OpStream &stream, const ControlFlowCall &call,
                                                         VariableAccess variables) {
  return ControlFlowBuilder(stream, call, variables).build();
}

} // namespace ferrule::frontend
