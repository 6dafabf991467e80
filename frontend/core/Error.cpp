//===- Error.cpp - What the front end can refuse --------------------------===//

#include "frontend/core/Error.h"

#include "llvm/Support/raw_ostream.h"

namespace ferrule::frontend {
namespace {

class FrontendError : public llvm::ErrorInfo<FrontendError> {
public:
  static char ID;

  FrontendError(ErrorKind kind, std::string message) : kind(kind), message(std::move(message)) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  ErrorKind kind;
  std::string message;
};

char FrontendError::ID = 0;

} // namespace

const char *getClassName(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::Trace:
    return "TraceError";
  case ErrorKind::Shape:
    return "ShapeError";
  case ErrorKind::DType:
    return "DtypeError";
  case ErrorKind::Gradient:
    return "GradientError";
  case ErrorKind::Unsupported:
    return "UnsupportedError";
  case ErrorKind::Budget:
    return "BudgetError";
  case ErrorKind::Artifact:
    return "ArtifactError";
  case ErrorKind::Execution:
    return "ExecutionError";
  case ErrorKind::Value:
    return "FerruleError";
  }
  return "FerruleError";
}

llvm::Error makeError(ErrorKind kind, const llvm::Twine &message) {
  return llvm::make_error<FrontendError>(kind, message.str());
}

ErrorText takeErrorText(llvm::Error error) {
  ErrorText text{ErrorKind::Value, {}};
  llvm::handleAllErrors(
      std::move(error),
      [&](const FrontendError &ours) {
        text.kind = ours.kind;
        text.message = ours.message;
      },
      [&](const llvm::ErrorInfoBase &other) { text.message = other.message(); });
  return text;
}

} // namespace ferrule::frontend
