// How the weights of an attention are made.
#ifndef FERRULE_PASSES_ATTENTION_MATCHWEIGHTS_H_
#define FERRULE_PASSES_ATTENTION_MATCHWEIGHTS_H_

#include "ir/graph/Softmax.h"
#include "passes/attention/MatchAttention.h"

namespace mlir::ferrule {

/// The weights that are this softmax.
std::optional<WeightsMatch> matchSoftmaxWeights(SoftmaxOp softmax);

/// Weights that leave keys out, as frontend/ferrule/functional/attention.py composes them. What it names:
struct MaskedWeights : WeightsMatch {
  Value present;          ///< Which keys take part, before it is broadcast.
  Value presentScores;    ///< The same of the shape of the scores.
  Value exponential;      ///< Of scores - maximum, 1 for absent keys.
  Value powers;           ///< The same, 0 for absent keys.
  Value isZero;           ///< Whether the sum of powers is 0, a row.
  Value divisor, inverse; ///< That sum, or 1 if it is 0; 1 / divisor.
  Value reciprocals;      ///< Of the shape of the scores: inverse, or 0 if the sum is 0.
};
std::optional<MaskedWeights> matchMaskedWeights(Value weights);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_ATTENTION_MATCHWEIGHTS_H_
