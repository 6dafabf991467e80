//===- ProgramCache.cpp - Compiled fragments by their structure -----------===//

#include "frontend/core/ProgramCache.h"

#include "frontend/core/Error.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ferrule::frontend {
namespace {

class KeyBuilder {
public:
  void add(const void *pointer) {
    key.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  void add(size_t number) { key.push_back(number); }

  void addBlock(mlir::Block &block) {
    add(block.getNumArguments());
    for (mlir::BlockArgument argument : block.getArguments())
      define(argument);
    for (mlir::Operation &op : block)
      addOp(op);
  }

  StructureKey key;

private:
  void define(mlir::Value value) {
    numbers.try_emplace(value, numbers.size());
    add(value.getType().getAsOpaquePointer());
  }

  void addOp(mlir::Operation &op) {
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary().getAsOpaquePointer());
    add(op.getNumOperands());
    for (mlir::Value operand : op.getOperands())
      add(numbers.lookup(operand));
    add(op.getNumResults());
    for (mlir::Value result : op.getResults())
      define(result);
    add(op.getNumRegions());
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &block : region)
        addBlock(block);
  }

  llvm::DenseMap<mlir::Value, size_t> numbers;
};

} // namespace

StructureKey getStructureKey(mlir::ModuleOp module) {
  KeyBuilder builder;
  builder.add(module->getAttrDictionary().getAsOpaquePointer());
  builder.addBlock(*module.getBody());
  return std::move(builder.key);
}

void ProgramCache::setThreadCount(unsigned count) {
  if (count == threadCount)
    return;
  threadCount = count;
  // A session's pool has a fixed size; entries hold on to what they need.
  programs.clear();
}

llvm::Expected<std::shared_ptr<CompiledProgram>>
ProgramCache::get(mlir::ModuleOp module) {
  StructureKey key = getStructureKey(module);
  auto found = programs.find(key);
  if (found != programs.end())
    return found->second;
  ++compileCount;
  llvm::Expected<std::vector<uint8_t>> artifact = compile(module);
  if (!artifact)
    return artifact.takeError();
  llvm::Expected<std::unique_ptr<CompiledProgram>> program =
      CompiledProgram::open(*artifact, threadCount);
  if (!program)
    return program.takeError();
  return programs[std::move(key)] = std::move(*program);
}

llvm::Expected<std::vector<HostArray>>
ProgramCache::run(mlir::ModuleOp module, llvm::ArrayRef<HostArray> inputs) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  unsigned resultCount = function.getNumResults();
  llvm::Expected<std::shared_ptr<CompiledProgram>> program = get(module);
  if (!program)
    return program.takeError();
  return (*program)->run("main", inputs, resultCount);
}

} // namespace ferrule::frontend
