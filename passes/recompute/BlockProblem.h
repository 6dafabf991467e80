// A block of dispatches, branches and loops as a RecomputeProblem, and a RecomputeSequence as a block again.
#ifndef FERRULE_PASSES_RECOMPUTE_BLOCKPROBLEM_H_
#define FERRULE_PASSES_RECOMPUTE_BLOCKPROBLEM_H_

#include "ir/dims/DimConstraints.h"
#include "passes/recompute/RecomputeProblem.h"

#include "mlir/IR/Block.h"

namespace mlir::ferrule {

/// Sizes and times are those at the upper ends of the dims' ranges; a dim without an end counts as 1. Node i is the i-th
/// dispatch, branch or loop of the block, and its reads are its operands, looked at through reshapes.
RecomputeProblem describeBlock(Block &block, const ::ferrule::DimConstraints &constraints);

/// Inserts the second runs. The block must be the described one, or a copy of it. New ops carry the attribute
/// `ferrule.recomputed`.
void applySequence(Block &block, const RecomputeSequence &sequence);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_BLOCKPROBLEM_H_
