//===- Slice.cpp - The part of a record that a flush runs -----------------===//

#include "frontend/core/Slice.h"

#include "frontend/core/GradientOperands.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

namespace ferrule::frontend {
namespace {

using IsConcrete = llvm::function_ref<bool(mlir::Value)>;

/// Which ops of the record a slice copies, found backwards from its outputs.
class NeededOps {
public:
  explicit NeededOps(IsConcrete isConcrete) : isConcrete(isConcrete) {}

  void require(mlir::Value value) {
    if (!isConcrete(value))
      require(value.getDefiningOp());
    drain();
  }

  bool isNeeded(mlir::Operation *op) const { return needed.contains(op); }

  /// Whether `op` lies between the inputs and the cost of a copied gradient.
  bool isOnPath(mlir::Operation *op) const { return path.contains(op); }

private:
  void require(mlir::Operation *op) {
    if (op && needed.insert(op).second)
      pending.push_back(op);
  }

  void drain() {
    while (!pending.empty()) {
      mlir::Operation *op = pending.pop_back_val();
      for (mlir::Value operand : op->getOperands())
        if (!isConcrete(operand))
          require(operand.getDefiningOp());
      if (std::optional<GradientOperands> gradient = getGradientOperands(op))
        requirePath(*gradient);
    }
  }

  /// Adds the ops through which the cost depends on the inputs of `gradient`.
  void requirePath(const GradientOperands &gradient) {
    mlir::SmallVector<mlir::Operation *> ancestors = collectAncestors(gradient);
    llvm::DenseSet<mlir::Value> dependent(gradient.inputs.begin(), gradient.inputs.end());
    // Ancestors come in record order, so one sweep finds all that depend.
    for (mlir::Operation *op : ancestors) {
      bool depends = llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return dependent.contains(operand); });
      if (!depends)
        continue;
      dependent.insert(op->result_begin(), op->result_end());
      path.insert(op);
      require(op);
    }
  }

  /// Everything the costs are computed from, in the order of the record.
  mlir::SmallVector<mlir::Operation *> collectAncestors(const GradientOperands &gradient) {
    llvm::DenseSet<mlir::Operation *> seen;
    mlir::SmallVector<mlir::Operation *> found, open;
    auto visit = [&](mlir::Value value) {
      mlir::Operation *op = value.getDefiningOp();
      if (op && seen.insert(op).second)
        open.push_back(op);
    };
    visit(gradient.cost);
    while (!open.empty()) {
      mlir::Operation *op = open.pop_back_val();
      found.push_back(op);
      llvm::for_each(op->getOperands(), visit);
    }
    llvm::sort(found, [](mlir::Operation *a, mlir::Operation *b) { return a->isBeforeInBlock(b); });
    return found;
  }

  IsConcrete isConcrete;
  llvm::DenseSet<mlir::Operation *> needed, path;
  mlir::SmallVector<mlir::Operation *> pending;
};

/// Builds the entry of a slice op by op.
class SliceBuilder {
public:
  SliceBuilder(mlir::MLIRContext *context, const NeededOps &needed, IsConcrete isConcrete)
      : needed(needed), isConcrete(isConcrete), builder(context) {
    mlir::Location location = builder.getUnknownLoc();
    slice.module = mlir::ModuleOp::create(location);
    builder.setInsertionPointToEnd(slice.module->getBody());
    function = mlir::func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
    body = function.addEntryBlock();
    builder.setInsertionPointToEnd(body);
  }

  void copy(mlir::Operation *op) {
    bool isOnPath = needed.isOnPath(op);
    // Autodiff follows the copies; everything else reads what is there.
    bool readsCopies = isOnPath || getGradientOperands(op);
    for (mlir::Value operand : op->getOperands())
      if (isConcrete(operand))
        mapping.map(operand, getConcrete(operand, readsCopies));
    mlir::Operation *clone = builder.clone(*op, mapping);
    if (isOnPath)
      markMaterialized(op, clone);
  }

  Slice finish(mlir::ValueRange outputs) {
    mlir::SmallVector<mlir::Value> results;
    for (mlir::Value output : outputs)
      results.push_back(mapping.lookup(output));
    mlir::func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
    function.setFunctionType(builder.getFunctionType(body->getArgumentTypes(), mlir::ValueRange(results).getTypes()));
    for (auto [index, input] : llvm::enumerate(slice.inputs))
      function.setArgAttr(index, "ferrule.name", name("in.", index));
    for (size_t index = 0; index < results.size(); ++index)
      function.setResultAttr(index, "ferrule.name", name("out.", index));
    function->setAttr("ferrule.signature", builder.getStringAttr("{}"));
    return std::move(slice);
  }

private:
  /// What a concrete value of the record is called in the entry.
  mlir::Value getConcrete(mlir::Value value, bool prefersCopy) {
    if (prefersCopy)
      if (mlir::Value copy = copies.lookup(value))
        return copy;
    return getArgument(value);
  }

  void markMaterialized(mlir::Operation *op, mlir::Operation *clone) {
    mlir::SmallVector<int64_t> arguments;
    bool isAnyConcrete = false;
    for (auto [original, copy] : llvm::zip_equal(op->getResults(), clone->getResults())) {
      copies[original] = copy;
      bool hasElements = isConcrete(original);
      isAnyConcrete |= hasElements;
      arguments.push_back(hasElements ? int64_t(getArgument(original).getArgNumber()) : -1);
    }
    if (isAnyConcrete)
      clone->setAttr(materializedAttributeName, builder.getDenseI64ArrayAttr(arguments));
  }

  mlir::BlockArgument getArgument(mlir::Value value) {
    auto [entry, isNew] = arguments.try_emplace(value);
    if (isNew) {
      entry->second = body->addArgument(value.getType(), value.getLoc());
      slice.inputs.push_back(value);
    }
    return entry->second;
  }

  mlir::StringAttr name(llvm::StringRef prefix, size_t index) {
    return builder.getStringAttr(prefix + llvm::Twine(index));
  }

  const NeededOps &needed;
  IsConcrete isConcrete;
  mlir::OpBuilder builder;
  Slice slice;
  mlir::func::FuncOp function;
  mlir::Block *body = nullptr;
  mlir::IRMapping mapping;
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> arguments;
  /// Copies of path ops' results, by the value of the record.
  llvm::DenseMap<mlir::Value, mlir::Value> copies;
};

} // namespace

Slice cutSlice(mlir::Block &record, mlir::ValueRange outputs, IsConcrete isConcrete) {
  NeededOps needed(isConcrete);
  for (mlir::Value output : outputs)
    needed.require(output);
  SliceBuilder builder(record.getParentOp()->getContext(), needed, isConcrete);
  for (mlir::Operation &op : record)
    if (needed.isNeeded(&op))
      builder.copy(&op);
  return builder.finish(outputs);
}

} // namespace ferrule::frontend
