#ifndef FERRULE_IR_GRAPH_SHAPE_H_
#define FERRULE_IR_GRAPH_SHAPE_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Shape.h.inc"

#endif // FERRULE_IR_GRAPH_SHAPE_H_
