//===- RuntimeError.cpp - Refusals of the runtime -------------------------===//

#include "frontend/core/RuntimeError.h"

#include "frontend/core/Error.h"

#include "runtime/api/ferrule.h"

namespace ferrule::frontend {

llvm::Error toError(FerruleStatus *status) {
  if (!status)
    return llvm::Error::success();
  ErrorKind kind = ErrorKind::Execution;
  switch (ferrule_status_code(status)) {
  case kFerruleInvalidArtifact:
  case kFerruleNotFound:
    kind = ErrorKind::Artifact;
    break;
  case kFerruleUnsupported:
    kind = ErrorKind::Unsupported;
    break;
  default:
    break;
  }
  llvm::Error error = makeError(kind, ferrule_status_message(status));
  ferrule_status_release(status);
  return error;
}

} // namespace ferrule::frontend
