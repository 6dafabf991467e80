//===- RecordEqualities.cpp - What a call claims about dims ---------------===//

#include "frontend/core/Transforms.h"
#include "ir/graph/Shape.h"

namespace ferrule::frontend {
namespace {

void claimEqual(const DimExpr &lhs, const DimExpr &rhs, OpStream &stream, const SourceLocation &location) {
  if (!stream.getConstraints().isEqual(lhs, rhs))
    stream.recordEquality(lhs, rhs, location);
}

} // namespace

void recordEqualities(mlir::Operation *op, OpStream &stream, const SourceLocation &location) {
  auto isStatic = [](mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()).hasStaticShape(); };
  if (llvm::all_of(op->getOperands(), isStatic) && llvm::all_of(op->getResults(), isStatic))
    return;
  if (auto reshape = llvm::dyn_cast<mlir::ferrule::ReshapeOp>(op)) {
    claimEqual(mlir::ferrule::getElementCount(reshape.getX()), mlir::ferrule::getElementCount(reshape.getResult()),
               stream, location);
    return;
  }
  auto broadcast = llvm::dyn_cast<mlir::ferrule::BroadcastToOp>(op);
  if (!broadcast)
    return;
  Shape from = getShape(broadcast.getX()), to = getShape(broadcast.getResult());
  // Axes align at the end.
  for (size_t axis = 1; axis <= from.size(); ++axis)
    if (from[from.size() - axis].getConstant() != 1)
      claimEqual(from[from.size() - axis], to[to.size() - axis], stream, location);
}

} // namespace ferrule::frontend
