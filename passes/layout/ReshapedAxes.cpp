#include "passes/layout/ReshapedAxes.h"

using namespace mlir;
using namespace mlir::ferrule;

std::optional<SmallVector<ReshapedAxes>> mlir::ferrule::splitReshape(ArrayRef<DimExpr> from,
                                                                    ArrayRef<DimExpr> to) {
  SmallVector<ReshapedAxes> parts;
  unsigned i = 0, j = 0;
  /// The end of the shortest run of axes from `begin` on with `product` elements, or 0.
  auto findEnd = [](ArrayRef<DimExpr> dims, unsigned begin, const DimExpr &product) -> unsigned {
    DimExpr run = 1;
    for (unsigned end = begin; end < dims.size(); ++end)
      if (run = run * dims[end]; run == product)
        return end + 1;
    return 0;
  };
  while (i < from.size() && j < to.size()) {
    ReshapedAxes part{i, 0, j, 0};
    DimExpr product = 1;
    for (unsigned end = i; end < from.size() && part.end == 0; ++end) {
      product = product * from[end];
      if (unsigned resultEnd = findEnd(to, j, product))
        part = {i, end + 1, j, resultEnd};
    }
    if (part.end == 0)
      return std::nullopt;
    parts.push_back(part);
    i = part.end;
    j = part.resultEnd;
  }
  // Axes of size 1 at the end.
  for (const DimExpr &dim : from.drop_front(i))
    if (dim != DimExpr(1))
      return std::nullopt;
  for (const DimExpr &dim : to.drop_front(j))
    if (dim != DimExpr(1))
      return std::nullopt;
  if (parts.empty())
    return std::nullopt;
  parts.back().end = from.size();
  parts.back().resultEnd = to.size();
  return parts;
}
