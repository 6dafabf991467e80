#include "passes/attention/MatchAttention.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/Shape.h"
#include "passes/attention/MatchWeights.h"
#include "passes/attention/Patterns.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// softmax(scores) v
std::optional<AttentionMatch> matchSoftmax(MatmulOp product) {
  Value weights = dropBatchReshapes(product.getA(), /*owned=*/true);
  auto softmax = getDefining<SoftmaxOp>(weights);
  if (!softmax || product.getTransposeA() || !weights.hasOneUse())
    return std::nullopt;
  std::optional<WeightsMatch> its = matchSoftmaxWeights(softmax);
  if (!its)
    return std::nullopt;
  return AttentionMatch{*its, product, product.getB(), product};
}

/// NaN where a value of a present key is not finite, else 0: where(present_numbers @ where(finite, 0, 1) > 0, NaN, 0). Gives
/// the mask of present keys.
Value matchBrokenValues(Value value, Value v) {
  auto where = getDefining<WhereOp>(value);
  auto greater = where ? getDefining<GreaterOp>(where.getMask()) : GreaterOp();
  auto count = greater ? getDefining<MatmulOp>(greater.getX()) : MatmulOp();
  if (!count || !isNumber(where.getX(), std::nan("")) || !isNumber(where.getY(), 0) || !isNumber(greater.getY(), 0) ||
      count.getTransposeA() || count.getTransposeB())
    return {};
  auto broken = getDefining<WhereOp>(count.getB());
  auto present = getDefining<WhereOp>(dropBroadcasts(count.getA()));
  if (!broken || !isFiniteMask(broken.getMask(), v) || !isNumber(broken.getX(), 0) || !isNumber(broken.getY(), 1) ||
      !present || !isNumber(present.getX(), 1) || !isNumber(present.getY(), 0))
    return {};
  return dropBroadcasts(present.getMask());
}

/// The composition that leaves keys out.
std::optional<AttentionMatch> matchMasked(AddOp add) {
  auto product = getDefining<MatmulOp>(add.getX());
  if (!product || product.getTransposeA() || product.getTransposeB())
    return std::nullopt;
  Value v = matchFinite(product.getB());
  Value present = v ? matchBrokenValues(add.getY(), v) : Value();
  Value weights = product.getA();
  // Who asks for the weights, reads them too, and a gradient that was not fused.
  std::optional<MaskedWeights> its = present && weights.hasOneUse() ? matchMaskedWeights(weights) : std::nullopt;
  if (!its || its->present != present || !its->powers.hasNUses(2))
    return std::nullopt;
  return AttentionMatch{*its, product, v, add};
}

} // namespace

std::optional<AttentionMatch> mlir::ferrule::matchAttention(Operation *last) {
  if (auto add = dyn_cast<AddOp>(last))
    return matchMasked(add);
  if (auto product = dyn_cast<MatmulOp>(last))
    return matchSoftmax(product);
  return std::nullopt;
}
