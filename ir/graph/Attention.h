#ifndef FERRULE_IR_GRAPH_ATTENTION_H_
#define FERRULE_IR_GRAPH_ATTENTION_H_

#include "ir/graph/OpBase.h"

namespace mlir::ferrule {

/// Of kernels/attention/shape.h, which this folder does not see; code generation compares them.
inline constexpr int64_t attentionStripRows = 48, attentionTableSize = 46, attentionGradientTableSize = 64;

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Attention.h.inc"

#endif // FERRULE_IR_GRAPH_ATTENTION_H_
