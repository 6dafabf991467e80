//===- KernelTable.cpp - One kernel for equal dispatches ------------------===//

#include "codegen/emit/KernelTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <thread>

using namespace mlir;
using namespace mlir::ferrule;

KernelTable::KernelTable(MLIRContext *context) : module(ModuleOp::create(UnknownLoc::get(context))) {
  context->loadDialect<LLVM::LLVMDialect>();
}

/// The body's text, with the inputs' names in order: what a kernel is, without where it is called.
static std::string describeStructure(DispatchOp dispatch) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.useLocalScope().printGenericOpForm().elideLargeElementsAttrs();
  for (BlockArgument argument : dispatch.getBodyBlock().getArguments())
    stream << argument.getType() << ",";
  DenseMap<Value, unsigned> numbers;
  for (BlockArgument argument : dispatch.getBodyBlock().getArguments())
    numbers[argument] = numbers.size();
  for (Operation &op : dispatch.getBodyBlock()) {
    stream << ";" << op.getName() << "(";
    for (Value operand : op.getOperands())
      stream << numbers.at(operand) << ",";
    stream << ")" << op.getAttrDictionary();
    for (Value result : op.getResults()) {
      stream << result.getType();
      numbers[result] = numbers.size();
    }
  }
  return text;
}

/// What a kernel is called in profiles: the first op that stands for it.
static StringRef getTitle(DispatchOp dispatch) {
  StringRef title = "copy";
  for (Operation &op : dispatch.getBodyBlock()) {
    auto interface = dyn_cast<FerruleOpInterface>(&op);
    if (!interface || isa<YieldOp>(op))
      continue;
    LoweringKind kind = interface.getLoweringKind();
    if (kind == LoweringKind::Elementwise)
      title = op.getName().stripDialect();
    else if (kind != LoweringKind::Shape && kind != LoweringKind::Constant)
      return op.getName().stripDialect();
  }
  return title;
}

FailureOr<unsigned> KernelTable::getKernel(DispatchOp dispatch) {
  auto [it, inserted] = byStructure.try_emplace(describeStructure(dispatch), kernels.size());
  if (!inserted)
    return it->second;
  std::string name = (getTitle(dispatch) + "." + Twine(kernels.size())).str();
  FailureOr<KernelSpec> kernel = emitKernel(*module, dispatch, name);
  if (failed(kernel))
    return failure();
  kernels.push_back(*kernel);
  return kernels.size() - 1;
}

FailureOr<std::vector<CodeImage>> KernelTable::compile(ArrayRef<const CpuTarget *> targets, int threads,
                                                       std::string &error) {
  registerBuiltinDialectTranslation(*module->getContext());
  registerLLVMDialectTranslation(*module->getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*module, context, "program");
  if (!llvmModule) {
    error = "the kernels have no LLVM form";
    return failure();
  }
  std::string bitcode;
  {
    llvm::raw_string_ostream stream(bitcode);
    llvm::WriteBitcodeToFile(*llvmModule, stream);
  }
  std::vector<std::string> names;
  for (const KernelSpec &kernel : kernels)
    names.push_back(kernel.name);

  std::vector<CodeImage> images(targets.size());
  std::vector<std::string> errors(targets.size());
  auto compileTarget = [&](size_t index) {
    llvm::Expected<CodeImage> image = compileCodeImage(bitcode, names, *targets[index]);
    if (image)
      images[index] = std::move(*image);
    else
      errors[index] = (targets[index]->name + ": " + llvm::toString(image.takeError())).str();
  };
  for (size_t begin = 0; begin < targets.size(); begin += std::max(1, threads)) {
    size_t end = std::min(targets.size(), begin + std::max(1, threads));
    std::vector<std::thread> workers;
    for (size_t index = begin + 1; index < end; ++index)
      workers.emplace_back(compileTarget, index);
    compileTarget(begin);
    for (std::thread &worker : workers)
      worker.join();
  }
  for (const std::string &message : errors)
    if (!message.empty()) {
      error = message;
      return failure();
    }
  return images;
}
