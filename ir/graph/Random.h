#ifndef FERRULE_IR_GRAPH_RANDOM_H_
#define FERRULE_IR_GRAPH_RANDOM_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Random.h.inc"

#endif // FERRULE_IR_GRAPH_RANDOM_H_
