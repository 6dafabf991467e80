#include "passes/attention/MatchAttention.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Softmax.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename Op> Op getDefining(Value value) { return value ? value.getDefiningOp<Op>() : Op(); }

/// The one value of all elements.
std::optional<double> getNumber(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto elements = dyn_cast<DenseFPElementsAttr>(constant.getValue());
      if (!elements || !elements.isSplat())
        return std::nullopt;
      APFloat number = elements.getSplatValue<APFloat>();
      bool lossy = false;
      number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
      return number.convertToDouble();
    }
    if (!isa<BroadcastToOp, ReshapeOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
  }
  return std::nullopt;
}

bool isNumber(Value value, double wanted) {
  std::optional<double> number = getNumber(value);
  return number && (*number == wanted || (std::isnan(*number) && std::isnan(wanted)));
}

Value dropBroadcasts(Value value) {
  while (auto op = getDefining<BroadcastToOp>(value))
    value = op.getX();
  return value;
}

int64_t getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

//===------------------------------------------------------------------------------------------------------------===//
// softmax(scores) v
//===------------------------------------------------------------------------------------------------------------===//

/// Reshapes that leave the last two axes alone, each read by nobody else.
Value dropBatchReshapes(Value value) {
  while (auto op = getDefining<ReshapeOp>(value)) {
    Dims from = getDims(op.getX()), to = getDims(value);
    if (!value.hasOneUse() || from.size() < 2 || to.size() < 2 ||
        ArrayRef(from).take_back(2) != ArrayRef(to).take_back(2))
      break;
    value = op.getX();
  }
  return value;
}

/// From the operand of the softmax up to the product: where and add in either order, then the scale.
bool matchScores(Value value, AttentionMatch &match) {
  value = dropBatchReshapes(value);
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
      AttentionMatch attempt = match;
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

std::optional<AttentionMatch> matchSoftmax(MatmulOp product) {
  Value weights = dropBatchReshapes(product.getA());
  auto softmax = getDefining<SoftmaxOp>(weights);
  if (!softmax || product.getTransposeA() || !weights.hasOneUse() || softmax.getAxis() != getRank(weights) - 1)
    return std::nullopt;
  AttentionMatch match;
  match.product = product;
  match.v = product.getB();
  match.result = product;
  if (!matchScores(softmax.getX(), match))
    return std::nullopt;
  return match;
}

//===------------------------------------------------------------------------------------------------------------===//
// The composition that leaves keys out: frontend/ferrule/functional/attention.py
//===------------------------------------------------------------------------------------------------------------===//

/// x - x: 0, or NaN where x is not finite.
bool isSelfDifference(Value value, Value x) {
  auto sub = getDefining<SubOp>(value);
  return sub && sub.getX() == x && sub.getY() == x;
}

/// x - x == 0
bool isFiniteMask(Value value, Value x) {
  auto equal = getDefining<EqualOp>(value);
  return equal && isSelfDifference(equal.getX(), x) && isNumber(equal.getY(), 0);
}

/// The x of where(x is finite, x, 0).
Value matchFinite(Value value) {
  auto where = getDefining<WhereOp>(value);
  if (!where || !isFiniteMask(where.getMask(), where.getX()) || !isNumber(where.getY(), 0))
    return {};
  return where.getX();
}

/// The x of where(x == number, instead, x).
Value matchReplaced(Value value, double number, double instead) {
  auto where = getDefining<WhereOp>(value);
  auto equal = where ? getDefining<EqualOp>(where.getMask()) : EqualOp();
  if (!equal || equal.getX() != where.getY() || !isNumber(equal.getY(), number) || !isNumber(where.getX(), instead))
    return {};
  return where.getY();
}

/// The mask of where(mask, x, otherwise); x goes to `out_x`.
Value matchWhere(Value value, double otherwise, Value &out_x) {
  auto where = getDefining<WhereOp>(value);
  if (!where || !isNumber(where.getY(), otherwise))
    return {};
  out_x = where.getX();
  return where.getMask();
}

template <typename Reduction> Value matchRowReduction(Value value) {
  auto op = getDefining<Reduction>(value);
  if (!op || op.getAxes() != ArrayRef<int64_t>{getRank(op.getX()) - 1})
    return {};
  return op.getX();
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

/// The powers of powers * where(total == 0, 0, 1 / where(total == 0, 1, total)), total the sum of powers.
Value matchShares(Value value) {
  auto mul = getDefining<MulOp>(value);
  auto where = mul ? getDefining<WhereOp>(dropBroadcasts(mul.getY())) : WhereOp();
  auto div = where ? getDefining<DivOp>(where.getY()) : DivOp();
  if (!div || !isNumber(where.getX(), 0) || !isNumber(div.getX(), 1))
    return {};
  Value total = matchReplaced(div.getY(), 0, 1);
  auto isZero = getDefining<EqualOp>(where.getMask());
  if (!total || !isZero || isZero.getX() != total || !isNumber(isZero.getY(), 0))
    return {};
  return matchRowReduction<ReduceSumOp>(total) == mul.getX() ? Value(mul.getX()) : Value();
}

/// The scores of where(present, exp(where(present, scores - top, 0)), 0), where top is the largest score of a present key,
/// or 0 if that is -infinity.
Value matchPowers(Value value, Value present) {
  Value power, shifted, scores;
  Value mask = matchWhere(value, 0, power);
  auto exp = mask ? getDefining<ExpOp>(power) : ExpOp();
  if (!exp || matchWhere(exp.getX(), 0, shifted) != mask || dropBroadcasts(mask) != present)
    return {};
  auto sub = getDefining<SubOp>(shifted);
  Value top = sub ? matchReplaced(dropBroadcasts(sub.getY()), -infinity, 0) : Value();
  Value seen = top ? matchRowReduction<ReduceMaxOp>(top) : Value();
  if (!seen || matchWhere(seen, -infinity, scores) != mask || scores != sub.getX())
    return {};
  return scores;
}

/// matmul(q, finite k) * scale, plus the NaN of a key that is not finite, plus the bias.
bool matchMaskedScores(Value value, AttentionMatch &match) {
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

std::optional<AttentionMatch> matchMasked(AddOp add) {
  AttentionMatch match;
  match.product = getDefining<MatmulOp>(add.getX());
  if (!match.product || match.product.getTransposeA() || match.product.getTransposeB())
    return std::nullopt;
  match.v = matchFinite(match.product.getB());
  Value present = match.v ? matchBrokenValues(add.getY(), match.v) : Value();
  Value weights = match.product.getA();
  Value powers = present ? matchShares(weights) : Value();
  Value scores = powers ? matchPowers(powers, present) : Value();
  // The gradient, or who asks for the weights, reads them too.
  if (!scores || !weights.hasOneUse() || !powers.hasNUses(2) || !matchMaskedScores(scores, match))
    return std::nullopt;
  match.absent = true;
  match.causal = !match.bias && isCausal(present);
  if (!match.causal)
    match.mask = cast<WhereOp>(powers.getDefiningOp()).getMask();
  match.result = add;
  return match;
}

} // namespace

std::optional<AttentionMatch> mlir::ferrule::matchAttention(Operation *last) {
  if (auto add = dyn_cast<AddOp>(last))
    return matchMasked(add);
  if (auto product = dyn_cast<MatmulOp>(last))
    return matchSoftmax(product);
  return std::nullopt;
}
