// The compositions that are an attention.
#ifndef FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_
#define FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_

#include "ir/graph/Matmul.h"

#include <optional>

namespace mlir::ferrule {

/// softmax(a b^T, edited) times v. The operands are those of the two products, with their flags.
struct AttentionMatch {
  MatmulOp scores, product;
  Value k, v;          ///< As the products' right operands, but for their replaced non-finite elements.
  Value mask, bias;    ///< Of the shape of the scores, or null.
  Value result;        ///< What the attention stands for.
  double scale = 1, fill = 0;
  bool divides = false, masksFirst = false, fillsTrue = false;
  /// Keys whose mask is false take no part at all; with `causal`, of row i the keys after i.
  bool absent = false, causal = false;
};

/// The attention whose last op is this one, if it is one whose inner values nobody else reads.
std::optional<AttentionMatch> matchAttention(Operation *last);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_
