// Groups the ops of an entry into dispatches, one kernel each.
#ifndef FERRULE_PASSES_FUSE_FUSE_H_
#define FERRULE_PASSES_FUSE_FUSE_H_

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::ferrule {

/// Brings ops into the forms that dispatches are made of: reductions without kept axes, softmax along the last axis,
/// int32 labels, products with a row-major right operand.
LogicalResult prepareFusion(ModuleOp module);

/// Lets convolutions, and the gradients of their weights, read a concatenation of channels from its parts, where nothing
/// else needs it whole; it is not made then. The sums keep their order.
void readConcatenationsInPieces(ModuleOp module);

/// Replaces the gradient of a convolution for its input, of which only slices are read that share its channels by whole
/// panels, by one gradient for each slice.
void makeGradientsInPieces(ModuleOp module);

struct FuseOptions {
  /// Off: every op becomes a dispatch of its own. Results must not change.
  bool fuse = true;
};

/// Replaces all computing ops of the region's block by `ferrule.dispatch` ops. What stays outside: read, assign,
/// constant, reshape (another view of the same bytes), branches and loops (whose own regions are not looked at).
LogicalResult fuseIntoDispatches(Region &region, const FuseOptions &options);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FUSE_FUSE_H_
