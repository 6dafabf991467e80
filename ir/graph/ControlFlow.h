// Branches and loops, and what passes ask of all of them alike.
#ifndef FERRULE_IR_GRAPH_CONTROLFLOW_H_
#define FERRULE_IR_GRAPH_CONTROLFLOW_H_

#include "ir/graph/Dispatch.h"

#define GET_OP_CLASSES
#include "ir/graph/ControlFlow.h.inc"

namespace mlir::ferrule {

/// Whether the op is a branch or loop.
bool isControlFlow(Operation *op);

/// The operands that enter each region as its arguments, in their order. Types are equal, apart from the slices that
/// the body of a scan gets.
MutableArrayRef<OpOperand> getRegionOperands(Operation *op);

/// How many of the region operands are carries of a loop, which the body replaces in each step; 0 for a branch.
unsigned getCarryCount(Operation *op);

/// The number of the first region operand that is a capture: the same value in every step.
unsigned getFirstCapture(Operation *op);

/// What the region's block yields.
OperandRange getYielded(Region &region);

/// A slice of a tensor along its first axis: the type without it.
RankedTensorType getSliceType(RankedTensorType type);
/// A tensor of `count` slices of that type.
RankedTensorType getStackedType(const DimExpr &count, RankedTensorType slice);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_CONTROLFLOW_H_
