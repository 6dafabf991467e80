//===- ProgramCache.h - Compiled fragments by their structure -------------===//
//
// Dynamic mode meets the same fragment again and again (a training step), so
// compiled programs are kept by the structure of their entry. The key is exact:
// two modules that differ in anything but locations and value names never share
// a program.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
#define FERRULE_FRONTEND_CORE_PROGRAMCACHE_H

#include "frontend/core/CompiledProgram.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>

namespace ferrule::frontend {

/// Compiles a module of the graph dialect to the bytes of an artifact for this
/// machine. The module may be changed.
using CompileFunction =
    std::function<llvm::Expected<std::vector<uint8_t>>(mlir::ModuleOp)>;

/// The structure of a module with one function: op names, attributes, types and
/// the wiring, as the addresses that the context gives them. Valid for one
/// MLIRContext, which never frees what it has uniqued.
using StructureKey = std::vector<uintptr_t>;
StructureKey getStructureKey(mlir::ModuleOp module);

class ProgramCache {
public:
  explicit ProgramCache(CompileFunction compile)
      : compile(std::move(compile)) {}

  /// The program of `module`, compiled unless its structure is known.
  llvm::Expected<std::shared_ptr<CompiledProgram>> get(mlir::ModuleOp module);

  /// Runs the only entry of `module`, which is called "main".
  llvm::Expected<std::vector<HostArray>> run(mlir::ModuleOp module,
                                             llvm::ArrayRef<HostArray> inputs);

  /// How often `get` had to compile.
  unsigned getCompileCount() const { return compileCount; }

  /// Workers of the sessions made from now on; 0 takes all CPUs.
  void setThreadCount(unsigned count);

private:
  CompileFunction compile;
  std::map<StructureKey, std::shared_ptr<CompiledProgram>> programs;
  unsigned compileCount = 0;
  unsigned threadCount = 0;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_PROGRAMCACHE_H
