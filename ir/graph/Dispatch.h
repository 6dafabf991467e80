#ifndef FERRULE_IR_GRAPH_DISPATCH_H_
#define FERRULE_IR_GRAPH_DISPATCH_H_

#include "ir/graph/OpBase.h"

namespace mlir::ferrule {
/// The other parents of a yield.
class CustomGradientOp;
class IfOp;
class ScanOp;
class WhileOp;
} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Dispatch.h.inc"

#endif // FERRULE_IR_GRAPH_DISPATCH_H_
