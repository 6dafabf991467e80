#ifndef FERRULE_IR_GRAPH_MATMUL_H_
#define FERRULE_IR_GRAPH_MATMUL_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Matmul.h.inc"

namespace mlir::ferrule {

/// Whether the kernel of an [m, k] by [k, n] product copies the panels of a row-major right operand before it reads
/// them, which may stand transposed then: there are rows enough to share the copy, and its size is known and bounded.
bool packsRightOperand(const ::ferrule::DimExpr &m, const ::ferrule::DimExpr &n, const ::ferrule::DimExpr &k);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_MATMUL_H_
