#include "ir/graph/Elementwise.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Shape.h"
#include "passes/attention/MatchWeights.h"
#include "passes/attention/Patterns.h"

using namespace mlir;
using namespace mlir::ferrule;

// Every value of the shape of the scores is looked at from its readers: what is not fused must not need them.

namespace {

/// The op if this is a product over the rows of the operand that is read here.
std::optional<RowProduct> matchRowProduct(OpOperand &read) {
  auto op = dyn_cast<MatmulOp>(read.getOwner());
  if (!op || !op.getTransposeA() || op.getTransposeB())
    return std::nullopt;
  bool swapped = read.getOperandNumber() == 1;
  return RowProduct{op, swapped ? op.getA() : op.getB(), swapped};
}

/// Whether the weights are read by no more than one product with values.
bool isValueProduct(OpOperand &read) {
  auto op = dyn_cast<MatmulOp>(read.getOwner());
  return op && read.getOperandNumber() == 0 && !op.getTransposeA();
}

/// The only reader, if it is such an op.
template <typename Op> Op getOnlyReader(Value value) {
  SmallVector<OpOperand *> readers = getReaders(value);
  return readers.size() == 1 ? dyn_cast<Op>(readers.front()->getOwner()) : Op();
}

bool areOperands(Operation *op, Value a, Value b) {
  return op && ((op->getOperand(0) == a && op->getOperand(1) == b) || (op->getOperand(0) == b && op->getOperand(1) == a));
}

/// Whether the op reads the value and some other one, which goes to `out_other`.
bool readsBoth(Operation *op, Value value, Value &out_other) {
  if (!op || op->getOperand(0) == op->getOperand(1))
    return false;
  out_other = op->getOperand(op->getOperand(0) == value ? 1 : 0);
  return op->getOperand(0) == value || op->getOperand(1) == value;
}

/// The x whose sums along the rows are here, with an axis of size 1 and broadcast along it.
Value matchRowSums(Value value) {
  value = dropBroadcasts(value);
  if (auto reshape = getDefining<ReshapeOp>(value))
    value = reshape.getX();
  return matchRowReduction<ReduceSumOp>(value);
}

/// Whether exactly these ops read the value, each once.
bool isReadBy(Value value, ArrayRef<Operation *> ops) {
  SmallVector<OpOperand *> readers = getReaders(value);
  return readers.size() == ops.size() && llvm::all_of(ops, [&](Operation *op) {
           return llvm::count_if(readers, [&](OpOperand *read) { return read->getOwner() == op; }) == 1;
         });
}

/// Of the readers of the weights, the product with the cotangent; `out_others` are those that are no products.
bool splitWeightReaders(Value weights, AttentionGradientMatch &match, SmallVector<Operation *> &out_others) {
  unsigned values = 0;
  for (OpOperand *read : getReaders(weights)) {
    if (std::optional<RowProduct> product = matchRowProduct(*read)) {
      if (match.vGradient.op)
        return false;
      match.vGradient = *product;
    } else if (isValueProduct(*read)) {
      ++values;
    } else {
      out_others.push_back(read->getOwner());
    }
  }
  return match.vGradient.op && values <= 1;
}

/// The product of cotangent and values that `gradient` is, up to a reshape.
bool matchSlopes(Value gradient, AttentionGradientMatch &match) {
  match.slopes = getDefining<MatmulOp>(dropBatchReshapes(gradient, /*owned=*/false));
  if (!match.slopes || match.slopes.getTransposeA() || match.slopes.getA() != match.vGradient.rows)
    return false;
  match.v = match.absent ? matchFinite(match.slopes.getB()) : Value(match.slopes.getB());
  return bool(match.v);
}

/// From the gradient of the scores to those of q and k: the scale, then two products.
bool matchEnd(Value slopes, AttentionGradientMatch &match) {
  if (match.divides) {
    auto div = getOnlyReader<DivOp>(slopes);
    if (!div || !isNumber(div.getY(), match.scale))
      return false;
    slopes = div;
  } else if (match.scale != 1) {
    auto mul = getOnlyReader<MulOp>(slopes);
    if (!mul || (!isNumber(mul.getX(), match.scale) && !isNumber(mul.getY(), match.scale)))
      return false;
    slopes = mul;
  }
  for (OpOperand *read : getReaders(slopes)) {
    std::optional<RowProduct> product = matchRowProduct(*read);
    if (product && !match.kGradient.op && product->rows == match.scores.getA()) {
      match.kGradient = *product;
      continue;
    }
    auto op = dyn_cast<MatmulOp>(read->getOwner());
    if (!op || match.qGradient || read->getOperandNumber() != 0 || op.getTransposeA() ||
        op.getTransposeB() == match.scores.getTransposeB() || op.getB() != match.scores.getB())
      return false;
    match.qGradient = op;
  }
  return match.qGradient && match.kGradient.op;
}

/// y = softmax(scores), its gradient y * (g - sum of g * y), and 0 where the mask gave the fill value.
std::optional<AttentionGradientMatch> matchSoftmaxGradient(SoftmaxOp softmax) {
  std::optional<WeightsMatch> weights = matchSoftmaxWeights(softmax);
  AttentionGradientMatch match;
  SmallVector<Operation *> others;
  if (!weights)
    return std::nullopt;
  static_cast<WeightsMatch &>(match) = *weights;
  Value y = softmax.getResult(), difference;
  if (!splitWeightReaders(y, match, others) || others.size() != 2)
    return std::nullopt;
  auto last = dyn_cast<MulOp>(others[0]), product = dyn_cast<MulOp>(others[1]);
  if (!last || !product)
    return std::nullopt;
  if (!readsBoth(last, y, difference) || !getDefining<SubOp>(difference))
    std::swap(last, product);
  auto sub = readsBoth(last, y, difference) ? getDefining<SubOp>(difference) : SubOp();
  if (!sub || matchRowSums(sub.getY()) != product || !areOperands(product, sub.getX(), y) ||
      !product.getResult().hasOneUse() || !sub.getResult().hasOneUse() || !matchSlopes(sub.getX(), match) ||
      !isReadBy(match.slopes.getResult(), {sub, product}))
    return std::nullopt;
  Value slopes = last;
  if (match.mask) {
    auto where = getOnlyReader<WhereOp>(slopes);
    Value zero = where ? (match.fillsTrue ? where.getX() : where.getY()) : Value();
    if (!where || where.getMask() != match.mask || !isNumber(zero, 0))
      return std::nullopt;
    slopes = where;
  }
  if (!matchEnd(slopes, match))
    return std::nullopt;
  return match;
}

/// where(is zero, 0, -(where(is zero, 0, sums) * (inverse / divisor))): gives what the sums are of.
Value matchShift(Value value, const MaskedWeights &weights) {
  Value negated, sums;
  auto isZeroed = [&](Value candidate, Value &out_x) {
    auto where = getDefining<WhereOp>(candidate);
    if (!where || where.getMask() != weights.isZero || !isNumber(where.getX(), 0))
      return false;
    out_x = where.getY();
    return true;
  };
  if (!isZeroed(dropBroadcasts(value), negated))
    return {};
  auto neg = getDefining<NegOp>(negated);
  auto mul = neg ? getDefining<MulOp>(neg.getX()) : MulOp();
  auto div = mul ? getDefining<DivOp>(mul.getY()) : DivOp();
  if (!div || div.getX() != weights.inverse || div.getY() != weights.divisor || !isZeroed(mul.getX(), sums))
    return {};
  return matchRowSums(sums);
}

/// The composition that leaves keys out: powers * reciprocals, each differentiated by itself.
std::optional<AttentionGradientMatch> matchMaskedGradient(Value shares) {
  std::optional<MaskedWeights> weights = matchMaskedWeights(shares);
  AttentionGradientMatch match;
  SmallVector<Operation *> others;
  if (!weights)
    return std::nullopt;
  static_cast<WeightsMatch &>(match) = *weights;
  if (!splitWeightReaders(shares, match, others) || !others.empty())
    return std::nullopt;
  // The gradient of the weights times their reciprocals, and times their powers.
  MulOp scaled, product;
  Value gradient;
  for (OpOperand *read : getReaders(weights->reciprocals))
    if (read->getOwner() != shares.getDefiningOp() && !scaled)
      scaled = dyn_cast<MulOp>(read->getOwner());
  for (OpOperand *read : getReaders(weights->powers))
    if (auto mul = dyn_cast<MulOp>(read->getOwner()); mul && mul != shares.getDefiningOp() && !product)
      product = mul;
  Operation *total = weights->divisor.getDefiningOp<WhereOp>().getY().getDefiningOp();
  if (!readsBoth(scaled, weights->reciprocals, gradient) || !areOperands(product, gradient, weights->powers) ||
      !isReadBy(weights->reciprocals, {shares.getDefiningOp(), scaled}) ||
      !isReadBy(weights->powers, {shares.getDefiningOp(), product, total}) || !matchSlopes(gradient, match) ||
      !isReadBy(match.slopes.getResult(), {scaled, product}))
    return std::nullopt;

  auto shifted = getOnlyReader<AddOp>(scaled);
  if (!shifted || shifted.getX() != scaled || matchShift(shifted.getY(), *weights) != product ||
      !product.getResult().hasOneUse())
    return std::nullopt;
  auto isHidden = [&](WhereOp where) {
    return where && where.getMask() == weights->presentScores && isNumber(where.getY(), 0);
  };
  auto shown = getOnlyReader<WhereOp>(shifted);
  auto power = isHidden(shown) ? getOnlyReader<MulOp>(shown) : MulOp();
  auto slopes = power ? getOnlyReader<WhereOp>(power) : WhereOp();
  if (!isHidden(slopes) || !areOperands(power, shown, weights->exponential) ||
      !isReadBy(weights->exponential, {weights->powers.getDefiningOp(), power}) || !matchEnd(slopes, match))
    return std::nullopt;
  return match;
}

} // namespace

std::optional<AttentionGradientMatch> mlir::ferrule::matchAttentionGradient(MatmulOp weightsProduct) {
  if (!weightsProduct.getTransposeA() || weightsProduct.getTransposeB())
    return std::nullopt;
  for (Value operand : {weightsProduct.getA(), weightsProduct.getB()}) {
    Value weights = dropBatchReshapes(operand, /*owned=*/false);
    std::optional<AttentionGradientMatch> match;
    if (auto softmax = getDefining<SoftmaxOp>(weights))
      match = matchSoftmaxGradient(softmax);
    else if (getDefining<MulOp>(weights))
      match = matchMaskedGradient(weights);
    if (match && match->vGradient.op == weightsProduct && !match->scores.getTransposeA())
      return match;
  }
  return std::nullopt;
}
