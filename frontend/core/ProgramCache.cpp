//===- ProgramCache.cpp - Compiled fragments by their structure -----------===//

#include "frontend/core/ProgramCache.h"

#include "frontend/core/Error.h"

namespace ferrule::frontend {

void ProgramCache::setThreadCount(unsigned count) {
  if (count == threadCount)
    return;
  threadCount = count;
  // A session's pool has a fixed size; entries hold on to what they need.
  programs.clear();
  families.clear();
}

llvm::Expected<ProgramCache::ProgramRef> ProgramCache::compileNew(mlir::ModuleOp module) {
  ++compileCount;
  llvm::Expected<std::vector<uint8_t>> artifact = compile(module);
  if (!artifact)
    return artifact.takeError();
  llvm::Expected<std::unique_ptr<CompiledProgram>> program = CompiledProgram::open(*artifact, threadCount);
  if (!program)
    return program.takeError();
  return ProgramRef(std::move(*program));
}

llvm::Expected<ProgramCache::ProgramRef> ProgramCache::get(mlir::ModuleOp module) {
  StructureKey key = getStructureKey(module);
  auto found = programs.find(key);
  if (found != programs.end())
    return found->second;
  llvm::Expected<ProgramRef> program = compileNew(module);
  if (!program)
    return program.takeError();
  return programs[std::move(key)] = *program;
}

/// The template that serves `module`, made and compiled if this is the second
/// fragment of its skeleton; null where there is none.
const ProgramCache::Generalization *ProgramCache::findGeneralization(mlir::ModuleOp module) {
  Family &family = families[getSkeletonKey(module)];
  if (!family.first) {
    family.first = module.clone();
    return nullptr;
  }
  for (const Generalization &known : family.generalizations)
    if (known.fragment->accepts(module))
      return known.program ? &known : nullptr;

  Generalization made;
  made.fragment = FragmentTemplate::create(*family.first, module);
  if (!made.fragment)
    return nullptr;
  // The compiler changes what it is given; the template is needed as it is.
  mlir::OwningOpRef<mlir::ModuleOp> copy = made.fragment->getModule().clone();
  llvm::Expected<ProgramRef> program = compileNew(*copy);
  if (program)
    made.program = *program;
  else
    // Not the user's error: the fragment itself is compiled next, and speaks.
    llvm::consumeError(program.takeError());
  family.generalizations.push_back(std::move(made));
  const Generalization &last = family.generalizations.back();
  return last.program ? &last : nullptr;
}

llvm::Expected<std::vector<HostArray>> ProgramCache::run(mlir::ModuleOp module, llvm::ArrayRef<HostArray> inputs) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  unsigned resultCount = function.getNumResults();
  auto known = programs.find(getStructureKey(module));
  if (known != programs.end())
    return known->second->run("main", inputs, resultCount);

  if (const Generalization *general = findGeneralization(module)) {
    llvm::SmallVector<HostArray, 8> all(inputs);
    llvm::append_range(all, general->fragment->getScalarInputs(module));
    return general->program->run("main", all, resultCount);
  }
  llvm::Expected<ProgramRef> program = get(module);
  if (!program)
    return program.takeError();
  return (*program)->run("main", inputs, resultCount);
}

} // namespace ferrule::frontend
