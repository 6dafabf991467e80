//===- ProgramStore.h - Compiled fragments on disk ------------------------===//
//
// What dynamic mode compiled once need not be compiled by the next process. A
// file holds one artifact and is named after the hash of everything that it was
// made from. Files are written whole and renamed into place, so that processes
// can share a folder; a damaged one is found by the loader, which verifies each
// artifact, and written anew.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_PROGRAMSTORE_H
#define FERRULE_FRONTEND_CORE_PROGRAMSTORE_H

#include "frontend/core/ArtifactFile.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace ferrule::frontend {

class ProgramStore {
public:
  /// `folder` is made when the first program is kept. `version` names the
  /// compiler and the machine's CPU level: programs of another are not found.
  ProgramStore(std::string folder, std::string version, uint64_t maxBytes)
      : folder(std::move(folder)), version(std::move(version)), maxBytes(maxBytes) {}

  /// The name under which the program of `module` is kept.
  std::string getName(mlir::ModuleOp module) const;

  /// The name under which a program with variables is kept: `module` without their values, which `contents` stands for
  /// together with whatever else it was made from. Lines of the user's program count.
  std::string getName(mlir::ModuleOp module, llvm::StringRef contents) const;

  /// The artifact called `name`, if it is there. It may be damaged.
  std::optional<std::vector<uint8_t>> find(llvm::StringRef name) const;

  /// The path of the artifact called `name`, if it is there.
  std::optional<std::string> findPath(llvm::StringRef name) const;

  /// Keeps an artifact. A disk that is full or not writable is no error: the
  /// program runs from memory. Nor is one that takes more than half of `maxBytes`, which is not kept. Once in a while removes the files that were used
  /// least recently, until the rest takes `maxBytes` at most.
  void keep(llvm::StringRef name, llvm::ArrayRef<uint8_t> artifact);
  void keep(llvm::StringRef name, const ArtifactFile &artifact);

private:
  std::string getPath(llvm::StringRef name) const;
  void keep(llvm::StringRef name, uint64_t byteSize, llvm::function_ref<bool(int file)> write);
  void removeOldest() const;

  std::string folder, version;
  uint64_t maxBytes;
  uint64_t bytesSinceSweep = UINT64_MAX; ///< The first file kept sweeps.
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_PROGRAMSTORE_H
