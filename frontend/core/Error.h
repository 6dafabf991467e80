//===- Error.h - What the front end can refuse ----------------------------===//
//
// Every refusal is an llvm::Error that carries a kind (which Python class to
// raise) and one complete text for the user. The core throws nothing.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_ERROR_H
#define FERRULE_FRONTEND_CORE_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ferrule::frontend {

/// One kind per class of `ferrule.errors`.
enum class ErrorKind {
  Trace,       ///< A value, or an undecided dim, was needed while tracing.
  Shape,       ///< Shapes that an op or a variable does not accept.
  DType,       ///< Element types that an op or a variable does not accept.
  Gradient,    ///< A gradient that does not exist.
  Unsupported, ///< Something Ferrule does not do (yet).
  Budget,      ///< More memory than memory_budget is needed.
  Artifact,    ///< The program could not be written or opened.
  Execution,   ///< The program failed while it ran.
  Value        ///< A malformed argument: unknown op, bad attribute, bad name.
};

/// The Python class name for `kind`, e.g. "TraceError".
const char *getClassName(ErrorKind kind);

llvm::Error makeError(ErrorKind kind, const llvm::Twine &message);

/// The same error as plain data, for a caller built with other flags.
struct ErrorText {
  ErrorKind kind;
  std::string message;
};

/// Consumes `error`, which must be a failure. An error that is not one of ours
/// comes back as ErrorKind::Value.
ErrorText takeErrorText(llvm::Error error);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_ERROR_H
