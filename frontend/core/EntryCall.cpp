//===- EntryCall.cpp - Calling a traced function in dynamic mode ----------===//

#include "frontend/core/EntryCall.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphTypes.h"
#include "ir/graph/State.h"

#include "mlir/IR/Builders.h"

namespace ferrule::frontend {
namespace {

/// The read and the assign of each variable of an entry; null where there is
/// none.
struct VariableUse {
  mlir::ferrule::ReadOp read;
  mlir::ferrule::AssignOp assign;
};

llvm::SmallVector<VariableUse> findUses(const Entry &entry, mlir::func::FuncOp function) {
  llvm::StringMap<unsigned> numbers;
  for (auto [index, variable] : llvm::enumerate(entry.getVariables()))
    numbers[variable.symbol] = index;
  llvm::SmallVector<VariableUse> uses(entry.getVariables().size());
  for (mlir::Operation &op : function.getBody().front()) {
    if (auto read = llvm::dyn_cast<mlir::ferrule::ReadOp>(op))
      uses[numbers.lookup(read.getVariable())].read = read;
    else if (auto assign = llvm::dyn_cast<mlir::ferrule::AssignOp>(op))
      uses[numbers.lookup(assign.getVariable())].assign = assign;
  }
  return uses;
}

HostArray toArray(const Tensor &tensor) {
  return {tensor.getType(), *getStaticSizes(tensor.getShape()), tensor.getBuffer()};
}

TensorRef toTensor(const HostArray &array, const SourceLocation &location) {
  return std::make_shared<Tensor>(array.type, toShape(array.shape), array.buffer, location);
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> makeStateless(const Entry &entry) {
  mlir::OwningOpRef<mlir::ModuleOp> module = entry.getModule().clone();
  for (auto variable : llvm::make_early_inc_range(module->getOps<mlir::ferrule::VariableOp>()))
    variable->erase();
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  mlir::Builder builder(module->getContext());
  mlir::Block &body = function.getBody().front();
  auto returnOp = llvm::cast<mlir::func::ReturnOp>(body.getTerminator());
  mlir::SmallVector<mlir::Value> results(returnOp.getOperands());
  mlir::SmallVector<std::string> argumentNames, resultNames;

  llvm::SmallVector<VariableUse> uses = findUses(entry, function);
  for (auto [variable, use] : llvm::zip_equal(entry.getVariables(), uses)) {
    if (use.read) {
      mlir::Value value = use.read.getResult();
      value.replaceAllUsesWith(body.addArgument(value.getType(), value.getLoc()));
      use.read.erase();
      argumentNames.push_back("variable." + variable.symbol);
    }
  }
  // After all reads: an assigned value may be one that was read.
  for (auto [variable, use] : llvm::zip_equal(entry.getVariables(), uses)) {
    if (use.assign) {
      results.push_back(use.assign.getValue());
      use.assign.erase();
      resultNames.push_back("variable." + variable.symbol);
    }
  }
  unsigned firstArgument = body.getNumArguments() - argumentNames.size();
  unsigned firstResult = results.size() - resultNames.size();
  returnOp.getOperandsMutable().assign(results);
  // The attributes of arguments and results are arrays of the function's old
  // arity: setting the type keeps them and adds empty ones.
  function.setType(builder.getFunctionType(body.getArgumentTypes(), mlir::ValueRange(results).getTypes()));
  for (auto [index, name] : llvm::enumerate(argumentNames))
    function.setArgAttr(firstArgument + index, "ferrule.name", builder.getStringAttr(name));
  for (auto [index, name] : llvm::enumerate(resultNames))
    function.setResultAttr(firstResult + index, "ferrule.name", builder.getStringAttr(name));
  function.setName("main");
  return module;
}

/// Compiles `entry` and writes down how it is called.
static llvm::Expected<std::unique_ptr<EntryProgram>> prepareEntry(const Entry &entry, ProgramCache &cache) {
  mlir::OwningOpRef<mlir::ModuleOp> module = makeStateless(entry);
  llvm::Expected<std::shared_ptr<CompiledProgram>> program = cache.get(*module);
  if (!program)
    return program.takeError();
  auto prepared = std::make_unique<EntryProgram>();
  prepared->program = *program;
  mlir::func::FuncOp function = entry.getFunction();
  prepared->inputCount = function.getNumArguments();
  prepared->outputCount = function.getNumResults();
  for (auto [index, use] : llvm::enumerate(findUses(entry, function))) {
    if (use.read)
      prepared->reads.push_back(index);
    if (use.assign)
      prepared->assigns.push_back(index);
  }
  return prepared;
}

llvm::Expected<std::vector<TensorRef>> runEntry(Entry &entry, llvm::ArrayRef<TensorRef> inputs, ProgramCache &cache,
                                                const SourceLocation &location) {
  if (!entry.program) {
    llvm::Expected<std::unique_ptr<EntryProgram>> prepared = prepareEntry(entry, cache);
    if (!prepared)
      return prepared.takeError();
    entry.program = std::move(*prepared);
  }
  const EntryProgram &call = *entry.program;
  if (inputs.size() != call.inputCount)
    return makeError(ErrorKind::Value, "entry `" + entry.getName() + "` takes " + llvm::Twine(call.inputCount) +
                                           " inputs and was given " + llvm::Twine(inputs.size()));

  llvm::ArrayRef<EntryVariable> variables = entry.getVariables();
  std::vector<HostArray> arguments;
  arguments.reserve(inputs.size() + call.reads.size());
  for (const TensorRef &input : inputs)
    arguments.push_back(toArray(*input));
  for (unsigned read : call.reads)
    arguments.push_back(toArray(*variables[read].variable->getValue()));
  llvm::Expected<std::vector<HostArray>> results =
      call.program->run("main", arguments, call.outputCount + call.assigns.size());
  if (!results)
    return results.takeError();

  llvm::ArrayRef<HostArray> outputs = llvm::ArrayRef<HostArray>(*results).take_front(call.outputCount);
  for (auto [assign, value] : llvm::zip_equal(call.assigns, llvm::ArrayRef<HostArray>(*results).drop_front(call.outputCount)))
    variables[assign].variable->setValue(toTensor(value, location));
  std::vector<TensorRef> tensors;
  for (const HostArray &output : outputs)
    tensors.push_back(toTensor(output, location));
  return tensors;
}

} // namespace ferrule::frontend
