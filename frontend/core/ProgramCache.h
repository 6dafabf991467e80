//===- ProgramCache.h - Compiled fragments by their structure -------------===//
//
// Dynamic mode meets the same fragment again and again (a training step), so
// compiled programs are kept by the structure of their entry. The first shape of
// a structure is compiled as it is, the second with the sizes that differ as
// dims (FragmentTemplate.h); after that only a size out of range compiles.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
#define FERRULE_FRONTEND_CORE_PROGRAMCACHE_H

#include "frontend/core/FragmentTemplate.h"

#include <functional>
#include <map>

namespace ferrule::frontend {

/// Compiles a module of the graph dialect to the bytes of an artifact for this
/// machine. The module may be changed.
using CompileFunction = std::function<llvm::Expected<std::vector<uint8_t>>(mlir::ModuleOp)>;

class ProgramCache {
public:
  explicit ProgramCache(CompileFunction compile) : compile(std::move(compile)) {}

  /// The program of exactly `module` (locations and value names aside), compiled
  /// unless it is known.
  llvm::Expected<std::shared_ptr<CompiledProgram>> get(mlir::ModuleOp module);

  /// Runs the only entry of `module`, which is called "main", by the program of
  /// exactly this module or by one for several shapes.
  llvm::Expected<std::vector<HostArray>> run(mlir::ModuleOp module, llvm::ArrayRef<HostArray> inputs);

  /// How often something was compiled.
  unsigned getCompileCount() const { return compileCount; }

  /// Workers of the sessions made from now on; 0 takes all CPUs.
  void setThreadCount(unsigned count);

private:
  using ProgramRef = std::shared_ptr<CompiledProgram>;

  /// A template and its program, which is null if it could not be compiled.
  struct Generalization {
    std::unique_ptr<FragmentTemplate> fragment;
    ProgramRef program;
  };
  /// The fragments of one skeleton: the first met, and templates for the others.
  struct Family {
    mlir::OwningOpRef<mlir::ModuleOp> first;
    std::vector<Generalization> generalizations;
  };

  llvm::Expected<ProgramRef> compileNew(mlir::ModuleOp module);
  const Generalization *findGeneralization(mlir::ModuleOp module);

  CompileFunction compile;
  std::map<StructureKey, ProgramRef> programs;
  std::map<StructureKey, Family> families;
  unsigned compileCount = 0;
  unsigned threadCount = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
