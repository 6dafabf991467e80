// What the patterns of attention are made of.
#ifndef FERRULE_PASSES_ATTENTION_PATTERNS_H_
#define FERRULE_PASSES_ATTENTION_PATTERNS_H_

#include "ir/graph/Shapes.h"

#include <optional>

namespace mlir::ferrule {

template <typename Op> Op getDefining(Value value) { return value ? value.getDefiningOp<Op>() : Op(); }

int64_t getRank(Value value);

/// The one value of all elements of a constant, also a broadcast one.
std::optional<double> getNumber(Value value);
/// Whether that is `wanted`, which may be NaN.
bool isNumber(Value value, double wanted);

Value dropBroadcasts(Value value);

/// Whether the op is a reshape that leaves the last two axes alone.
bool isBatchReshape(Operation *op);
/// What stands before such reshapes; with `owned` only if each is read by nobody else.
Value dropBatchReshapes(Value value, bool owned);
/// Who reads the value, also through such reshapes.
SmallVector<OpOperand *> getReaders(Value value);

/// x - x: 0, or NaN where x is not finite.
bool isSelfDifference(Value value, Value x);
/// x - x == 0
bool isFiniteMask(Value value, Value x);
/// The x of where(x is finite, x, 0).
Value matchFinite(Value value);
/// The x of where(x == number, instead, x).
Value matchReplaced(Value value, double number, double instead);
/// The mask of where(mask, x, otherwise); x goes to `out_x`.
Value matchWhere(Value value, double otherwise, Value &out_x);

/// The x of a reduction along the last axis of x.
template <typename Reduction> Value matchRowReduction(Value value) {
  auto op = getDefining<Reduction>(value);
  if (!op || op.getAxes() != ArrayRef<int64_t>{getRank(op.getX()) - 1})
    return {};
  return op.getX();
}

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_ATTENTION_PATTERNS_H_
