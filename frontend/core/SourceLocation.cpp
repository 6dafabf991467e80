//===- SourceLocation.cpp - The user's line -------------------------------===//

#include "frontend/core/SourceLocation.h"

#include "llvm/ADT/StringSet.h"

#include <mutex>

namespace ferrule::frontend {
namespace {

/// The one copy of a file's name.
llvm::StringRef intern(llvm::StringRef name) {
  static std::mutex mutex;
  static auto *names = new llvm::StringSet<>;
  std::lock_guard<std::mutex> lock(mutex);
  return names->insert(name).first->getKey();
}

} // namespace

SourceLocation SourceLocation::parse(llvm::StringRef text) {
  SourceLocation location;
  if (text.empty())
    return location;
  auto [file, line] = text.rsplit(':');
  if (line.empty() || line.getAsInteger(10, location.line)) {
    location.file = intern(text);
    return location;
  }
  location.file = intern(file);
  return location;
}

std::string SourceLocation::str() const {
  if (!isKnown())
    return "an unknown line";
  return line ? file.str() + ":" + std::to_string(line) : file.str();
}

} // namespace ferrule::frontend
