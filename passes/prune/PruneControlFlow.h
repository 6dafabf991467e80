// Results of branches and loops that nobody reads, and operands that no region needs.
#ifndef FERRULE_PASSES_PRUNE_PRUNECONTROLFLOW_H_
#define FERRULE_PASSES_PRUNE_PRUNECONTROLFLOW_H_

#include "mlir/IR/Operation.h"

namespace mlir::ferrule {

/// Replaces a branch or loop by one without the results that nobody reads, the carries that only carry themselves, and
/// the operands that its regions do not need. Returns it, or `op` if nothing is left out.
Operation *pruneControlFlow(Operation *op);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_PRUNE_PRUNECONTROLFLOW_H_
