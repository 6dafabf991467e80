#include "ir/graph/FerruleDialect.h"
#include "ir/graph/ModuleDims.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "passes/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::ferrule {

#define GEN_PASS_DEF_VERIFYINPUTPASS
#include "passes/Passes.h.inc"

namespace {

using ::ferrule::DimConstraints;

/// Each argument or result has a `ferrule.name`, and no two have the same.
LogicalResult verifyNames(FunctionOpInterface entry, StringRef what, unsigned count,
                          llvm::function_ref<StringAttr(unsigned)> getName) {
  llvm::StringMap<unsigned> seen;
  for (unsigned i = 0; i < count; ++i) {
    StringAttr name = getName(i);
    if (!name || name.empty())
      return entry->emitError() << "entry '" << entry.getName() << "': " << what << " " << i << " has no ferrule.name";
    auto [first, isNew] = seen.try_emplace(name.getValue(), i);
    if (!isNew)
      return entry->emitError() << "entry '" << entry.getName() << "': " << what << "s " << first->second << " and "
                                << i << " are both called '" << name.getValue() << "'";
  }
  return success();
}

LogicalResult verifyEntry(FunctionOpInterface entry) {
  if (!entry.getFunctionBody().hasOneBlock())
    return entry->emitError() << "entry '" << entry.getName() << "' must have a body of one block";
  auto argumentName = [&](unsigned i) { return entry.getArgAttrOfType<StringAttr>(i, "ferrule.name"); };
  auto resultName = [&](unsigned i) { return entry.getResultAttrOfType<StringAttr>(i, "ferrule.name"); };
  if (failed(verifyNames(entry, "input", entry.getNumArguments(), argumentName)) ||
      failed(verifyNames(entry, "output", entry.getNumResults(), resultName)))
    return failure();

  llvm::DenseMap<StringAttr, Operation *> assigned;
  WalkResult result = entry->walk([&](Operation *op) {
    if (isa<ReadOp, AssignOp>(op) && op->getParentOp() != entry.getOperation()) {
      op->emitError() << op->getName() << " must stand at the top level of its entry";
      return WalkResult::interrupt();
    }
    if (auto assign = dyn_cast<AssignOp>(op)) {
      auto [first, isNew] = assigned.try_emplace(assign.getVariableAttr().getAttr(), op);
      if (!isNew) {
        InFlightDiagnostic error = op->emitError() << "entry '" << entry.getName() << "' assigns the variable '"
                                                   << assign.getVariable() << "' twice";
        error.attachNote(first->second->getLoc()) << "the first assign is here";
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Every dim in a type of the op's results is declared.
LogicalResult verifyDeclared(Operation *op, TypeRange types, const DimConstraints &constraints) {
  std::set<std::string> names;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type); tensor && hasDims(tensor))
      for (const DimExpr &dim : getDims(tensor))
        dim.collectDims(names);
  for (const std::string &name : names)
    if (!constraints.getRanges().count(name))
      return op->emitError() << "the dim '" << name
                             << "' has no value: no input has it (the module's ferrule.dims do not declare it)";
  return success();
}

LogicalResult requireEqual(Operation *op, const DimExpr &a, const DimExpr &b, const DimConstraints &constraints) {
  if (constraints.isEqual(a, b) == true)
    return success();
  return op->emitError() << op->getName().stripDialect() << " takes " << a.str() << " and " << b.str()
                         << " as equal, which neither the dims' ranges nor a recorded equality decide";
}

/// What the type rules of reshape and broadcast_to leave to the module's constraints.
LogicalResult verifyAssumedEqualities(Operation *op, const DimConstraints &constraints) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return requireEqual(op, getElementCount(reshape.getX()), getElementCount(reshape.getResult()), constraints);
  if (auto broadcast = dyn_cast<BroadcastToOp>(op)) {
    Dims from = getDims(broadcast.getX()), to = getDims(broadcast.getResult());
    for (size_t i = 1; i <= from.size(); ++i)
      if (from[from.size() - i] != DimExpr(1) &&
          failed(requireEqual(op, from[from.size() - i], to[to.size() - i], constraints)))
        return failure();
  }
  return success();
}

struct VerifyInputPass : impl::VerifyInputPassBase<VerifyInputPass> {
  void runOnOperation() override {
    FailureOr<DimConstraints> constraints = getDimConstraints(getOperation());
    if (failed(constraints))
      return signalPassFailure();
    for (auto entry : getOperation().getOps<FunctionOpInterface>()) {
      if (failed(verifyEntry(entry)) || failed(verifyDeclared(entry, entry.getArgumentTypes(), *constraints)))
        return signalPassFailure();
      WalkResult result = entry.getFunctionBody().walk([&](Operation *op) {
        bool valid = succeeded(verifyDeclared(op, op->getResultTypes(), *constraints)) &&
                     succeeded(verifyAssumedEqualities(op, *constraints));
        return valid ? WalkResult::advance() : WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace mlir::ferrule
