//===- Trace.cpp - Recording an entry point -------------------------------===//

#include "frontend/core/Trace.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphOps.h"
#include "passes/recompute/Marks.h"

#include "llvm/ADT/STLExtras.h"

namespace ferrule::frontend {

Trace::Trace(mlir::MLIRContext *context, std::string entryName, DimConstraints dims,
             std::function<llvm::Error(const TensorRef &)> materialize)
    : OpStream(context), entryName(std::move(entryName)), constraints(std::move(dims)),
      materialize(std::move(materialize)) {
  mlir::Location location = builder.getUnknownLoc();
  module = mlir::ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  function = mlir::func::FuncOp::create(builder, location, this->entryName, builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

llvm::Expected<TensorRef> Trace::addInput(llvm::StringRef name, DataType type, Shape shape,
                                          const SourceLocation &location) {
  for (const DimExpr &dim : shape)
    if (!dim.isValid() || (dim.getConstant() && *dim.getConstant() < 0))
      return makeError(ErrorKind::Shape, "input `" + name + "` of entry `" + entryName + "` has the shape " +
                                             toString(shape) + ", whose sizes are not all valid");
  mlir::Value argument =
      builder.getBlock()->addArgument(toTensorType(type, shape, getContext()), toMLIRLocation(location));
  inputNames.push_back(name.str());
  return wrap(argument, location);
}

llvm::Expected<mlir::Value> Trace::getValue(const TensorRef &tensor, const CallSite &site) {
  if (isMine(*tensor))
    return mlir::Value::getFromOpaquePointer(tensor->getOpaqueValue());
  if (tensor->isTraced())
    return refuseHandle(*tensor,
                        "in another trace is used in the trace of `" + entryName +
                            "`; pass it as an argument of the traced function",
                        site);
  if (llvm::Error error = materialize(tensor))
    return error;
  auto [entry, isNew] = constants.try_emplace(tensor.get());
  if (isNew) {
    OutsideRegions outside(*this); // Later ops find it here again.
    llvm::Expected<mlir::Value> constant = createConstant(*this, toElements(*tensor, getContext()), site);
    if (!constant) {
      constants.erase(tensor.get());
      return constant.takeError();
    }
    entry->second = {tensor, *constant};
  }
  return entry->second.second;
}

TensorRef Trace::wrap(mlir::Value value, const SourceLocation &location) {
  return std::make_shared<Tensor>(frontend::getType(value), frontend::getShape(value), getHandleId(),
                                  /*isTraced=*/true, value.getAsOpaquePointer(), location);
}

void Trace::recordEquality(const DimExpr &lhs, const DimExpr &rhs, const SourceLocation &) {
  constraints.addEquality(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// The variable's own name if it is free here, so that the text reads well.
std::string Trace::chooseSymbol(const Variable &variable) const {
  bool isFree = !variable.getName().empty() && variable.getName() != entryName &&
                llvm::none_of(variables, [&](const auto &entry) { return entry.second.symbol == variable.getName(); });
  return isFree ? variable.getName() : "variable." + std::to_string(variable.getId());
}

llvm::Expected<TensorRef> Trace::createRead(const VariableRef &variable, llvm::StringRef symbol,
                                            const SourceLocation &location) {
  // Not through createOp: the result type is the variable's, not inferred.
  mlir::OperationState state(toMLIRLocation(location), "ferrule.read");
  state.addAttribute("variable", mlir::FlatSymbolRefAttr::get(getContext(), symbol));
  state.addTypes(toTensorType(variable->getType(), variable->getShape(), getContext()));
  return wrap(builder.create(state)->getResult(0), location);
}

llvm::Expected<TensorRef> Trace::read(const VariableRef &variable, const SourceLocation &location) {
  auto found = variables.find(variable.get());
  if (found != variables.end())
    return found->second.current;
  std::string symbol = chooseSymbol(*variable);
  llvm::Expected<TensorRef> value = createRead(variable, symbol, location);
  if (!value)
    return value.takeError();
  variables[variable.get()] = {variable, symbol, *value, *value, {}};
  return value;
}

llvm::Error Trace::assign(const VariableRef &variable, const TensorRef &value, const CallSite &site) {
  llvm::Expected<mlir::Value> converted = getValue(value, site);
  if (!converted)
    return converted.takeError();
  auto found = variables.find(variable.get());
  if (found == variables.end()) {
    std::string symbol = chooseSymbol(*variable);
    found = variables.insert({variable.get(), {variable, symbol, nullptr, value, {}}}).first;
  }
  // A concrete tensor is bound as the constant that it is here.
  found->second.current = wrap(*converted, site.location);
  found->second.assignedAt = site.location;
  return llvm::Error::success();
}

std::vector<VariableRef> Trace::getVariables() const {
  std::vector<VariableRef> result;
  for (const auto &entry : variables)
    result.push_back(entry.second.variable);
  return result;
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

llvm::Error Trace::createAssigns() {
  for (auto &entry : variables) {
    VariableState &state = entry.second;
    bool isUnchanged = state.initial && state.initial->getOpaqueValue() == state.current->getOpaqueValue();
    if (isUnchanged)
      continue;
    CallSite site{state.assignedAt, {}};
    llvm::Expected<mlir::Value> value = getValue(state.current, site);
    if (!value)
      return value.takeError();
    mlir::OperationState assign(toMLIRLocation(state.assignedAt), "ferrule.assign");
    assign.addAttribute("variable", mlir::FlatSymbolRefAttr::get(getContext(), state.symbol));
    assign.addOperands(*value);
    builder.create(assign);
  }
  return llvm::Error::success();
}

/// Declares the variables before the function, without values: the entry's
/// module stands on its own.
void Trace::declareVariables() {
  mlir::OpBuilder atStart(function);
  for (auto &entry : variables) {
    const VariableState &state = entry.second;
    mlir::OperationState variable(atStart.getUnknownLoc(), "ferrule.variable");
    mlir::Type type = toTensorType(state.variable->getType(), state.variable->getShape(), getContext());
    variable.addAttribute("sym_name", atStart.getStringAttr(state.symbol));
    variable.addAttribute("type", mlir::TypeAttr::get(type));
    variable.addAttribute("role", atStart.getStringAttr(state.variable->getRole()));
    variable.addAttribute("trainable", atStart.getBoolAttr(state.variable->isTrainable()));
    atStart.create(variable);
  }
}

llvm::Expected<EntryRef> Trace::finish(llvm::ArrayRef<std::pair<std::string, TensorRef>> outputs,
                                       llvm::StringRef signature) {
  if (isFinished())
    return makeError(ErrorKind::Trace, "the trace of `" + entryName + "` has been finished before");
  mlir::SmallVector<mlir::Value> results;
  for (const auto &[name, tensor] : outputs) {
    llvm::Expected<mlir::Value> value = getValue(tensor, {tensor->getLocation(), {}});
    if (!value)
      return value.takeError();
    results.push_back(*value);
  }
  if (llvm::Error error = createAssigns())
    return error;
  mlir::func::ReturnOp::create(builder, builder.getUnknownLoc(), results);

  mlir::Block *body = builder.getBlock();
  function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  for (auto [index, name] : llvm::enumerate(inputNames))
    function.setArgAttr(index, "ferrule.name", builder.getStringAttr(name));
  for (auto [index, output] : llvm::enumerate(outputs))
    function.setResultAttr(index, "ferrule.name", builder.getStringAttr(output.first));
  function->setAttr("ferrule.signature", builder.getStringAttr(signature));
  // Locations do not count where programs are compared, so that the function must say it too.
  if (function.walk([](mlir::Operation *op) {
        return mlir::WalkResult(mlir::failure(mlir::ferrule::isInCheckpoint(op->getLoc())));
      }).wasInterrupted())
    function->setAttr(mlir::ferrule::hasCheckpointAttributeName, builder.getUnitAttr());
  declareVariables();

  std::set<std::string> usedDims;
  for (mlir::BlockArgument argument : body->getArguments())
    for (const DimExpr &dim : frontend::getShape(argument))
      dim.collectDims(usedDims);
  setDimAttributes(*module, constraints, usedDims);

  std::vector<EntryVariable> entryVariables;
  for (auto &entry : variables)
    entryVariables.push_back({entry.second.variable, entry.second.symbol});
  builder.clearInsertionPoint();
  // Handles on this trace's values are dead from here on.
  takeNewId();
  return std::make_shared<Entry>(entryName, std::move(module), std::move(entryVariables), constraints);
}

} // namespace ferrule::frontend
