// Ops that find out while they run how many elements there are.
#ifndef FERRULE_IR_GRAPH_NONZERO_H_
#define FERRULE_IR_GRAPH_NONZERO_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Nonzero.h.inc"

namespace mlir::ferrule {

/// A dim that takes the value of an op's result, an int64 tensor of rank 0.
struct CountedDim {
  std::string name;
  Value count;
  /// The most that it can be, over dims that have values before.
  ::ferrule::DimExpr most;
};

/// The dim that `op`, or the op in it if it is a dispatch, gives a value; none for nearly all ops.
std::optional<CountedDim> getCountedDim(Operation *op);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_NONZERO_H_
