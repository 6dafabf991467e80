// What the families' type rules share: operand checks, shape arithmetic and the wording of their errors.
// Every error reads `op: what was given; what is allowed`.
#ifndef FERRULE_IR_GRAPH_INFERENCE_H_
#define FERRULE_IR_GRAPH_INFERENCE_H_

#include "ir/graph/Shapes.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

namespace mlir::ferrule {

/// Classes of dtypes that an op accepts.
enum class ElementKind {
  Any,    ///< float, integer or bool
  Number, ///< float or integer
  Float,
  Integer,
  Bool
};

using MaybeLocation = std::optional<Location>;
using InferredTypes = SmallVectorImpl<Type>;

/// Emits `op: message` at the location, if there is one, and fails.
LogicalResult failInference(MaybeLocation location, StringRef op, const Twine &message);

/// The number of operands, and that each is a ranked tensor with known dims of a supported dtype.
LogicalResult checkOperands(MaybeLocation location, StringRef op, ValueRange operands, unsigned least, unsigned most);

LogicalResult checkKind(MaybeLocation location, StringRef op, StringRef operandName, Value operand, ElementKind kind);
LogicalResult checkSameType(MaybeLocation location, StringRef op, StringRef nameA, Value a, StringRef nameB, Value b);
LogicalResult checkRank(MaybeLocation location, StringRef op, StringRef operandName, Value operand, int64_t rank);
/// Fails if a required attribute was not given.
LogicalResult checkPresent(MaybeLocation location, StringRef op, StringRef attributeName, Attribute attribute);
/// Each axis in [0, rank), none twice.
LogicalResult checkAxes(MaybeLocation location, StringRef op, StringRef attributeName, ArrayRef<int64_t> axes,
                        Value operand);
/// The sizes that remain when `axes` are removed, or with keepdims made 1.
Dims removeAxes(ArrayRef<DimExpr> dims, ArrayRef<int64_t> axes, bool keepdims = false);
/// Adds the tensor type, or fails with a message if a size is invalid or negative.
LogicalResult addType(MaybeLocation location, StringRef op, Type elementType, ArrayRef<DimExpr> dims,
                      InferredTypes &types);

Type getElementType(Value value);
bool isFloat(Value value);

// Type rules of whole classes of ops, named by the .td files.
LogicalResult inferUnary(MaybeLocation location, StringRef op, Value x, ElementKind kind, InferredTypes &types);
LogicalResult inferBinary(MaybeLocation location, StringRef op, Value x, Value y, ElementKind kind,
                          InferredTypes &types);
LogicalResult inferComparison(MaybeLocation location, StringRef op, Value x, Value y, ElementKind kind,
                              InferredTypes &types);
LogicalResult inferReduction(MaybeLocation location, StringRef op, Value x, DenseI64ArrayAttr axes, bool keepdims,
                             InferredTypes &types);
LogicalResult inferArgReduction(MaybeLocation location, StringRef op, Value x, IntegerAttr axis, bool keepdims,
                                InferredTypes &types);
LogicalResult inferSoftmax(MaybeLocation location, StringRef op, Value x, IntegerAttr axis, InferredTypes &types);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_INFERENCE_H_
