//===- MarkCheckpoint.cpp - What the user wants to be computed again ------===//

#include "frontend/core/MarkCheckpoint.h"

#include "ir/graph/ControlFlow.h"
#include "passes/recompute/Marks.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace ferrule::frontend {

void markCheckpoint(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value> outputs) {
  llvm::DenseSet<mlir::Value> begins(inputs.begin(), inputs.end());
  llvm::DenseSet<mlir::Operation *> makers;
  for (mlir::Value output : outputs)
    makers.insert(output.getDefiningOp());

  // Backward from the outputs. Operands come first, so that an op knows whether one of them depends on an input.
  llvm::DenseMap<mlir::Operation *, bool> isOnTheWay;
  llvm::SmallVector<mlir::Operation *> work;
  auto visit = [&](mlir::Value value) {
    mlir::Operation *op = value.getDefiningOp();
    if (op && !begins.contains(value) && !isOnTheWay.count(op))
      work.push_back(op);
  };
  for (mlir::Value output : outputs)
    visit(output);
  while (!work.empty()) {
    mlir::Operation *op = work.back();
    size_t pending = work.size();
    for (mlir::Value operand : op->getOperands())
      visit(operand);
    if (work.size() > pending)
      continue;
    work.pop_back();
    bool depends = llvm::any_of(op->getOperands(), [&](mlir::Value operand) {
      return begins.contains(operand) || (operand.getDefiningOp() && isOnTheWay.lookup(operand.getDefiningOp()));
    });
    bool isNew = isOnTheWay.try_emplace(op, depends).second;
    bool isKept = makers.contains(op) && !mlir::isa<mlir::ferrule::ScanOp, mlir::ferrule::WhileOp>(op);
    if (isNew && depends && !isKept && !mlir::ferrule::isInCheckpoint(op->getLoc()))
      op->setLoc(mlir::ferrule::markCheckpoint(op->getLoc()));
  }
}

} // namespace ferrule::frontend
