//===- IndexMap.cpp - Where a computed element lies in memory -------------===//

#include "codegen/common/IndexMap.h"

#include "ir/graph/Shape.h"

using namespace mlir;
using namespace mlir::ferrule;

AffineIndex AffineIndex::variable(unsigned index) {
  AffineIndex result;
  result.coefficients.resize(index + 1, DimExpr(0));
  result.coefficients[index] = DimExpr(1);
  return result;
}

void AffineIndex::addScaled(const AffineIndex &other, const DimExpr &factor) {
  offset = offset + other.offset * factor;
  if (coefficients.size() < other.coefficients.size())
    coefficients.resize(other.coefficients.size(), DimExpr(0));
  for (auto [v, coefficient] : llvm::enumerate(other.coefficients))
    coefficients[v] = coefficients[v] + coefficient * factor;
}

ElementIndex mlir::ferrule::getIdentityIndex(unsigned rank, unsigned first) {
  ElementIndex index;
  for (unsigned axis = 0; axis < rank; ++axis)
    index.push_back(AffineIndex::variable(first + axis));
  return index;
}

ElementIndex mlir::ferrule::mapThroughView(Operation *view, const ElementIndex &index) {
  ElementIndex source;
  if (auto transpose = dyn_cast<TransposeOp>(view)) {
    source.resize(index.size());
    for (auto [axis, from] : llvm::enumerate(transpose.getPattern()))
      source[from] = index[axis];
    return source;
  }
  if (auto broadcast = dyn_cast<BroadcastToOp>(view)) {
    Dims from = getDims(broadcast.getX()), to = getDims(broadcast.getResult());
    unsigned missing = to.size() - from.size();
    for (auto [axis, size] : llvm::enumerate(from))
      source.push_back(size == DimExpr(1) && to[axis + missing] != DimExpr(1) ? AffineIndex()
                                                                              : index[axis + missing]);
    return source;
  }
  auto slice = cast<SliceOp>(view);
  for (auto [axis, position] : llvm::enumerate(index)) {
    AffineIndex scaled;
    scaled.offset = slice.getStarts().getDims()[axis];
    scaled.addScaled(position, DimExpr(slice.getSteps()[axis]));
    source.push_back(scaled);
  }
  return source;
}

AffineIndex mlir::ferrule::getElementOffset(ArrayRef<DimExpr> dims, const ElementIndex &index) {
  AffineIndex offset;
  DimExpr stride = 1;
  for (unsigned axis = dims.size(); axis-- > 0;) {
    offset.addScaled(index[axis], stride);
    stride = stride * dims[axis];
  }
  return offset;
}

SmallVector<VariableRun> mlir::ferrule::mergeVariables(ArrayRef<unsigned> variables, ArrayRef<DimExpr> sizes,
                                                       ArrayRef<AffineIndex> accesses) {
  SmallVector<VariableRun> runs;
  for (unsigned variable : variables) {
    if (sizes[variable] == DimExpr(1))
      continue;
    bool merges = !runs.empty() && llvm::all_of(accesses, [&](const AffineIndex &access) {
      return access.getCoefficient(runs.back().last) == access.getCoefficient(variable) * sizes[variable];
    });
    if (merges) {
      runs.back().last = variable;
      runs.back().size = runs.back().size * sizes[variable];
    } else {
      runs.push_back(VariableRun{variable, variable, sizes[variable]});
    }
  }
  return runs;
}
