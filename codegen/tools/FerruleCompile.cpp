//===- FerruleCompile.cpp - A graph in text form to an artifact -----------===//
//
// ferrule-compile program.mlir -o program.fer --target=x86-64-v3,x86-64-v4
//
//===----------------------------------------------------------------------===//

#include "codegen/Compiler.h"
#include "ir/graph/FerruleDialect.h"
#include "serialize/writer/writer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <utility>

using namespace mlir;

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
  llvm::InitLLVM initialize(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv, "Compiles a graph in text form to a Ferrule artifact\n");

  // lld, linking in this process, resets all command-line options: keep what is needed afterwards.
  const std::string inputPath = input, outputPath = output;
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
  FailureOr<::ferrule::serialize::ProgramDescription> program = mlir::ferrule::compileModule(*module, options, error);
  std::vector<uint8_t> bytes;
  if (succeeded(program))
    bytes = ::ferrule::serialize::write_program(*program, &error);
  if (bytes.empty()) {
    llvm::errs() << inputPath << ": " << error << "\n";
    return 1;
  }
  std::error_code code;
  llvm::raw_fd_ostream stream(outputPath, code);
  if (!code)
    stream.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (code || stream.has_error()) {
    llvm::errs() << outputPath << ": " << (code ? code : stream.error()).message() << "\n";
    return 1;
  }
  if (showTimes)
    for (auto &[phase, value] : seconds)
      llvm::outs() << llvm::format("%10.4f  ", value) << phase << "\n";
  return 0;
}
