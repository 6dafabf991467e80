#ifndef FERRULE_IR_GRAPH_ELEMENTWISE_H_
#define FERRULE_IR_GRAPH_ELEMENTWISE_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Elementwise.h.inc"

#endif // FERRULE_IR_GRAPH_ELEMENTWISE_H_
