#include "passes/layout/Layout.h"

#include "ir/graph/ElementBytes.h"
#include "ir/graph/Layout.h"
#include "ir/graph/PackPanels.h"
#include "ir/graph/Shape.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::ferrule;

/// `constant` as the kernels read it, unpacked again. The panels are a resource: the context would keep a dense attribute
/// of that size for ever.
static Value createPacked(ConstantOp constant, ArrayRef<char> logical, const PanelLayout &layout) {
  auto type = cast<RankedTensorType>(constant.getType());
  auto physical = RankedTensorType::get(layout.getPhysicalShape(type.getShape()), type.getElementType());
  size_t elementBytes = type.getElementTypeBitWidth() / 8;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(physical.getNumElements() * elementBytes, /*align=*/64);
  packPanels(layout, type.getShape(), elementBytes, logical, blob.getMutableData());
  OpBuilder builder(constant);
  auto value = DenseResourceElementsAttr::get(physical, "panels", std::move(blob));
  auto panels = ConstantOp::create(builder, constant.getLoc(), physical, cast<ElementsAttr>(value));
  return UnpackOp::create(builder, constant.getLoc(), type, panels.getResult(), layout.nAxes, layout.kAxes,
                          layout.groups);
}

/// The layout that a contraction wants for what `use` brings, here or in a region that captures it.
static std::optional<PanelLayout> getWantedLayoutWithin(OpOperand &use) {
  SmallVector<OpOperand *> uses;
  collectUses(use, uses);
  for (OpOperand *each : uses)
    if (std::optional<PanelLayout> layout = getWantedLayout(*each))
      return layout;
  return std::nullopt;
}

void mlir::ferrule::packConstantWeights(ModuleOp module) {
  module.walk([&](ConstantOp constant) {
    auto type = cast<RankedTensorType>(constant.getType());
    std::optional<ArrayRef<char>> logical =
        type.getElementType().isF32() || type.getElementType().isF64() ? getRawBytes(constant.getValue()) : std::nullopt;
    if (!logical)
      return;
    SmallVector<std::pair<PanelLayout, Value>> made;
    for (OpOperand &use : llvm::make_early_inc_range(constant->getUses())) {
      std::optional<PanelLayout> layout = getWantedLayoutWithin(use);
      if (!layout)
        continue;
      auto found = llvm::find_if(made, [&](const auto &each) { return each.first == *layout; });
      if (found == made.end())
        found = made.insert(made.end(), {*layout, createPacked(constant, *logical, *layout)});
      use.set(found->second);
    }
  });
}
