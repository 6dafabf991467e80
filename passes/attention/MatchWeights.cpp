#include "passes/attention/MatchWeights.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "passes/attention/Patterns.h"

#include <limits>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// From the operand of the softmax up to the product: where and add in either order, then the scale.
bool matchScores(Value value, WeightsMatch &match) {
  value = dropBatchReshapes(value, /*owned=*/true);
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse())
    return false;
  if (auto product = dyn_cast<MatmulOp>(op)) {
    match.scores = product;
    match.k = product.getB();
    return true;
  }
  bool scaled = match.scale != 1;
  if (auto where = dyn_cast<WhereOp>(op)) {
    std::optional<double> x = getNumber(where.getX()), y = getNumber(where.getY());
    if (match.mask || scaled || bool(x) == bool(y))
      return false;
    match.mask = where.getMask();
    match.masksFirst = bool(match.bias);
    match.fillsTrue = bool(x);
    match.fill = x ? *x : *y;
    return matchScores(x ? where.getY() : where.getX(), match);
  }
  if (auto add = dyn_cast<AddOp>(op)) {
    if (match.bias || scaled)
      return false;
    for (auto [scores, bias] : {std::pair(add.getX(), add.getY()), std::pair(add.getY(), add.getX())}) {
      WeightsMatch attempt = match;
      attempt.bias = bias;
      if (matchScores(scores, attempt)) {
        match = attempt;
        return true;
      }
    }
    return false;
  }
  if (scaled)
    return false;
  if (auto mul = dyn_cast<MulOp>(op)) {
    std::optional<double> x = getNumber(mul.getX()), y = getNumber(mul.getY());
    if (bool(x) == bool(y))
      return false;
    match.scale = x ? *x : *y;
    return matchScores(x ? mul.getY() : mul.getX(), match);
  }
  if (auto div = dyn_cast<DivOp>(op)) {
    std::optional<double> y = getNumber(div.getY());
    if (!y)
      return false;
    match.scale = *y;
    match.divides = true;
    return matchScores(div.getX(), match);
  }
  return false;
}

//===------------------------------------------------------------------------------------------------------------===//
// The composition that leaves keys out: frontend/ferrule/functional/attention.py
//===------------------------------------------------------------------------------------------------------------===//

/// powers * where(total == 0, 0, 1 / where(total == 0, 1, total)), total the sum of powers.
bool matchShares(Value value, MaskedWeights &match) {
  auto mul = getDefining<MulOp>(value);
  auto where = mul ? getDefining<WhereOp>(dropBroadcasts(mul.getY())) : WhereOp();
  auto div = where ? getDefining<DivOp>(where.getY()) : DivOp();
  if (!div || !isNumber(where.getX(), 0) || !isNumber(div.getX(), 1))
    return false;
  Value total = matchReplaced(div.getY(), 0, 1);
  auto isZero = getDefining<EqualOp>(where.getMask());
  if (!total || !isZero || isZero.getX() != total || !isNumber(isZero.getY(), 0) ||
      matchRowReduction<ReduceSumOp>(total) != mul.getX())
    return false;
  match.powers = mul.getX();
  match.isZero = isZero;
  match.divisor = div.getY();
  match.inverse = div;
  match.reciprocals = mul.getY();
  return true;
}

/// The scores of where(present, exp(where(present, scores - top, 0)), 0), where top is the largest score of a present key,
/// or 0 if that is -infinity.
Value matchPowers(Value value, MaskedWeights &match) {
  Value power, shifted, scores;
  Value mask = matchWhere(value, 0, power);
  auto exp = mask ? getDefining<ExpOp>(power) : ExpOp();
  if (!exp || matchWhere(exp.getX(), 0, shifted) != mask)
    return {};
  auto sub = getDefining<SubOp>(shifted);
  Value top = sub ? matchReplaced(dropBroadcasts(sub.getY()), -infinity, 0) : Value();
  Value seen = top ? matchRowReduction<ReduceMaxOp>(top) : Value();
  if (!seen || matchWhere(seen, -infinity, scores) != mask || scores != sub.getX())
    return {};
  match.presentScores = mask;
  match.present = dropBroadcasts(mask);
  match.exponential = exp;
  return scores;
}

/// matmul(q, finite k) * scale, plus the NaN of a key that is not finite, plus the bias.
bool matchMaskedScores(Value value, WeightsMatch &match) {
  auto matchBroken = [&](Value candidate) -> bool {
    auto add = getDefining<AddOp>(candidate);
    auto mul = add ? getDefining<MulOp>(add.getX()) : MulOp();
    std::optional<double> scale = mul ? getNumber(mul.getY()) : std::nullopt;
    auto scores = add ? getDefining<MatmulOp>(scale ? Value(mul.getX()) : Value(add.getX())) : MatmulOp();
    Value k = scores ? matchFinite(scores.getB()) : Value();
    auto row = k ? getDefining<ReshapeOp>(dropBroadcasts(add.getY())) : ReshapeOp();
    Value difference = row ? matchRowReduction<ReduceSumOp>(row.getX()) : Value();
    if (!difference || !isSelfDifference(difference, k) || !scores.getTransposeB())
      return false;
    Dims dims = getDims(row), reduced = getDims(row.getX());
    if (dims.size() < 2 || dims.size() != getDims(k).size() || dims[dims.size() - 2] != DimExpr(1) ||
        dims.back() != reduced.back())
      return false;
    match.scores = scores;
    match.k = k;
    match.scale = scale.value_or(1);
    return true;
  };
  if (matchBroken(value))
    return true;
  auto add = getDefining<AddOp>(value);
  if (!add || !matchBroken(add.getX()))
    return false;
  match.bias = add.getY();
  return true;
}

/// row number >= key number
bool isCausal(Value present) {
  auto compare = getDefining<GreaterEqualOp>(present);
  auto rows = compare ? getDefining<IotaOp>(dropBroadcasts(compare.getX())) : IotaOp();
  auto keys = compare ? getDefining<IotaOp>(dropBroadcasts(compare.getY())) : IotaOp();
  return rows && keys && getRank(rows) == 2 && getRank(keys) == 2 && rows.getAxis() == 0 && keys.getAxis() == 1 &&
         getRank(present) == 2;
}

} // namespace

std::optional<WeightsMatch> mlir::ferrule::matchSoftmaxWeights(SoftmaxOp softmax) {
  WeightsMatch match;
  if (softmax.getAxis() != getRank(softmax.getResult()) - 1 || !matchScores(softmax.getX(), match))
    return std::nullopt;
  return match;
}

std::optional<MaskedWeights> mlir::ferrule::matchMaskedWeights(Value weights) {
  MaskedWeights match;
  Value scores = matchShares(weights, match) ? matchPowers(match.powers, match) : Value();
  if (!scores || !matchMaskedScores(scores, match))
    return std::nullopt;
  match.absent = true;
  match.causal = !match.bias && isCausal(match.present);
  if (!match.causal)
    match.mask = match.presentScores;
  return match;
}
