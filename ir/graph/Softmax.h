#ifndef FERRULE_IR_GRAPH_SOFTMAX_H_
#define FERRULE_IR_GRAPH_SOFTMAX_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Softmax.h.inc"

#endif // FERRULE_IR_GRAPH_SOFTMAX_H_
