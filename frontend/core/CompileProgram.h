//===- CompileProgram.h - From traces to the bytes of an artifact ---------===//
#ifndef FERRULE_FRONTEND_CORE_COMPILEPROGRAM_H
#define FERRULE_FRONTEND_CORE_COMPILEPROGRAM_H

#include "codegen/ObjectFile.h"
#include "codegen/common/TileChoice.h"
#include "frontend/core/Frontend.h"

namespace ferrule::frontend {

struct CompileSettings {
  std::vector<std::string> targets{"host"};
  std::vector<std::string> disabledPasses;
  /// Sizes at which to plan memory for dims that have no max.
  std::map<std::string, int64_t> planAt;
  /// The most bytes of the arena that all entries share, or a part of what it takes without a budget; zeros: no limit.
  uint64_t memoryBudgetBytes = 0;
  double memoryBudgetFraction = 0;
  /// Tiles to take in place of the cost model's.
  mlir::ferrule::TileChoices tiles;
  /// The machine that tiles were measured on, for the artifact's name in the
  /// store; empty where none are.
  std::string tunedFor;
  unsigned threads = 2;
  /// Whether an earlier process's artifact, found in the frontend's store, will do.
  bool useStored = true;
  /// Whether the store keeps the artifact.
  bool keep = true;
  /// The artifact's name in that store; without one it is made of all that the
  /// artifact is made of.
  std::string storedName;
};

struct CompiledArtifact {
  /// Where the store keeps it; empty when it was made now.
  std::string storedPath;
  /// Else the artifact.
  std::unique_ptr<ArtifactFile> file;
  /// Wall time in seconds: merge, find, the compiler's own phases, write, keep.
  std::vector<std::pair<std::string, double>> secondsByPhase;
  /// Of an artifact made now, the kernels that tiles can be chosen for.
  std::vector<mlir::ferrule::TunableKernel> tunableKernels;
};

/// Merges `entries`, compiles them for all targets and writes the artifact,
/// unless the store has it. The variables' present values become the initial
/// ones.
llvm::Expected<CompiledArtifact> compileProgram(Frontend &frontend, const NamedEntries &entries,
                                                const NamedVariables &variables, const CompileSettings &settings);

/// The compiler's version and this machine's CPU level: what an artifact for the
/// host depends on besides its module.
std::string getCompilerName();

/// An artifact for one target as an object for a linker (codegen/ObjectFile.h).
llvm::Expected<mlir::ferrule::ObjectFile> makeObjectFile(llvm::ArrayRef<uint8_t> artifact, llvm::StringRef target,
                                                         llvm::StringRef name);

/// Compiles one module of the graph dialect, which is changed.
llvm::Expected<std::vector<uint8_t>> compileModuleToArtifact(mlir::ModuleOp module, const CompileSettings &settings);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_COMPILEPROGRAM_H
