//===- CompileProgram.cpp - From traces to the bytes of an artifact -------===//

#include "frontend/core/CompileProgram.h"

#include "codegen/Compiler.h"
#include "frontend/core/Error.h"
#include "serialize/writer/writer.h"

#include <chrono>
#include <map>

namespace ferrule::frontend {
namespace {

class Stopwatch {
public:
  /// Seconds since the last call, or since the construction.
  double lap() {
    auto now = std::chrono::steady_clock::now();
    double seconds = std::chrono::duration<double>(now - start).count();
    start = now;
    return seconds;
  }

private:
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

llvm::Expected<serialize::ProgramDescription> describeProgram(mlir::ModuleOp module, const CompileSettings &settings,
                                                              std::map<std::string, double> *phaseSeconds) {
  mlir::ferrule::CompileOptions options;
  options.targets = settings.targets;
  options.disabledPasses = settings.disabledPasses;
  options.planAt = settings.planAt;
  options.memoryBudget = {settings.memoryBudgetBytes, settings.memoryBudgetFraction};
  bool budgetMissed = false;
  options.budgetMissed = &budgetMissed;
  options.threads = settings.threads;
  options.phaseSeconds = phaseSeconds;
  std::string error;
  mlir::FailureOr<serialize::ProgramDescription> program = mlir::ferrule::compileModule(module, options, error);
  if (mlir::succeeded(program))
    return std::move(*program);
  return makeError(budgetMissed ? ErrorKind::Budget : ErrorKind::Unsupported, error);
}

llvm::Expected<std::vector<uint8_t>> write(const serialize::ProgramDescription &program) {
  std::string error;
  std::vector<uint8_t> bytes = serialize::write_program(program, &error);
  if (bytes.empty())
    return makeError(ErrorKind::Artifact, error);
  return bytes;
}

} // namespace

llvm::Expected<CompiledArtifact> compileProgram(Frontend &frontend, const NamedEntries &entries,
                                                const NamedVariables &variables, const CompileSettings &settings) {
  CompiledArtifact artifact;
  Stopwatch watch;
  auto record = [&](const char *phase) { artifact.secondsByPhase.emplace_back(phase, watch.lap()); };
  auto module = frontend.buildProgram(entries, variables);
  if (!module)
    return module.takeError();
  record("merge");
  std::map<std::string, double> phases;
  llvm::Expected<serialize::ProgramDescription> program = describeProgram(**module, settings, &phases);
  if (!program)
    return program.takeError();
  watch.lap();
  artifact.secondsByPhase.insert(artifact.secondsByPhase.end(), phases.begin(), phases.end());
  llvm::Expected<std::vector<uint8_t>> bytes = write(*program);
  if (!bytes)
    return bytes.takeError();
  record("write");
  artifact.bytes = std::move(*bytes);
  return artifact;
}

std::string getCompilerName() { return mlir::ferrule::getCompilerName(); }

llvm::Expected<std::vector<uint8_t>> compileModuleToArtifact(mlir::ModuleOp module, const CompileSettings &settings) {
  llvm::Expected<serialize::ProgramDescription> program = describeProgram(module, settings, /*phaseSeconds=*/nullptr);
  if (!program)
    return program.takeError();
  return write(*program);
}

} // namespace ferrule::frontend
