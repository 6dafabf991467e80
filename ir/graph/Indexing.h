#ifndef FERRULE_IR_GRAPH_INDEXING_H_
#define FERRULE_IR_GRAPH_INDEXING_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Indexing.h.inc"

#endif // FERRULE_IR_GRAPH_INDEXING_H_
