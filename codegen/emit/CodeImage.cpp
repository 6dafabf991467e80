//===- CodeImage.cpp - From LLVM IR to a position-independent image -------===//

#include "codegen/emit/CodeImage.h"

#include "codegen/emit/PrefixMasks.h"
#include "kernels/bitcode.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/LowerConstantIntrinsics.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <chrono>
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir::ferrule;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// Seconds by step.
class StepTimer {
public:
  void finish(StringRef step) {
    auto now = std::chrono::steady_clock::now();
    seconds.emplace_back(step, std::chrono::duration<double>(now - last).count());
    last = now;
  }

  std::vector<std::pair<StringRef, double>> seconds;

private:
  std::chrono::steady_clock::time_point last = std::chrono::steady_clock::now();
};

void initializeTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

/// Vectors keep their width only where the function asks for it.
void stampTargetAttributes(llvm::Function &function, const CpuTarget &target) {
  std::string width = std::to_string(target.vectorBits);
  function.addFnAttr("target-cpu", target.cpu);
  function.removeFnAttr("target-features");
  if (!target.features.empty())
    function.addFnAttr("target-features", target.features);
  function.addFnAttr("prefer-vector-width", width);
  function.addFnAttr("min-legal-vector-width", width);
  // Loops must stay loops: a memset or memcpy would be an import.
  function.addFnAttr("no-builtins");
  function.addFnAttr(llvm::Attribute::NoUnwind);
  function.removeFnAttr(llvm::Attribute::UWTable);
}

/// A module with the skeletons of `target`, of which none is read yet: each is when it is inlined. There are hundreds,
/// with the instances among which they choose, and a kernel takes in a handful.
Expected<std::unique_ptr<llvm::Module>> openSkeletons(const CpuTarget &target, const llvm::TargetMachine &machine,
                                                      llvm::LLVMContext &context) {
  const ::ferrule::kernels::BitcodeImage *image =
      ::ferrule::kernels::find_bitcode(std::string_view(target.name.data(), target.name.size()));
  if (!image)
    return makeError("no kernel bitcode was built for target " + target.name);
  StringRef bytes(reinterpret_cast<const char *>(image->data), image->size);
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bytes, "kernels"), context);
  if (!module)
    return module.takeError();
  (*module)->setTargetTriple(machine.getTargetTriple());
  (*module)->setDataLayout(machine.createDataLayout());
  // `__attribute__((used))` kept the skeletons in their bitcode file; here it
  // would keep every one of them in the image.
  for (StringRef name : {"llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable *used = (*module)->getGlobalVariable(name))
      used->eraseFromParent();
  return module;
}

/// Adds `functions` and what they call to the skeletons in `module`. They are defined in `bitcode`, of which nothing
/// else is read.
Error addKernels(llvm::Module &module, StringRef bitcode, llvm::ArrayRef<std::string> functions) {
  auto whole = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "program"), module.getContext());
  if (!whole)
    return whole.takeError();
  (*whole)->setTargetTriple(module.getTargetTriple());
  (*whole)->setDataLayout(module.getDataLayout());
  // The linker takes what is declared and not defined.
  for (const std::string &name : functions)
    if (const llvm::Function *kernel = (*whole)->getFunction(name))
      module.getOrInsertFunction(name, kernel->getFunctionType());
  if (llvm::Linker::linkModules(module, std::move(*whole), llvm::Linker::LinkOnlyNeeded))
    return makeError("taking the kernels out of the program's bitcode failed");
  // What is not inlined, and the constants, belong to the image alone.
  llvm::StringSet<> kernels;
  for (const std::string &name : functions)
    kernels.insert(name);
  llvm::internalizeModule(module, [&](const llvm::GlobalValue &value) { return kernels.contains(value.getName()); });
  return Error::success();
}

/// Calls in `function` of functions that must be inlined.
llvm::SmallVector<llvm::CallBase *> collectInlineCalls(llvm::Function &function) {
  llvm::SmallVector<llvm::CallBase *> calls;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        llvm::Function *callee = call->getCalledFunction();
        if (callee && !callee->isDeclaration() && callee->hasFnAttribute(llvm::Attribute::AlwaysInline))
          calls.push_back(call);
      }
  return calls;
}

/// Inlines from the kernel downwards, level by level: skeleton, tile instances, callbacks (direct calls once their
/// address is a constant). A skeleton chooses among many instances by shape; going down, the shapes are constants
/// already, and what is not chosen is never copied. LLVM's own inliner goes upwards and copies all of it.
Error inlineTopDown(llvm::Function &kernel, llvm::FunctionPassManager &cleanup,
                    llvm::FunctionAnalysisManager &analyses) {
  constexpr int maxLevels = 16;
  for (int level = 0; level < maxLevels; ++level) {
    llvm::SmallVector<llvm::CallBase *> calls = collectInlineCalls(kernel);
    if (calls.empty())
      return Error::success();
    for (llvm::CallBase *call : calls) {
      if (Error error = call->getCalledFunction()->materialize())
        return error;
      llvm::InlineFunctionInfo info;
      llvm::InlineResult result = llvm::InlineFunction(*call, info);
      if (!result.isSuccess())
        return makeError("kernel " + kernel.getName() + ": a call cannot be inlined: " + result.getFailureReason());
    }
    // Inlining changed the blocks behind the pass manager's back: what an earlier level left computed is stale.
    analyses.invalidate(kernel, llvm::PreservedAnalyses::none());
    analyses.invalidate(kernel, cleanup.run(kernel, analyses));
  }
  return makeError("kernel " + kernel.getName() + ": its calls do not end after " + llvm::Twine(maxLevels) +
                   " levels");
}

/// Code is vector code already: the loop and SLP vectorisers stay off, and loops unroll only where they say so.
Error optimize(llvm::Module &module, llvm::TargetMachine &machine, const CpuTarget &target,
               llvm::ArrayRef<std::string> functions, StepTimer &timer) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopInterleaving = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopUnrolling = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loopAnalyses;
  llvm::FunctionAnalysisManager functionAnalyses;
  llvm::CGSCCAnalysisManager sccAnalyses;
  llvm::ModuleAnalysisManager moduleAnalyses;
  builder.registerModuleAnalyses(moduleAnalyses);
  builder.registerCGSCCAnalyses(sccAnalyses);
  builder.registerFunctionAnalyses(functionAnalyses);
  builder.registerLoopAnalyses(loopAnalyses);
  builder.crossRegisterProxies(loopAnalyses, functionAnalyses, sccAnalyses, moduleAnalyses);

  llvm::FunctionPassManager cleanup;
  cleanup.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  cleanup.addPass(llvm::SCCPPass());
  cleanup.addPass(llvm::SimplifyCFGPass());
  llvm::FunctionPassManager simplification;
  // A shape that is no constant by now is a run-time value: choose the general path.
  simplification.addPass(llvm::LowerConstantIntrinsicsPass());
  simplification.addPass(
      builder.buildFunctionSimplificationPipeline(llvm::OptimizationLevel::O2, llvm::ThinOrFullLTOPhase::None));
  llvm::FunctionPassManager afterMasks;
  afterMasks.addPass(llvm::InstCombinePass());
  afterMasks.addPass(llvm::SimplifyCFGPass());
  for (const std::string &name : functions) {
    llvm::Function &kernel = *module.getFunction(name);
    stampTargetAttributes(kernel, target);
    if (Error error = inlineTopDown(kernel, cleanup, functionAnalyses))
      return error;
  }
  timer.finish("inline");
  for (const std::string &name : functions) {
    llvm::Function &kernel = *module.getFunction(name);
    stampTargetAttributes(kernel, target); // What was inlined may have asked for other widths.
    functionAnalyses.invalidate(kernel, simplification.run(kernel, functionAnalyses));
    // Only now: which masks are constants is known once everything else is simplified.
    if (!target.hasMaskedMemory && expandPrefixMasks(kernel)) {
      functionAnalyses.invalidate(kernel, llvm::PreservedAnalyses::none());
      functionAnalyses.invalidate(kernel, afterMasks.run(kernel, functionAnalyses));
    }
  }
  return Error::success();
}

/// Removes what no kernel uses any more: skeletons, instances and callbacks, read or not.
Error removeUnused(llvm::Module &module, llvm::ArrayRef<std::string> functions) {
  llvm::SmallSetVector<llvm::Function *, 16> used;
  for (const std::string &name : functions)
    used.insert(module.getFunction(name));
  for (size_t next = 0; next < used.size(); ++next) {
    if (Error error = used[next]->materialize())
      return error;
    for (llvm::Instruction &instruction : llvm::instructions(*used[next]))
      for (llvm::Value *operand : instruction.operands())
        if (auto *function = llvm::dyn_cast<llvm::Function>(operand->stripPointerCasts()))
          used.insert(function);
  }
  llvm::SmallVector<llvm::Function *> unused;
  for (llvm::Function &function : module)
    if (!used.contains(&function))
      unused.push_back(&function);
  for (llvm::Function *function : unused)
    function->dropAllReferences();
  for (llvm::Function *function : unused) {
    function->removeDeadConstantUsers();
    if (function->use_empty())
      function->eraseFromParent();
  }
  for (llvm::GlobalVariable &variable : llvm::make_early_inc_range(module.globals())) {
    variable.removeDeadConstantUsers();
    if (variable.use_empty())
      variable.eraseFromParent();
  }
  return Error::success();
}

/// A file in the system's temporary folder, removed on every path.
class TemporaryFile {
public:
  static Expected<TemporaryFile> create(StringRef suffix, StringRef contents) {
    int fd = -1;
    TemporaryFile file;
    if (std::error_code ec = llvm::sys::fs::createTemporaryFile("ferrule", suffix, fd, file.path))
      return llvm::createStringError(ec, "cannot create a temporary file");
    file.remover.setFile(file.path);
    llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << contents;
    stream.flush();
    if (!stream.has_error())
      return std::move(file);
    std::error_code ec = stream.error();
    stream.clear_error();
    return llvm::createStringError(ec, "cannot write " + file.path);
  }

  TemporaryFile(TemporaryFile &&other) : path(other.path) {
    remover.setFile(path);
    other.remover.releaseFile();
  }

  const char *getPath() { return path.c_str(); }

private:
  TemporaryFile() = default;

  llvm::SmallString<128> path;
  llvm::FileRemover remover;
};

/// lld reads and writes files.
Expected<std::unique_ptr<llvm::MemoryBuffer>> linkSharedObject(llvm::ArrayRef<CompiledKernels> parts) {
  std::vector<TemporaryFile> inputs;
  for (const CompiledKernels &part : parts) {
    auto input = TemporaryFile::create("o", StringRef(part.object.data(), part.object.size()));
    if (!input)
      return input.takeError();
    inputs.push_back(std::move(*input));
  }
  auto output = TemporaryFile::create("so", "");
  if (!output)
    return output.takeError();
  std::vector<const char *> args = {"ld.lld", "-shared", "--no-undefined", "--hash-style=gnu", "--build-id=none",
                                    "--icf=all", "--no-rosegment", "-z", "max-page-size=4096", "-z", "norelro",
                                    "--threads=1", "-o", output->getPath()};
  for (TemporaryFile &input : inputs)
    args.push_back(input.getPath());
  std::string messages;
  llvm::raw_string_ostream messageStream(messages);
  static std::mutex mutex; // lld keeps a global context while it links.
  std::lock_guard<std::mutex> lock(mutex);
  lld::Result result = lld::lldMain(args, llvm::nulls(), messageStream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return makeError("linking the generated kernels failed: " + messages);
  auto buffer = llvm::MemoryBuffer::getFile(output->getPath(), /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer)
    return llvm::createStringError(buffer.getError(), StringRef("cannot read ") + output->getPath());
  return std::move(*buffer);
}

/// Copies the sections that kernels execute and read out of the linked file
/// and finds the functions in them.
Expected<CodeImage> flatten(llvm::MemoryBufferRef file,
                            llvm::ArrayRef<std::string> functions,
                            uint64_t alignment) {
  auto elf = llvm::object::ELF64LEObjectFile::create(file);
  if (!elf)
    return elf.takeError();
  uint64_t begin = UINT64_MAX, end = 0;
  auto isImagePart = [](StringRef name) {
    return name.starts_with(".text") || name.starts_with(".rodata");
  };
  for (const llvm::object::SectionRef &section : elf->sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (section.getSize() == 0)
      continue;
    if (name->starts_with(".rela") || name->starts_with(".data") ||
        name->starts_with(".bss") || name->starts_with(".got"))
      return makeError("the generated code has a section " + *name +
                       ", which the loader does not support");
    if (!isImagePart(*name))
      continue;
    if (section.getAlignment().value() > alignment)
      return makeError("the section " + *name + " of the generated code asks for " +
                       std::to_string(section.getAlignment().value()) +
                       " bytes of alignment; its image has " + std::to_string(alignment));
    begin = std::min(begin, section.getAddress());
    end = std::max(end, section.getAddress() + section.getSize());
  }
  CodeImage image;
  if (end == 0) // No kernel at all, e.g. a program that only copies.
    return image;
  begin &= ~(alignment - 1);
  image.bytes.assign(end - begin, 0);
  for (const llvm::object::SectionRef &section : elf->sections()) {
    auto name = section.getName();
    if (!name)
      return name.takeError();
    if (section.getSize() == 0 || !isImagePart(*name))
      continue;
    auto contents = section.getContents();
    if (!contents)
      return contents.takeError();
    std::copy(contents->begin(), contents->end(),
              image.bytes.begin() + (section.getAddress() - begin));
  }
  llvm::StringMap<uint64_t> addresses;
  for (const llvm::object::ELFSymbolRef &symbol : elf->symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address)
      return makeError("unreadable symbol in the generated code");
    addresses[*name] = *address;
  }
  for (const std::string &function : functions) {
    auto it = addresses.find(function);
    if (it == addresses.end())
      return makeError("kernel " + function + " is missing in the linked code");
    image.offsets.push_back(it->second - begin);
  }
  return image;
}

} // namespace

std::unique_ptr<llvm::TargetMachine> mlir::ferrule::createTargetMachine(const CpuTarget &target, std::string &error) {
  initializeTargets();
  llvm::Triple triple(target.triple);
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true; // What the linker folds are sections.
  return std::unique_ptr<llvm::TargetMachine>(llvmTarget->createTargetMachine(
      triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

Error mlir::ferrule::emitObject(llvm::Module &module, llvm::TargetMachine &machine, llvm::SmallVectorImpl<char> &object) {
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true))
    return makeError("the LLVM target cannot emit object files");
  passes.run(module);
  return Error::success();
}

uint64_t mlir::ferrule::getImageAlignment(const CpuTarget &target) {
  return llvm::Triple(target.triple).isX86() ? 64 : 4096;
}

Expected<CompiledKernels> mlir::ferrule::compileKernels(StringRef moduleBitcode, llvm::ArrayRef<std::string> functions,
                                                        const CpuTarget &target) {
  StepTimer timer;
  std::string error;
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, error);
  if (!machine)
    return makeError("target " + target.name + ": " + error);
  llvm::LLVMContext context;
  auto module = openSkeletons(target, *machine, context);
  if (!module)
    return module.takeError();
  if (Error linkError = addKernels(**module, moduleBitcode, functions))
    return std::move(linkError);
  timer.finish("open");
  if (Error optimizeError = optimize(**module, *machine, target, functions, timer))
    return std::move(optimizeError);
  if (Error removeError = removeUnused(**module, functions))
    return std::move(removeError);
  // Found by the link's symbols, not by the loader of an operating system: no tables for one.
  for (const std::string &name : functions)
    (*module)->getFunction(name)->setVisibility(llvm::GlobalValue::HiddenVisibility);
  timer.finish("simplify");
  CompiledKernels compiled;
  if (Error emitError = emitObject(**module, *machine, compiled.object))
    return std::move(emitError);
  timer.finish("emit");
  compiled.seconds = std::move(timer.seconds);
  return compiled;
}

Expected<CodeImage> mlir::ferrule::linkCodeImage(llvm::ArrayRef<CompiledKernels> parts,
                                                 llvm::ArrayRef<std::string> functions, const CpuTarget &target) {
  StepTimer timer;
  auto linked = linkSharedObject(parts);
  if (!linked)
    return linked.takeError();
  auto image = flatten((*linked)->getMemBufferRef(), functions, getImageAlignment(target));
  if (!image)
    return image.takeError();
  timer.finish("link");
  image->seconds = std::move(timer.seconds);
  for (const CompiledKernels &part : parts)
    image->seconds.insert(image->seconds.begin(), part.seconds.begin(), part.seconds.end());
  return image;
}
