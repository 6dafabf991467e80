//===- PackPanels.h - Initial values in their layout ----------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_PACKPANELS_H
#define FERRULE_CODEGEN_EMIT_PACKPANELS_H

#include "ir/graph/Layout.h"

#include <vector>

namespace mlir::ferrule {

/// The physical bytes of a row-major tensor of static `shape`; padding is zero. Defines what `ferrule.pack` computes and
/// what the runtime's layouts undo.
std::vector<uint8_t> packPanels(const PanelLayout &layout, ArrayRef<int64_t> shape, size_t elementBytes,
                                ArrayRef<uint8_t> logical);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_PACKPANELS_H
