//===- SourceLocation.h - The user's line ---------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_SOURCELOCATION_H
#define FERRULE_FRONTEND_CORE_SOURCELOCATION_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace ferrule::frontend {

/// A line of the user's program; line 0 means that it is not known. Every op and
/// tensor has one, so it is two words: the name is one that is never freed.
struct SourceLocation {
  llvm::StringRef file;
  unsigned line = 0;

  /// Parses "dir/file.py:12". A text without a line number is a file name.
  static SourceLocation parse(llvm::StringRef text);

  bool isKnown() const { return !file.empty(); }

  /// "dir/file.py:12", or "an unknown line".
  std::string str() const;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_SOURCELOCATION_H
