#ifndef FERRULE_IR_GRAPH_STATE_H_
#define FERRULE_IR_GRAPH_STATE_H_

#include "ir/graph/OpBase.h"

#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "ir/graph/State.h.inc"

#endif // FERRULE_IR_GRAPH_STATE_H_
