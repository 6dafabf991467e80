#ifndef FERRULE_IR_GRAPH_GRADIENT_H_
#define FERRULE_IR_GRAPH_GRADIENT_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Gradient.h.inc"

#endif // FERRULE_IR_GRAPH_GRADIENT_H_
