//===- MarkCheckpoint.h - What the user wants to be computed again --------===//
#ifndef FERRULE_FRONTEND_CORE_MARKCHECKPOINT_H
#define FERRULE_FRONTEND_CORE_MARKCHECKPOINT_H

#include "mlir/IR/Value.h"

namespace ferrule::frontend {

/// Marks the ops on the ways from `inputs` to `outputs`, all of one block, as in
/// passes/recompute/Marks.h: their results are not kept for the gradients. The
/// outputs themselves are. A loop that makes an output is marked, too: what it
/// keeps of its steps is not its output.
void markCheckpoint(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value> outputs);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_MARKCHECKPOINT_H
