#ifndef FERRULE_IR_GRAPH_LAYOUT_H_
#define FERRULE_IR_GRAPH_LAYOUT_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Layout.h.inc"

namespace mlir::ferrule {

/// Columns of a panel, on every target.
inline constexpr int64_t panelWidth = 16;
/// A convolution's kernel has code of its own for each of the pieces in which its image lies.
inline constexpr size_t maxImagePieces = 8;

/// How a tensor stands in memory: row-major, or panels as `pack` makes them.
struct PanelLayout {
  SmallVector<int64_t> nAxes, kAxes;
  int64_t groups = 1;

  bool operator==(const PanelLayout &other) const {
    return nAxes == other.nAxes && kAxes == other.kAxes && groups == other.groups;
  }
  bool operator!=(const PanelLayout &other) const { return !(*this == other); }

  /// The panels' shape for a logical static shape.
  SmallVector<int64_t> getPhysicalShape(ArrayRef<int64_t> shape) const;
  /// `{kind = "panel", n_axes, k_axes, groups}`, as `ferrule.variable` carries it.
  DictionaryAttr toAttribute(MLIRContext *context) const;
  static std::optional<PanelLayout> fromAttribute(Attribute attribute);
};

/// One input channel an output channel. The panels of such a convolution run over all channels, as if it had one group,
/// and kernels of its own run it and its gradients: a panel a group would hold one column of 16.
bool isDepthwise(int64_t inChannels, int64_t outChannels, int64_t groups);

/// The layout of a convolution's weight of static shape `[out channels, in channels / groups, kernel...]`.
PanelLayout getConvolutionLayout(ArrayRef<int64_t> weightShape, int64_t groups);

/// The type in which a variable of logical `type` is read and assigned, given its layout attribute (null: row-major).
RankedTensorType getPhysicalType(RankedTensorType type, Attribute layout);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_LAYOUT_H_
