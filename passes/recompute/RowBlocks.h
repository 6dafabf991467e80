// Dispatches whose rows can be computed a block at a time.
#ifndef FERRULE_PASSES_RECOMPUTE_ROWBLOCKS_H_
#define FERRULE_PASSES_RECOMPUTE_ROWBLOCKS_H_

#include "ir/dims/DimExpr.h"
#include "ir/graph/Dispatch.h"

#include <optional>

namespace mlir::ferrule {

/// Of a dispatch with one result whose rows, along the leading axis, do not depend on one another: products of rows
/// with a matrix, and what is computed element for element. By input: whether row i of the result needs row i of it
/// alone; of the others it may need all. None for any other dispatch. No sum runs over rows, so a block of them has the
/// bits that it has in the whole.
std::optional<SmallVector<bool>> findRowInputs(DispatchOp dispatch);

/// The dispatch for which findRowInputs has an answer and whose result, its leading axis split, is the stacked value of
/// so many steps. Null if there is none, or if the result is read other than as the stacked value.
DispatchOp findRowMaker(Value stacked, int64_t steps);

/// The dispatch, for which findRowInputs has an answer, for `rows` rows: `operands` has as many of each such input, and
/// the other inputs whole.
DispatchOp createRowBlock(OpBuilder &builder, DispatchOp dispatch, ValueRange operands, const DimExpr &rows);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_RECOMPUTE_ROWBLOCKS_H_
