// What fusion asks about a single op.
#ifndef FERRULE_PASSES_FUSE_OPKINDS_H_
#define FERRULE_PASSES_FUSE_OPKINDS_H_

#include "ir/interfaces/FerruleOpInterface.h"

namespace mlir::ferrule {

LoweringKind getKind(Operation *op);
bool isElementwise(Operation *op);
/// An index map that a reader of the result can apply while loading.
bool isView(Operation *op);
/// Whether neighbouring elements of the result lie apart in the operand.
bool readsAcrossRows(Operation *op);
/// A value that costs nothing to make wherever it is needed.
bool isFree(Operation *op);
/// Elementwise ops that cost less than a load from memory.
bool isCheap(Operation *op);
/// Stays outside dispatches.
bool isOutside(Operation *op);
/// Reads operands element by element, so producers can be computed while loading.
bool loadsElements(Operation *op);
/// Stores its result element by element, so consumers can be computed before storing.
bool storesElements(Operation *op);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FUSE_OPKINDS_H_
