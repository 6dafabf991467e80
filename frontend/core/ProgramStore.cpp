//===- ProgramStore.cpp - Compiled fragments on disk ----------------------===//

#include "frontend/core/ProgramStore.h"

#include "ir/interfaces/FerruleOpInterface.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <chrono>

namespace ferrule::frontend {
namespace {

namespace fs = llvm::sys::fs;

constexpr llvm::StringLiteral extension = ".fer";

/// Whether a kernel of the program can fail and then names the user's line. Such
/// a program is another one where the line is another.
bool namesLines(mlir::ModuleOp module) {
  return module
      .walk([](mlir::ferrule::FerruleOpInterface op) {
        using mlir::ferrule::LoweringKind;
        LoweringKind kind = op.getLoweringKind();
        bool canFail = kind == LoweringKind::Library || kind == LoweringKind::Rows;
        return canFail ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

std::string makeName(llvm::StringRef version, llvm::StringRef contents, mlir::ModuleOp module, bool withLines) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << version << '\n' << contents << '\n';
  module.print(os, mlir::OpPrintingFlags().enableDebugInfo(withLines));
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return llvm::toHex(hash, /*LowerCase=*/true);
}

} // namespace

std::string ProgramStore::getName(mlir::ModuleOp module) const {
  return makeName(version, /*contents=*/"", module, namesLines(module));
}

std::string ProgramStore::getName(mlir::ModuleOp module, llvm::StringRef contents) const {
  return makeName(version, contents, module, /*withLines=*/true);
}

std::string ProgramStore::getPath(llvm::StringRef name) const {
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + extension);
  return std::string(path);
}

std::optional<std::string> ProgramStore::findPath(llvm::StringRef name) const {
  std::string path = getPath(name);
  if (!fs::is_regular_file(path))
    return std::nullopt;
  return path;
}

std::optional<std::vector<uint8_t>> ProgramStore::find(llvm::StringRef name) const {
  std::string path = getPath(name);
  int file = -1;
  if (fs::openFileForReadWrite(path, file, fs::CD_OpenExisting, fs::OF_None))
    return std::nullopt;
  auto buffer = llvm::MemoryBuffer::getOpenFile(file, path, /*FileSize=*/-1, /*RequiresNullTerminator=*/false,
                                                /*IsVolatile=*/true);
  // What was used last stays longest.
  if (buffer)
    (void)fs::setLastAccessAndModificationTime(file, std::chrono::system_clock::now());
  fs::closeFile(file);
  if (!buffer)
    return std::nullopt;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

void ProgramStore::keep(llvm::StringRef name, llvm::ArrayRef<uint8_t> artifact) {
  keep(name, artifact.size(), [&](int file) {
    llvm::raw_fd_ostream os(file, /*shouldClose=*/false);
    os.write(reinterpret_cast<const char *>(artifact.data()), artifact.size());
    os.flush();
    bool isComplete = !os.has_error();
    os.clear_error();
    return isComplete;
  });
}

void ProgramStore::keep(llvm::StringRef name, const ArtifactFile &artifact) {
  keep(name, artifact.size(), [&](int file) { return artifact.copyTo(file); });
}

void ProgramStore::keep(llvm::StringRef name, uint64_t byteSize, llvm::function_ref<bool(int file)> write) {
  if (byteSize > maxBytes / 2)
    return;
  // The folder holds machine code that this user runs: nobody else may write it.
  if (fs::create_directories(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return;
  std::string path = getPath(name);
  // Not fs::TempFile, which takes the process's signal handlers.
  llvm::SmallString<128> temporary;
  int file = -1;
  if (fs::createUniqueFile(path + ".%%%%%%%%.tmp", file, temporary, fs::OF_None, fs::owner_read | fs::owner_write))
    return;
  bool isComplete = write(file);
  isComplete = !fs::closeFile(file) && isComplete;
  if (!isComplete || fs::rename(temporary, path)) {
    (void)fs::remove(temporary);
    return;
  }
  bytesSinceSweep = llvm::SaturatingAdd<uint64_t>(bytesSinceSweep, byteSize);
  if (bytesSinceSweep < maxBytes / 8)
    return;
  removeOldest();
  bytesSinceSweep = 0;
}

void ProgramStore::removeOldest() const {
  struct File {
    std::string path;
    llvm::sys::TimePoint<> used;
    uint64_t size;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    llvm::StringRef name = entry->path();
    llvm::ErrorOr<fs::basic_file_status> status = entry->status();
    // What another process has not finished has another ending; a crash leaves it behind.
    bool isOurs = name.ends_with(extension) || name.ends_with(".tmp");
    if (!isOurs || !status || status->type() != fs::file_type::regular_file)
      continue;
    files.push_back({entry->path(), status->getLastModificationTime(), status->getSize()});
    total += status->getSize();
  }
  llvm::sort(files, [](const File &a, const File &b) { return a.used < b.used; });
  for (const File &file : files) {
    if (total <= maxBytes)
      return;
    if (!fs::remove(file.path))
      total -= file.size;
  }
}

} // namespace ferrule::frontend
