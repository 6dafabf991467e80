#ifndef FERRULE_IR_GRAPH_POOLING_H_
#define FERRULE_IR_GRAPH_POOLING_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Pooling.h.inc"

#endif // FERRULE_IR_GRAPH_POOLING_H_
