// Symbolic shapes of tensor types.
#ifndef FERRULE_IR_GRAPH_SHAPES_H_
#define FERRULE_IR_GRAPH_SHAPES_H_

#include "ir/graph/FerruleDialect.h"

#include "mlir/IR/Value.h"

#include <string>

namespace mlir::ferrule {

using Dims = SmallVector<DimExpr>;

/// Whether every size of the type is known: static, or named by a #ferrule.dims encoding.
bool hasDims(RankedTensorType type);

/// The sizes, outermost first. The type must satisfy hasDims.
Dims getDims(RankedTensorType type);
Dims getDims(Value value);

/// The tensor type with these sizes; it carries an encoding only if a size is not constant.
RankedTensorType makeTensorType(Type elementType, ArrayRef<DimExpr> dims);

/// The product of all sizes.
DimExpr getElementCount(ArrayRef<DimExpr> dims);
DimExpr getElementCount(Value value);

/// Bytes of the dense row-major tensor: elements times the element's size rounded up to whole bytes (bool is 1).
DimExpr getByteCount(RankedTensorType type);

/// How messages write things: `float32`, `[batch, 3]`, `float32[batch, 3]`.
std::string describe(Type elementType);
std::string describe(ArrayRef<DimExpr> dims);
std::string describe(Value value);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_SHAPES_H_
