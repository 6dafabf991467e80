//===- IndexMap.h - Where a computed element lies in memory ---*- C++ -*-===//
//
// A kernel visits a domain: a list of loop variables with sizes. Every tensor
// it touches is read or written at an affine function of the variables; index
// maps (transpose, broadcast, slice) compose into that function. Variables that
// all tensors treat as one contiguous run are merged, so most kernels end with
// one or two.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_COMMON_INDEXMAP_H
#define FERRULE_CODEGEN_COMMON_INDEXMAP_H

#include "ir/graph/Shapes.h"

#include "mlir/IR/Operation.h"

namespace mlir::ferrule {

/// offset + sum of coefficients[v] * variable v; a coefficient list shorter than the domain ends in zeros.
struct AffineIndex {
  DimExpr offset = 0;
  SmallVector<DimExpr> coefficients;

  static AffineIndex variable(unsigned index);
  void addScaled(const AffineIndex &other, const DimExpr &factor);
  DimExpr getCoefficient(unsigned variable) const {
    return variable < coefficients.size() ? coefficients[variable] : DimExpr(0);
  }
};

/// The index of one element: one affine function an axis.
using ElementIndex = SmallVector<AffineIndex>;

/// Variable v along axis v, for a tensor of rank `rank`, the first variable being `first`.
ElementIndex getIdentityIndex(unsigned rank, unsigned first = 0);

/// The index into operand `operand` of `view` (transpose, broadcast_to, slice) that its result's `index` reads.
ElementIndex mapThroughView(Operation *view, const ElementIndex &index);

/// The row-major element offset of `index` in a tensor with sizes `dims`.
AffineIndex getElementOffset(ArrayRef<DimExpr> dims, const ElementIndex &index);

/// A run of consecutive domain variables that act as one. `first`..`last` inclusive; its stride is the last one's.
struct VariableRun {
  unsigned first, last;
  DimExpr size = 1;
};

/// Merges neighbours in `variables` where every access allows it. Sizes of 1 disappear; an empty list stands for one
/// element.
SmallVector<VariableRun> mergeVariables(ArrayRef<unsigned> variables, ArrayRef<DimExpr> sizes,
                                        ArrayRef<AffineIndex> accesses);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_INDEXMAP_H
