#ifndef FERRULE_IR_GRAPH_NORMALIZE_H_
#define FERRULE_IR_GRAPH_NORMALIZE_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Normalize.h.inc"

#endif // FERRULE_IR_GRAPH_NORMALIZE_H_
