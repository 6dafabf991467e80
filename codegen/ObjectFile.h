//===- ObjectFile.h - A program as an object for a linker -----*- C++ -*-===//
//
// Where no memory may become executable while a product runs, the linker puts the
// kernels into the product's own code: an object file holds them, the artifact
// that calls them by name, and the table by which the runtime finds them.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_OBJECTFILE_H
#define FERRULE_CODEGEN_OBJECTFILE_H

#include "codegen/emit/CodeImage.h"
#include "serialize/writer/program_description.h"

#include "llvm/ADT/SmallVector.h"

namespace mlir::ferrule {

struct ObjectFile {
  /// A relocatable ELF object. With `net` as its name it defines, all read-only,
  ///   net_artifact       the artifact's bytes, at a multiple of 64
  ///   net_artifact_size  their number, uint64
  ///   net_kernels        FerruleExternalKernel[], what the artifact calls
  ///   net_kernel_count   their number, uint32
  /// and the kernels as functions.
  llvm::SmallVector<char, 0> bytes;
  /// The C header that declares them and opens the program: `net_open`.
  std::string header;
};

/// The object of `program`, which has code for `target`, under the name `name`, an identifier of C. Kernels that the program
/// leaves to the product stay with it; the header then declares no `net_open`.
llvm::Expected<ObjectFile> makeObjectFile(::ferrule::serialize::ProgramDescription program, llvm::StringRef target,
                                          llvm::StringRef name);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_OBJECTFILE_H
