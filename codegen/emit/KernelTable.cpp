//===- KernelTable.cpp - The kernels of a program -------------------------===//

#include "codegen/emit/KernelTable.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

#include <thread>

using namespace mlir;
using namespace mlir::ferrule;

KernelTable::KernelTable(MLIRContext *context) : module(ModuleOp::create(UnknownLoc::get(context))) {
  context->loadDialect<LLVM::LLVMDialect>();
}

LogicalResult KernelTable::emitKernels(ModuleOp plan) {
  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    FailureOr<KernelSpec> spec = emitKernel(*module, kernel.getDispatch(), kernel.getSymName());
    if (failed(spec))
      return failure();
    numbers[kernel.getSymName()] = kernels.size();
    kernels.push_back(*spec);
  }
  MLIRContext *context = plan.getContext();
  plan.walk([&](plan::CallOp call) {
    const KernelSpec &spec = kernels[getNumber(call.getKernel())];
    call.setDimsAttr(DimsAttr::get(context, spec.dims));
    call.setTilesAttr(DimsAttr::get(context, spec.tiles));
  });
  return success();
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
