#ifndef FERRULE_IR_GRAPH_SORT_H_
#define FERRULE_IR_GRAPH_SORT_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Sort.h.inc"

#endif // FERRULE_IR_GRAPH_SORT_H_
