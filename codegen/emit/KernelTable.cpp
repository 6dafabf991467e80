//===- KernelTable.cpp - The kernels of a program -------------------------===//

#include "codegen/emit/KernelTable.h"

#include "codegen/emit/EntryEmitter.h"
#include "ir/graph/ElementBytes.h"
#include "ir/graph/External.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <thread>

using namespace mlir;
using namespace mlir::ferrule;

KernelTable::KernelTable(MLIRContext *context) : module(ModuleOp::create(UnknownLoc::get(context))) {
  context->loadDialect<LLVM::LLVMDialect>();
}

/// A hash of all that the kernel is made of.
static std::string getTuningKey(DispatchOp dispatch) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  dispatch->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope().enableDebugInfo(false));
  auto [low, high] = hashContents(text.data(), text.size());
  return llvm::utohexstr(high) + "." + llvm::utohexstr(low);
}

/// A kernel without code. Whatever its function cannot know is told in the dims, most of which are numbers; their order is
/// that of runtime/api/external_tensor.h.
static KernelSpec describeExternal(ExternalOp op, StringRef name) {
  KernelSpec spec;
  spec.name = name.str();
  spec.symbol = op.getSymbol().str();
  spec.outputCount = op->getNumResults();
  spec.operandCount = op->getNumResults() + op->getNumOperands();
  if (DimsAttr tiles = op.getTilesAttr())
    spec.tiles = tiles.getDims().front();
  if (DimsAttr scratchBytes = op.getScratchBytesAttr())
    spec.scratchBytes = scratchBytes.getDims().front();
  spec.dims = {DimExpr(int64_t(op->getNumResults())), DimExpr(int64_t(op->getNumOperands()))};
  auto add = [&](Value value) {
    Dims sizes = getDims(value);
    ::ferrule::serialize::DataTypeDescription dtype =
        describeDataType(cast<RankedTensorType>(value.getType()).getElementType());
    spec.dims.append({DimExpr(int64_t(dtype.code)), DimExpr(int64_t(dtype.bits)), DimExpr(int64_t(sizes.size()))});
    spec.dims.append(sizes.begin(), sizes.end());
  };
  llvm::for_each(op->getResults(), add);
  llvm::for_each(op->getOperands(), add);
  return spec;
}

LogicalResult KernelTable::emitKernels(ModuleOp plan, const TileChoices &choices,
                                       std::vector<TunableKernel> *tunable) {
  auto find = [&](DispatchOp dispatch) -> std::optional<unsigned> {
    auto found = choices.byKey.empty() ? choices.byKey.end() : choices.byKey.find(getTuningKey(dispatch));
    return found == choices.byKey.end() ? choices.others : found->second;
  };
  for (auto kernel : plan.getOps<plan::KernelOp>()) {
    DispatchOp dispatch = kernel.getDispatch();
    ExternalOp external = getExternal(dispatch);
    FailureOr<KernelSpec> spec = external ? FailureOr<KernelSpec>(describeExternal(external, kernel.getSymName()))
                                          : emitKernel(*module, dispatch, kernel.getSymName(), find(dispatch));
    if (failed(spec))
      return failure();
    if (tunable && spec->candidates > 1)
      tunable->push_back({spec->name, getTuningKey(dispatch), spec->candidates, spec->chosen});
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

namespace {

/// Kernels that are compiled together. Fixed, so that the code does not depend on the number of threads; large enough
/// that what a group costs by itself (reading the skeletons, linking) is small beside its kernels.
constexpr size_t kernelsPerGroup = 8;

/// Calls `work(i)` for every i below `count`, on several threads.
void forEach(size_t count, unsigned threads, llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next{0};
  auto run = [&] {
    for (size_t index; (index = next++) < count;)
      work(index);
  };
  std::vector<std::thread> workers;
  for (size_t worker = 1; worker < std::min<size_t>(threads, count); ++worker)
    workers.emplace_back(run);
  run();
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace

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
    if (kernel.symbol.empty())
      names.push_back(kernel.name);

  size_t groups = llvm::divideCeil(names.size(), kernelsPerGroup);
  std::vector<CompiledKernels> parts(targets.size() * groups);
  std::vector<std::string> errors(parts.size());
  forEach(parts.size(), threads > 0 ? threads : std::thread::hardware_concurrency(), [&](size_t index) {
    size_t first = index % groups * kernelsPerGroup;
    auto group = ArrayRef<std::string>(names).slice(first, std::min(kernelsPerGroup, names.size() - first));
    llvm::Expected<CompiledKernels> part = compileKernels(bitcode, group, *targets[index / groups]);
    if (part)
      parts[index] = std::move(*part);
    else
      errors[index] = llvm::toString(part.takeError());
  });
  std::vector<CodeImage> images(targets.size());
  for (auto [number, target] : llvm::enumerate(targets)) {
    std::string message;
    for (size_t group = 0; group < groups && message.empty(); ++group)
      message = errors[number * groups + group];
    if (message.empty() && groups != 0) {
      auto image = linkCodeImage(ArrayRef(parts).slice(number * groups, groups), names, *target);
      if (image)
        images[number] = std::move(*image);
      else
        message = llvm::toString(image.takeError());
    }
    if (message.empty())
      continue;
    error = (target->name + ": " + message).str();
    return failure();
  }
  return images;
}
