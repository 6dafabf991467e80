// The compositions that are an attention or its gradient.
#ifndef FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_
#define FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_

#include "ir/graph/Matmul.h"

#include <optional>

namespace mlir::ferrule {

/// The weights of an attention: softmax(q k^T, edited). q is the left operand of `scores`.
struct WeightsMatch {
  MatmulOp scores;
  Value k;          ///< As the right operand of `scores`, but for its replaced non-finite elements.
  Value mask, bias; ///< Of the shape of the scores, or null.
  double scale = 1, fill = 0;
  bool divides = false, masksFirst = false, fillsTrue = false;
  /// Keys whose mask is false take no part at all; with `causal`, of row i the keys after i.
  bool absent = false, causal = false;
};

/// The weights times v.
struct AttentionMatch : WeightsMatch {
  MatmulOp product;
  Value v;      ///< As the right operand of `product`, but for its replaced non-finite elements.
  Value result; ///< What the attention stands for.
};

/// A product over the rows of weights or scores; `swapped`: it gives [columns, keys] and not [keys, columns].
struct RowProduct {
  MatmulOp op;
  Value rows; ///< The other operand.
  bool swapped = false;
};

/// The gradients of an attention for all three operands.
struct AttentionGradientMatch : WeightsMatch {
  MatmulOp slopes; ///< g v^T, the gradient of the weights. g is its left operand.
  Value v;         ///< As the right operand of `slopes`, but for its replaced non-finite elements.
  MatmulOp qGradient;
  RowProduct kGradient, vGradient;
};

/// The attention whose last op is this one, if it is one whose inner values nobody else reads.
std::optional<AttentionMatch> matchAttention(Operation *last);

/// The gradient whose product of weights and cotangent is this one, if nobody but it and the attention reads what is in
/// between.
std::optional<AttentionGradientMatch> matchAttentionGradient(MatmulOp weightsProduct);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_ATTENTION_MATCHATTENTION_H_
