#ifndef FERRULE_IR_GRAPH_CUMULATIVE_H_
#define FERRULE_IR_GRAPH_CUMULATIVE_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Cumulative.h.inc"

#endif // FERRULE_IR_GRAPH_CUMULATIVE_H_
