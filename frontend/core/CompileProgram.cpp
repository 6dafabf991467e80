//===- CompileProgram.cpp - From traces to the bytes of an artifact -------===//

#include "frontend/core/CompileProgram.h"

#include "codegen/Compiler.h"
#include "frontend/core/Error.h"
#include "ir/graph/ElementBytes.h"
#include "serialize/reader/reader.h"
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

using InitialValues = std::map<std::string, llvm::ArrayRef<char>>;

llvm::Expected<serialize::ProgramDescription> describeProgram(mlir::ModuleOp module, InitialValues initialValues,
                                                              const CompileSettings &settings,
                                                              std::map<std::string, double> *phaseSeconds,
                                                              std::vector<mlir::ferrule::TunableKernel> *tunable) {
  mlir::ferrule::CompileOptions options;
  options.targets = settings.targets;
  options.disabledPasses = settings.disabledPasses;
  options.planAt = settings.planAt;
  options.initialValues = std::move(initialValues);
  options.memoryBudget = {settings.memoryBudgetBytes, settings.memoryBudgetFraction};
  bool budgetMissed = false;
  options.budgetMissed = &budgetMissed;
  options.threads = settings.threads;
  options.phaseSeconds = phaseSeconds;
  options.tileChoices = settings.tiles;
  options.tunableKernels = tunable;
  std::string error;
  mlir::FailureOr<serialize::ProgramDescription> program = mlir::ferrule::compileModule(module, options, error);
  if (mlir::succeeded(program))
    return std::move(*program);
  return makeError(budgetMissed ? ErrorKind::Budget : ErrorKind::Unsupported, error);
}

InitialValues getInitialValues(const MergedProgram &program) {
  InitialValues values;
  for (const auto &[name, value] : program.initialValues)
    values[name] = {static_cast<const char *>(value->getBuffer()->data()), value->getBuffer()->size()};
  return values;
}

/// All that an artifact is made from besides its module.
std::string describeContents(const InitialValues &values, const CompileSettings &settings) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const std::string &target : settings.targets)
    os << "target " << target << '\n';
  for (const std::string &pass : settings.disabledPasses)
    os << "without " << pass << '\n';
  for (const auto &[dim, size] : settings.planAt)
    os << "plan " << dim << " at " << size << '\n';
  os << "budget " << settings.memoryBudgetBytes << ' ' << settings.memoryBudgetFraction << '\n';
  if (!settings.tunedFor.empty())
    os << "tuned for " << settings.tunedFor << '\n';
  for (const auto &[name, bytes] : values) {
    auto [low, high] = mlir::ferrule::hashContents(bytes.data(), bytes.size());
    os << name << " = " << low << ' ' << high << '\n';
  }
  return text;
}

} // namespace

llvm::Expected<CompiledArtifact> compileProgram(Frontend &frontend, const NamedEntries &entries,
                                                const NamedVariables &variables, const CompileSettings &settings) {
  CompiledArtifact artifact;
  Stopwatch watch;
  auto record = [&](const char *phase) { artifact.secondsByPhase.emplace_back(phase, watch.lap()); };
  llvm::Expected<MergedProgram> merged = frontend.buildProgram(entries, variables);
  if (!merged)
    return merged.takeError();
  InitialValues values = getInitialValues(*merged);
  record("merge");

  ProgramStore *store = frontend.getCache().getStore();
  std::string storedName = settings.storedName;
  if (store) {
    if (storedName.empty())
      storedName = store->getName(*merged->module, describeContents(values, settings));
    if (std::optional<std::string> path = settings.useStored ? store->findPath(storedName) : std::nullopt)
      artifact.storedPath = *path;
    record("find");
    if (!artifact.storedPath.empty())
      return artifact;
  }

  std::map<std::string, double> phases;
  llvm::Expected<serialize::ProgramDescription> program =
      describeProgram(*merged->module, std::move(values), settings, &phases, &artifact.tunableKernels);
  if (!program)
    return program.takeError();
  watch.lap();
  artifact.secondsByPhase.insert(artifact.secondsByPhase.end(), phases.begin(), phases.end());
  artifact.file = std::make_unique<ArtifactFile>();
  auto allocate = [&](uint64_t byteSize) { return artifact.file->create(byteSize); };
  std::string error;
  if (!serialize::write_program(*program, allocate, &error))
    return makeError(ErrorKind::Artifact, error);
  artifact.file->finish();
  record("write");
  if (store && settings.keep) {
    store->keep(storedName, *artifact.file);
    record("keep");
  }
  return artifact;
}

std::string getCompilerName() { return mlir::ferrule::getCompilerName(); }

llvm::Expected<mlir::ferrule::ObjectFile> makeObjectFile(llvm::ArrayRef<uint8_t> artifact, llvm::StringRef target,
                                                         llvm::StringRef name) {
  serialize::ArtifactContents contents;
  std::string error;
  if (!serialize::read_artifact(artifact.data(), artifact.size(), &contents, &error))
    return makeError(ErrorKind::Artifact, error);
  llvm::Expected<mlir::ferrule::ObjectFile> object =
      mlir::ferrule::makeObjectFile(std::move(contents.program), target, name);
  if (!object)
    return makeError(ErrorKind::Unsupported, llvm::toString(object.takeError()));
  return object;
}

llvm::Expected<std::vector<uint8_t>> compileModuleToArtifact(mlir::ModuleOp module, const CompileSettings &settings) {
  llvm::Expected<serialize::ProgramDescription> program = 
      describeProgram(module, {}, settings, /*phaseSeconds=*/nullptr, /*tunable=*/nullptr);
  if (!program)
    return program.takeError();
  std::string error;
  std::vector<uint8_t> bytes = serialize::write_program(*program, &error);
  if (bytes.empty())
    return makeError(ErrorKind::Artifact, error);
  return bytes;
}

} // namespace ferrule::frontend
