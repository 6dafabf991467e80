// All ops of the graph dialect. A file that needs one family includes that family's header instead.
#ifndef FERRULE_IR_GRAPH_FERRULEOPS_H_
#define FERRULE_IR_GRAPH_FERRULEOPS_H_

#include "ir/graph/Attention.h"
#include "ir/graph/ControlFlow.h"
#include "ir/graph/Convolution.h"
#include "ir/graph/Cumulative.h"
#include "ir/graph/Elementwise.h"
#include "ir/graph/Gradient.h"
#include "ir/graph/Indexing.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Normalize.h"
#include "ir/graph/Pooling.h"
#include "ir/graph/Random.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Softmax.h"
#include "ir/graph/Sort.h"
#include "ir/graph/State.h"

#endif // FERRULE_IR_GRAPH_FERRULEOPS_H_
