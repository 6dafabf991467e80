//===- Compiler.h - From a graph module to a program ----------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_COMPILER_H
#define FERRULE_CODEGEN_COMPILER_H

#include "codegen/common/TileChoice.h"
#include "passes/Pipelines.h"
#include "serialize/writer/program_description.h"

#include "mlir/IR/BuiltinOps.h"

#include <map>
#include <string>
#include <vector>

namespace mlir::ferrule {

struct CompileOptions {
  /// Names from getCpuTargets(), or "host" for the best that this machine runs.
  std::vector<std::string> targets{"host"};
  /// Optional passes to leave out (getOptionalPasses()); results do not change.
  std::vector<std::string> disabledPasses;
  /// Sizes at which to plan memory for dims that have no max.
  std::map<std::string, int64_t> planAt;
  /// Row-major bytes with which variables begin (a byte for each boolean), by name, in place of values in the module. An
  /// attribute would be hashed and kept by the context for ever.
  std::map<std::string, ArrayRef<char>> initialValues;
  /// The most bytes of the arena that all entries share, or a part of what it takes without a budget; zeros: no limit.
  MemoryBudget memoryBudget;
  /// If given, receives whether a compilation failed because of the budget alone.
  bool *budgetMissed = nullptr;
  /// Tiles to take in place of the cost model's, and if given, receives the kernels that have a choice.
  TileChoices tileChoices;
  std::vector<TunableKernel> *tunableKernels = nullptr;
  /// Targets compiled at the same time.
  int threads = 2;
  /// If given, receives the seconds of each phase ("passes", "plan", "kernels", "code") and of each pass in the first
  /// two ("passes.layout", "plan.plan-memory"; the verifier runs between passes and counts for the phase alone), and of the
  /// steps of the last, summed over threads: "code.open", "code.inline", "code.simplify", "code.emit", "code.link".
  /// With a budget also "recomputed.ENTRY": no seconds, but what the entry computes again, as a part of its time.
  std::map<std::string, double> *phaseSeconds = nullptr;
};

/// Compiles a module of the graph dialect (variables and entries, gradients allowed) into a program. The module is
/// consumed: it is left in the form that the last pass made, and the program's contents refer to it and to the initial
/// values until they are written. On failure `error` holds the first error with its location
/// in the user's program, and notes.
FailureOr<::ferrule::serialize::ProgramDescription> compileModule(ModuleOp module, const CompileOptions &options,
                                                                  std::string &error);

/// What artifacts name as their producer, and the CPU level that the target "host" stands for here.
std::string getCompilerName();

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMPILER_H
