//===- Apply.h - The one way into the op stream ---------------------------===//
#ifndef FERRULE_FRONTEND_CORE_APPLY_H
#define FERRULE_FRONTEND_CORE_APPLY_H

#include "frontend/core/OpCall.h"

#include "llvm/Support/Error.h"

namespace ferrule::frontend {

class OpStream;

/// Records one call of an op in `stream`: dimension expansion, promotion,
/// broadcasting, then the op itself, whose type rule runs at once, so that an
/// error appears at the user's line. Returns one handle a result.
///
/// One name is not an op of the dialect: "full" (attributes shape, value,
/// dtype) is a constant and its broadcast.
llvm::Expected<llvm::SmallVector<TensorRef, 2>> apply(OpStream &stream, const OpCall &call);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_APPLY_H
