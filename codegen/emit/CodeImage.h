//===- CodeImage.h - From LLVM IR to a position-independent image -*- C++ -*-===//
//
// Turns the LLVM module that holds all generated kernels into machine code for
// one CPU target: links the kernel families' bitcode, optimises, emits
// objects, links them with lld in process and flattens the result.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_EMIT_CODEIMAGE_H
#define FERRULE_CODEGEN_EMIT_CODEIMAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::ferrule {

/// What the code generator knows about a CPU target.
struct CpuTarget {
  /// The name in artifacts and options: "x86-64-v3", "x86-64-v4",
  /// "aarch64", "aarch64-dotprod".
  llvm::StringRef name;
  llvm::StringRef triple;
  llvm::StringRef cpu;
  /// Extra LLVM features, comma separated.
  llvm::StringRef features;
  /// Bits of the vector registers that the generated code may use.
  unsigned vectorBits;
  /// Whether one instruction loads or stores the lanes of a mask.
  bool hasMaskedMemory;
};

/// All CPU targets, worst first within an architecture.
llvm::ArrayRef<CpuTarget> getCpuTargets();

/// The target called `name`, or null.
const CpuTarget *findCpuTarget(llvm::StringRef name);

/// The name of the best target that this machine runs.
llvm::StringRef getHostTargetName();

/// What the position of an image must be a multiple of: the most that a section
/// asks for; where code finds data by pages (adrp), a page.
uint64_t getImageAlignment(const CpuTarget &target);

/// What LLVM generates code with; null, and why, if it lacks the target.
std::unique_ptr<llvm::TargetMachine> createTargetMachine(const CpuTarget &target, std::string &error);

/// A relocatable object of all that the module defines.
llvm::Error emitObject(llvm::Module &module, llvm::TargetMachine &machine, llvm::SmallVectorImpl<char> &object);

/// Some kernels of an image, compiled and not linked yet.
struct CompiledKernels {
  /// A relocatable object.
  llvm::SmallVector<char, 0> object;
  /// Wall time that making it took, by step.
  std::vector<std::pair<llvm::StringRef, double>> seconds;
};

struct CodeImage {
  /// Code and read-only data; needs no relocation and imports nothing.
  std::vector<uint8_t> bytes;
  /// Position of each requested function in `bytes`; those whose code came out
  /// the same have the same.
  std::vector<uint64_t> offsets;
  /// Wall time that making it took, by step.
  std::vector<std::pair<llvm::StringRef, double>> seconds;
};

/// Compiles `functions`, which the LLVM bitcode `moduleBitcode` defines among
/// others, for `target`. Thread-safe.
llvm::Expected<CompiledKernels> compileKernels(llvm::StringRef moduleBitcode, llvm::ArrayRef<std::string> functions,
                                               const CpuTarget &target);

/// One image of all parts, which define `functions` between them. One link for all of them: each image begins with a page
/// of its own, constants that several parts use stand once, and functions with the same code are one. Thread-safe. Fails
/// if a symbol stays undefined, naming it, or if the image would need relocations or writable data.
llvm::Expected<CodeImage> linkCodeImage(llvm::ArrayRef<CompiledKernels> parts, llvm::ArrayRef<std::string> functions,
                                        const CpuTarget &target);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_CODEIMAGE_H
