// The order of dispatches, for passes that change what is live.
#ifndef FERRULE_PASSES_SCHEDULE_SCHEDULE_H_
#define FERRULE_PASSES_SCHEDULE_SCHEDULE_H_

#include "ir/dims/DimConstraints.h"

#include "mlir/IR/Block.h"

namespace mlir::ferrule {

/// Moves what leaves less live than it finds to where it can run first: a weight's gradient and update, which the
/// program has behind the whole backward pass, to what they read. Blocks of branches and loops get the order that the
/// pass `schedule` gives them.
void freeEarly(Block &block, const ::ferrule::DimConstraints &constraints);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_SCHEDULE_SCHEDULE_H_
