//===- SourceLocation.cpp - The user's line -------------------------------===//

#include "frontend/core/SourceLocation.h"

namespace ferrule::frontend {

SourceLocation SourceLocation::parse(llvm::StringRef text) {
  SourceLocation location;
  auto [file, line] = text.rsplit(':');
  if (line.empty() || line.getAsInteger(10, location.line)) {
    location.file = text.str();
    return location;
  }
  location.file = file.str();
  return location;
}

std::string SourceLocation::str() const {
  if (!isKnown())
    return "an unknown line";
  return line ? file + ":" + std::to_string(line) : file;
}

} // namespace ferrule::frontend
