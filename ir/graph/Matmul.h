#ifndef FERRULE_IR_GRAPH_MATMUL_H_
#define FERRULE_IR_GRAPH_MATMUL_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Matmul.h.inc"

#endif // FERRULE_IR_GRAPH_MATMUL_H_
