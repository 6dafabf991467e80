//===- ObjectFile.cpp - A program as an object for a linker ---------------===//

#include "codegen/ObjectFile.h"

#include "serialize/writer/writer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir::ferrule;
using namespace ::ferrule::serialize;
using llvm::StringRef;

namespace {

llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A kernel that lies in the code of the chosen target.
struct PlacedKernel {
  std::string symbol;
  uint64_t offset;
};

class ObjectBuilder {
public:
  ObjectBuilder(const CpuTarget &target, const llvm::TargetMachine &machine, StringRef name)
      : target(target), name(name.str()), module(name, context), builder(context) {
    module.setTargetTriple(machine.getTargetTriple());
    module.setDataLayout(machine.createDataLayout());
    module.setPICLevel(llvm::PICLevel::BigPIC);
  }

  llvm::Module &getModule() { return module; }

  void addCode(llvm::ArrayRef<uint8_t> image, llvm::ArrayRef<PlacedKernel> kernels);
  void addArtifact(llvm::ArrayRef<uint8_t> artifact);
  void addTable(llvm::ArrayRef<PlacedKernel> kernels);

private:
  void define(const llvm::Twine &suffix, llvm::Constant *value, uint64_t alignment) {
    auto *global = new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::ExternalLinkage, value, name + suffix);
    global->setAlignment(llvm::Align(alignment));
  }
  llvm::Function *makeCaller();

  const CpuTarget &target;
  std::string name;
  llvm::LLVMContext context;
  llvm::Module module;
  llvm::IRBuilder<> builder;
};

/// The image as it is, in a section of code; a label where each kernel begins. Written as assembly: LLVM's globals are
/// data, whatever section they are put in.
void ObjectBuilder::addCode(llvm::ArrayRef<uint8_t> image, llvm::ArrayRef<PlacedKernel> kernels) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "\t.section .text." << name << ",\"ax\",%progbits\n\t.balign " << getImageAlignment(target) << "\n";
  std::string label = ".L" + name + "_code";
  os << label << ":\n";
  constexpr size_t bytesPerLine = 64;
  for (size_t begin = 0; begin < image.size(); begin += bytesPerLine) {
    llvm::ArrayRef<uint8_t> line = image.slice(begin, std::min(bytesPerLine, image.size() - begin));
    os << "\t.byte ";
    llvm::interleave(line, os, [&](uint8_t byte) { os << unsigned(byte); }, ",");
    os << "\n";
  }
  for (const PlacedKernel &kernel : kernels)
    os << "\t.type \"" << kernel.symbol << "\",%function\n\t.set \"" << kernel.symbol << "\"," << label << "+"
       << kernel.offset << "\n";
  module.appendModuleInlineAsm(text);
}

void ObjectBuilder::addArtifact(llvm::ArrayRef<uint8_t> artifact) {
  constexpr uint64_t alignment = 64; // Of the weights in the artifact, which are used where they lie.
  define("_artifact", llvm::ConstantDataArray::get(context, artifact), alignment);
  define("_artifact_size", builder.getInt64(artifact.size()), 8);
}

/// int32 f(void *kernel, const FerruleKernelArgs *args) { return kernel(args); }
llvm::Function *ObjectBuilder::makeCaller() {
  llvm::Type *pointer = builder.getPtrTy();
  auto *type = llvm::FunctionType::get(builder.getInt32Ty(), {pointer, pointer}, false);
  auto *caller = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name + "_call", module);
  caller->addFnAttr(llvm::Attribute::NoUnwind);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", caller));
  auto *kernelType = llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false);
  builder.CreateRet(builder.CreateCall(kernelType, caller->getArg(0), {caller->getArg(1)}));
  return caller;
}

/// FerruleExternalKernel of runtime/api/ferrule.h: size of the struct, name, context, function.
void ObjectBuilder::addTable(llvm::ArrayRef<PlacedKernel> kernels) {
  llvm::Type *pointer = builder.getPtrTy();
  auto *row = llvm::StructType::get(builder.getInt64Ty(), pointer, pointer, pointer);
  llvm::Function *caller = kernels.empty() ? nullptr : makeCaller();
  auto *kernelType = llvm::FunctionType::get(builder.getInt32Ty(), {pointer}, false);
  llvm::SmallVector<llvm::Constant *> rows;
  for (const PlacedKernel &kernel : kernels) {
    auto *function = llvm::Function::Create(kernelType, llvm::GlobalValue::ExternalLinkage, kernel.symbol, module);
    auto *text = builder.CreateGlobalString(kernel.symbol, "", 0, &module);
    rows.push_back(llvm::ConstantStruct::get(
        row, {builder.getInt64(module.getDataLayout().getTypeAllocSize(row)), text, function, caller}));
  }
  define("_kernels", llvm::ConstantArray::get(llvm::ArrayType::get(row, rows.size()), rows), 8);
  define("_kernel_count", builder.getInt32(rows.size()), 4);
}

bool isIdentifier(StringRef name) {
  auto isPart = [](char letter) { return letter == '_' || llvm::isAlnum(letter); };
  return !name.empty() && !llvm::isDigit(name.front()) && llvm::all_of(name, isPart);
}

constexpr llvm::StringLiteral headerText = R"(/* Made by Ferrule: the program @ as @.o holds it, for @target. */
#ifndef FERRULE_OBJECT_@_H_
#define FERRULE_OBJECT_@_H_

#include <string.h>

)"
                                           "#include \"runtime/api/ferrule.h\"\n"
                                           R"(
#ifdef __cplusplus
extern "C" {
#endif

extern const unsigned char @_artifact[];
extern const uint64_t @_artifact_size;
extern const FerruleExternalKernel @_kernels[];
extern const uint32_t @_kernel_count;
)";

constexpr llvm::StringLiteral openText = R"(
/* Opens the program. Its kernels and weights are used where the linker put them. */
static inline FerruleStatus* @_open(FerruleProgram** out_program) {
  FerruleProgramOptions options;
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.kernels = @_kernels;
  options.kernel_count = @_kernel_count;
  options.in_place = 1;
  return ferrule_program_open_bytes(@_artifact, @_artifact_size, &options, out_program);
}
)";

constexpr llvm::StringLiteral footerText = R"(
#ifdef __cplusplus
}  /* extern "C" */
#endif

#endif /* FERRULE_OBJECT_@_H_ */
)";

std::string writeHeader(StringRef name, StringRef target, llvm::ArrayRef<std::string> foreign) {
  std::string text = headerText.str();
  if (foreign.empty())
    text += openText;
  else
    text += "\n/* Open it with these kernels and those of yours that it calls: " + llvm::join(foreign, ", ") +
            ". Set in_place. */\n";
  text += footerText;
  std::string header;
  StringRef rest = text;
  for (size_t at; (at = rest.find('@')) != StringRef::npos;) {
    header += rest.take_front(at);
    rest = rest.drop_front(at + 1);
    header += rest.consume_front("target") ? target : name;
  }
  return header + rest.str();
}

} // namespace

llvm::Expected<ObjectFile> mlir::ferrule::makeObjectFile(ProgramDescription program, StringRef target, StringRef name) {
  if (!isIdentifier(name))
    return makeError("an object's name is the beginning of its symbols and must be an identifier, not '" + name + "'");
  auto code = llvm::find_if(program.targets, [&](const TargetDescription &each) { return each.name == target; });
  const CpuTarget *cpu = findCpuTarget(target);
  if (code == program.targets.end() || !cpu)
    return makeError("the program has no code for the target '" + target + "'");
  size_t number = code - program.targets.begin();
  std::vector<uint8_t> image = std::move(code->code);
  program.targets = {{code->name, code->features, {}}};

  std::vector<PlacedKernel> placed;
  std::vector<std::string> foreign;
  for (KernelDescription &kernel : program.kernels) {
    if (!kernel.symbol.empty()) {
      foreign.push_back(kernel.symbol);
      continue;
    }
    kernel.symbol = (name + "." + kernel.name).str();
    placed.push_back({kernel.symbol, kernel.offsets[number]});
    kernel.offsets.clear();
  }
  std::string error;
  std::vector<uint8_t> artifact = write_program(program, &error);
  if (artifact.empty())
    return makeError(error);

  std::unique_ptr<llvm::TargetMachine> machine = createTargetMachine(*cpu, error);
  if (!machine)
    return makeError("target " + target + ": " + error);
  ObjectBuilder builder(*cpu, *machine, name);
  builder.addCode(image, placed);
  builder.addArtifact(artifact);
  builder.addTable(placed);
  ObjectFile object;
  if (llvm::Error emitError = emitObject(builder.getModule(), *machine, object.bytes))
    return std::move(emitError);
  object.header = writeHeader(name, target, foreign);
  return object;
}
