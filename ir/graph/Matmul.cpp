#include "ir/graph/Matmul.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

LogicalResult MatmulOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value a = adaptor.getA(), b = adaptor.getB();
  auto fail = [&](const Twine &rule) {
    return failInference(location, "matmul",
                         "a is " + describe(a) + (adaptor.getTransposeA() ? " transposed" : "") + " and b is " +
                             describe(b) + (adaptor.getTransposeB() ? " transposed" : "") + "; " + rule);
  };
  if (failed(checkKind(location, "matmul", "a", a, ElementKind::Float)))
    return failure();
  if (getElementType(a) != getElementType(b))
    return fail("they must have one dtype (cast first)");
  Dims left = getDims(a), right = getDims(b);
  size_t rank = left.size();
  if (rank < 2 || right.size() != rank)
    return fail("both must have the same number of axes, at least 2");
  if (ArrayRef<DimExpr>(left).drop_back(2) != ArrayRef<DimExpr>(right).drop_back(2))
    return fail("the axes before the last two must be equal (broadcast first)");
  if (adaptor.getTransposeA())
    std::swap(left[rank - 1], left[rank - 2]);
  if (adaptor.getTransposeB())
    std::swap(right[rank - 1], right[rank - 2]);
  if (left[rank - 1] != right[rank - 2])
    return fail("the inner sizes " + left[rank - 1].str() + " and " + right[rank - 2].str() + " must be equal");
  left[rank - 1] = right[rank - 1];
  return addType(location, "matmul", getElementType(a), left, types);
}

DimExpr MatmulOp::getInnerSize() {
  Dims dims = getDims(getA());
  return dims[dims.size() - (getTransposeA() ? 2 : 1)];
}

bool packsRightOperand(const DimExpr &m, const DimExpr &n, const DimExpr &k) {
  // Of fewer rows each copied line serves few tiles; of fewer k's or columns the first-level cache holds most of a
  // panel. More k's are no single block of the sum.
  constexpr int64_t leastRows = 64, leastColumns = 128, leastDepth = 64, mostDepth = 4096;
  std::optional<int64_t> rows = m.getConstant(), columns = n.getConstant(), depth = k.getConstant();
  return (!rows || *rows >= leastRows) && columns && *columns >= leastColumns && depth && *depth >= leastDepth &&
         *depth <= mostDepth;
}

bool MatmulOp::packsRightOperand() {
  Dims sizes = getDims(getResult());
  return ::mlir::ferrule::packsRightOperand(sizes[sizes.size() - 2], sizes.back(), getInnerSize());
}

/// With C = op(A) op(B): dA = dC op(B)^T and dB = op(A)^T dC, written so that no transpose op is needed.
LogicalResult MatmulOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value left = getA(), right = getB(), g = cotangents[0];
  bool ta = getTransposeA(), tb = getTransposeB();
  gradients[0] = ta ? b.create<MatmulOp>(right, g, tb, true) : b.create<MatmulOp>(g, right, false, !tb);
  gradients[1] = tb ? b.create<MatmulOp>(g, left, true, ta) : b.create<MatmulOp>(left, g, !ta, false);
  return success();
}

LogicalResult DotOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  Value a = adaptor.getA(), b = adaptor.getB();
  if (failed(checkKind(location, "dot", "a", a, ElementKind::Float)))
    return failure();
  Dims dims = getDims(a);
  if (getElementType(a) != getElementType(b) || dims != getDims(b) || dims.empty())
    return failInference(location, "dot",
                         "a is " + describe(a) + " and b is " + describe(b) +
                             "; they must have one dtype and one shape, of at least one axis");
  return addType(location, "dot", getElementType(a), ArrayRef<DimExpr>(dims).drop_back(), types);
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Matmul.cpp.inc"

void mlir::ferrule::registerMatmulOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Matmul.cpp.inc"
      >();
}
