#include "passes/layout/Layout.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Convolution.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/State.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// A layout that a contraction would like its weight to have, and how much work the contraction does.
struct Wish {
  PanelLayout layout;
  double flops = 0;
};

/// Dims count as their name-free lower bound 1: only the order between contractions of one variable matters.
double estimateFlops(Operation *op) {
  auto flops = cast<FerruleOpInterface>(op).getFlops().evaluate(
      [](const std::string &) -> std::optional<int64_t> { return 1; });
  return flops ? double(*flops) : 0;
}

bool canPack(VariableOp variable) {
  auto type = cast<RankedTensorType>(variable.getType());
  return type.getElementType().isF32() || type.getElementType().isF64();
}

/// The backward pass reads a weight too, along its other axis; the forward pass is recorded first and wins at equal
/// work, as it does in inference, where nothing else is left.
llvm::MapVector<StringRef, Wish> collectWishes(ModuleOp module, SymbolTable &symbols) {
  llvm::MapVector<StringRef, Wish> wishes;
  module.walk([&](ReadOp read) {
    auto variable = symbols.lookup<VariableOp>(read.getVariable());
    if (!variable || !canPack(variable))
      return;
    SmallVector<OpOperand *> uses;
    collectUses(read.getResult(), uses);
    for (OpOperand *use : uses) {
      std::optional<PanelLayout> layout = getWantedLayout(*use);
      if (!layout)
        continue;
      double flops = estimateFlops(use->getOwner());
      auto [it, inserted] = wishes.insert({read.getVariable(), Wish{*layout, flops}});
      if (!inserted && flops > it->second.flops)
        it->second = Wish{*layout, flops};
    }
  });
  return wishes;
}

void convertUses(ModuleOp module, SymbolTable &symbols) {
  module.walk([&](Operation *op) {
    auto layoutOf = [&](StringRef name) {
      auto variable = symbols.lookup<VariableOp>(name);
      return variable ? PanelLayout::fromAttribute(variable.getLayoutAttr()) : std::nullopt;
    };
    OpBuilder builder(op);
    if (auto read = dyn_cast<ReadOp>(op)) {
      std::optional<PanelLayout> layout = layoutOf(read.getVariable());
      if (!layout)
        return;
      RankedTensorType logical = read.getResult().getType();
      Attribute attribute = layout->toAttribute(op->getContext());
      read.getResult().setType(getPhysicalType(logical, attribute));
      builder.setInsertionPointAfter(op);
      auto unpack = UnpackOp::create(builder, op->getLoc(), logical, read.getResult(), layout->nAxes, layout->kAxes,
                                     layout->groups);
      read.getResult().replaceAllUsesExcept(unpack.getResult(), unpack);
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      std::optional<PanelLayout> layout = layoutOf(assign.getVariable());
      if (!layout)
        return;
      RankedTensorType physical =
          getPhysicalType(assign.getValue().getType(), layout->toAttribute(op->getContext()));
      auto pack = PackOp::create(builder, op->getLoc(), physical, assign.getValue(), layout->nAxes, layout->kAxes,
                                 layout->groups);
      assign.getValueMutable().assign(pack.getResult());
    }
  });
}

} // namespace

void mlir::ferrule::collectUses(OpOperand &use, SmallVectorImpl<OpOperand *> &uses) {
  Operation *user = use.getOwner();
  uses.push_back(&use);
  if (!isControlFlow(user) || &use < getRegionOperands(user).data())
    return;
  unsigned number = &use - getRegionOperands(user).data();
  if (number >= getFirstCapture(user))
    for (Region &region : user->getRegions())
      collectUses(region.getArgument(number), uses);
}

void mlir::ferrule::collectUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  SmallVector<OpOperand *> direct;
  for (OpOperand &use : value.getUses())
    direct.push_back(&use);
  for (OpOperand *use : llvm::reverse(direct)) // Use lists run backwards.
    collectUses(*use, uses);
}

std::optional<PanelLayout> mlir::ferrule::getWantedLayout(OpOperand &use) {
  if (auto convolution = dyn_cast<ConvolutionOp>(use.getOwner())) {
    if (use.getOperandNumber() != 1)
      return std::nullopt;
    return getConvolutionLayout(convolution.getW().getType().getShape(), convolution.getGroups());
  }
  if (auto matmul = dyn_cast<MatmulOp>(use.getOwner())) {
    if (use.getOperandNumber() != 1 || matmul.getB().getType().getRank() != 2 ||
        matmul.getA().getType().getRank() != 2)
      return std::nullopt;
    bool columnsFirst = matmul.getTransposeB();
    PanelLayout layout;
    layout.nAxes = {columnsFirst ? 0 : 1};
    layout.kAxes = {columnsFirst ? 1 : 0};
    return layout;
  }
  return std::nullopt;
}

void mlir::ferrule::chooseVariableLayouts(ModuleOp module) {
  SymbolTable symbols(module);
  for (auto &[name, wish] : collectWishes(module, symbols))
    symbols.lookup<VariableOp>(name).setLayoutAttr(wish.layout.toAttribute(module.getContext()));
  for (VariableOp variable : module.getOps<VariableOp>()) {
    if (!variable.getOf() || variable.getLayoutAttr() || !canPack(variable))
      continue;
    auto owner = symbols.lookup<VariableOp>(*variable.getOf());
    if (owner && owner.getLayoutAttr() &&
        cast<ShapedType>(owner.getType()).getShape() == cast<ShapedType>(variable.getType()).getShape())
      variable.setLayoutAttr(owner.getLayoutAttr());
  }
  convertUses(module, symbols);
}
