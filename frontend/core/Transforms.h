//===- Transforms.h - What happens to a call before its op is made --------===//
//
// `apply` sends every call of every op through the same transformations, in
// this order. Each stands in the file of its name and works on PendingCall.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_TRANSFORMS_H
#define FERRULE_FRONTEND_CORE_TRANSFORMS_H

#include "frontend/core/GraphOps.h"
#include "frontend/core/OpCall.h"

namespace ferrule::frontend {

/// An operand on its way: a graph value, or a scalar that has no type yet.
struct PendingOperand {
  mlir::Value value; ///< Null for an absent operand and a scalar.
  std::optional<Scalar> scalar;
  bool isWeak = false; ///< A dim: a value, but weak in promotion.

  bool isAbsent() const { return !value && !scalar; }
};

struct PendingCall {
  const OpCall &call;
  CallSite site;
  llvm::SmallVector<PendingOperand, 4> operands;
};

/// Dimension expansion: tensors become values of the stream, dims become
/// `ferrule.dim`; scalars wait for promotion to give them a type.
llvm::Error resolveOperands(PendingCall &call, OpStream &stream);

/// Dtype promotion and scalar expansion: casts by the op's PromotionRule, and
/// scalars become rank-0 constants of the type the op computes in.
llvm::Error promoteOperands(PendingCall &call, OpStream &stream);

/// Broadcasting by NumPy's rule, written into the graph: elementwise ops get
/// operands of one shape, contractions operands of equal batch dims. Unequal
/// symbolic dims that meet record an equality.
llvm::Error broadcastOperands(PendingCall &call, OpStream &stream);

/// After the op is made: where its type rule takes sizes as equal that the dims
/// leave open (reshape, broadcast_to), records that they must be.
void recordEqualities(mlir::Operation *op, OpStream &stream, const SourceLocation &location);

/// The shape to which `lhs` and `rhs` broadcast, recording equalities in
/// `stream`; a ShapeError if they cannot.
llvm::Expected<Shape> broadcastShapes(llvm::ArrayRef<DimExpr> lhs, llvm::ArrayRef<DimExpr> rhs, OpStream &stream,
                                      const PendingCall &call);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_TRANSFORMS_H
