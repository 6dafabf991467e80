// Ops whose kernels the program's user brings.
#ifndef FERRULE_IR_GRAPH_EXTERNAL_H_
#define FERRULE_IR_GRAPH_EXTERNAL_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/External.h.inc"

namespace mlir::ferrule {

class DispatchOp;

/// The external op that is all of a dispatch; null for nearly all dispatches.
ExternalOp getExternal(DispatchOp dispatch);

/// Where the op's operands stand among the dispatch's inputs, which have each value once.
SmallVector<unsigned> getExternalInputs(DispatchOp dispatch, ExternalOp op);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_EXTERNAL_H_
