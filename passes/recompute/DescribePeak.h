// What an arena is full of at its fullest moment, in the user's terms.
#ifndef FERRULE_PASSES_RECOMPUTE_DESCRIBEPEAK_H_
#define FERRULE_PASSES_RECOMPUTE_DESCRIBEPEAK_H_

#include "passes/memory/MemoryPlan.h"

#include "mlir/IR/Diagnostics.h"

namespace mlir::ferrule {

/// Adds notes to `error`: the largest buffers that are live when most bytes are, each with its bytes, what makes it and
/// the user's line.
void describePeak(const EntryPlan &plan, InFlightDiagnostic &error);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_DESCRIBEPEAK_H_
