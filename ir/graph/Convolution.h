#ifndef FERRULE_IR_GRAPH_CONVOLUTION_H_
#define FERRULE_IR_GRAPH_CONVOLUTION_H_

#include "ir/graph/OpBase.h"

#define GET_OP_CLASSES
#include "ir/graph/Convolution.h.inc"

#endif // FERRULE_IR_GRAPH_CONVOLUTION_H_
