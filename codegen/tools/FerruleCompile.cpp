//===- FerruleCompile.cpp - A graph in text form to an artifact -----------===//
//
// ferrule-compile program.mlir -o program.fer --target=x86-64-v3,x86-64-v4
// ferrule-compile program.mlir -o program.o --emit=object --target=aarch64
//
//===----------------------------------------------------------------------===//

#include "codegen/Compiler.h"
#include "codegen/ObjectFile.h"
#include "ir/graph/FerruleDialect.h"
#include "serialize/writer/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;
using ::ferrule::serialize::ProgramDescription;

enum class Emit { Artifact, Object };

static int fail(const llvm::Twine &what, const llvm::Twine &why) {
  llvm::errs() << what << ": " << why << "\n";
  return 1;
}

/// 0, or 1 after a message.
static int writeFile(const std::string &path, StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code)
    stream << bytes;
  if (!code && !stream.has_error())
    return 0;
  std::string why = (code ? code : stream.error()).message();
  stream.clear_error();
  return fail(path, why);
}

static int writeArtifact(const ProgramDescription &program, const std::string &path) {
  std::string error;
  std::vector<uint8_t> bytes = ::ferrule::serialize::write_program(program, &error);
  if (bytes.empty())
    return fail(path, error);
  return writeFile(path, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

/// The object, named after its file, and the header beside it.
static int writeObject(ProgramDescription program, const std::string &path) {
  if (program.targets.size() != 1)
    return fail(path, "an object has code for one target, not " + llvm::Twine(program.targets.size()));
  std::string target = program.targets.front().name;
  llvm::Expected<mlir::ferrule::ObjectFile> object =
      mlir::ferrule::makeObjectFile(std::move(program), target, llvm::sys::path::stem(path));
  if (!object)
    return fail(path, llvm::toString(object.takeError()));
  llvm::SmallString<128> header(path);
  llvm::sys::path::replace_extension(header, "h");
  int written = writeFile(path, {object->bytes.data(), object->bytes.size()});
  return written != 0 ? written : writeFile(header.str().str(), object->header);
}

int main(int argc, char **argv) {
  static llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("<program.mlir>"), llvm::cl::Required);
  static llvm::cl::opt<std::string> output("o", llvm::cl::desc("The artifact to write"), llvm::cl::Required);
  static llvm::cl::list<std::string> targets("target", llvm::cl::CommaSeparated,
                                             llvm::cl::desc("CPU targets; default: host"));
  static llvm::cl::list<std::string> disabled("disable-passes", llvm::cl::CommaSeparated,
                                              llvm::cl::desc("Optional passes to leave out"));
  static llvm::cl::opt<uint64_t> budgetBytes("memory-budget", llvm::cl::init(0),
                                             llvm::cl::desc("The most bytes for the arena; default: no limit"));
  static llvm::cl::opt<double> budgetFraction("memory-budget-fraction", llvm::cl::init(0),
                                              llvm::cl::desc("The same as a part of the arena without a budget"));
  static llvm::cl::opt<Emit> emit(
      "emit", llvm::cl::init(Emit::Artifact), llvm::cl::desc("What to write"),
      llvm::cl::values(clEnumValN(Emit::Artifact, "artifact", "an artifact (default)"),
                       clEnumValN(Emit::Object, "object", "an object for a linker, and its C header beside it")));
  llvm::InitLLVM initialize(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compiles a graph in text form to a Ferrule artifact\n");

  // lld, linking in this process, resets all command-line options: keep what is needed afterwards.
  const std::string inputPath = input, outputPath = output;
  const Emit wanted = emit;
  // LLVM has an option of that name, which may stand only once; its own report would say nothing of our passes.
  const bool showTimes = std::exchange(llvm::TimePassesIsEnabled, false);

  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::ferrule::FerruleDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(inputPath, &context);
  if (!module)
    return 1;
  std::map<std::string, double> seconds;
  mlir::ferrule::CompileOptions options;
  if (!targets.empty())
    options.targets = targets;
  options.disabledPasses = disabled;
  options.memoryBudget = {budgetBytes, budgetFraction};
  options.phaseSeconds = &seconds;
  std::string error;
  FailureOr<ProgramDescription> program = mlir::ferrule::compileModule(*module, options, error);
  if (failed(program))
    return fail(inputPath, error);
  if (int failed = wanted == Emit::Object ? writeObject(std::move(*program), outputPath)
                                          : writeArtifact(*program, outputPath))
    return failed;
  if (showTimes)
    for (auto &[phase, value] : seconds)
      llvm::outs() << llvm::format("%10.4f  ", value) << phase << "\n";
  return 0;
}
