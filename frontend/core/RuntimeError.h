//===- RuntimeError.h - Refusals of the runtime ---------------------------===//
#ifndef FERRULE_FRONTEND_CORE_RUNTIMEERROR_H
#define FERRULE_FRONTEND_CORE_RUNTIMEERROR_H

#include "llvm/Support/Error.h"

struct FerruleStatus;

namespace ferrule::frontend {

/// Consumes `status`; success for null.
llvm::Error toError(FerruleStatus *status);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_RUNTIMEERROR_H
