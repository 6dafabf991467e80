//===- PackPanels.h - Known values in their layout ------------*- C++ -*-===//
#ifndef FERRULE_IR_GRAPH_PACKPANELS_H
#define FERRULE_IR_GRAPH_PACKPANELS_H

#include "ir/graph/Layout.h"

namespace mlir::ferrule {

/// Writes the physical bytes of a row-major tensor of static `shape`; padding is zero. Defines what `ferrule.pack`
/// computes and what the runtime's layouts undo. `physical` has room for getPhysicalShape(shape) elements.
void packPanels(const PanelLayout &layout, ArrayRef<int64_t> shape, size_t elementBytes, ArrayRef<char> logical,
                MutableArrayRef<char> physical);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_PACKPANELS_H
