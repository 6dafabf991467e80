#ifndef FERRULE_IR_GRAPH_REDUCE_H_
#define FERRULE_IR_GRAPH_REDUCE_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Reduce.h.inc"

#endif // FERRULE_IR_GRAPH_REDUCE_H_
