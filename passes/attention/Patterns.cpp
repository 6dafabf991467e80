#include "passes/attention/Patterns.h"

#include "ir/graph/Elementwise.h"
#include "ir/graph/Shape.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ferrule;

int64_t mlir::ferrule::getRank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

std::optional<double> mlir::ferrule::getNumber(Value value) {
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

bool mlir::ferrule::isNumber(Value value, double wanted) {
  std::optional<double> number = getNumber(value);
  return number && (*number == wanted || (std::isnan(*number) && std::isnan(wanted)));
}

Value mlir::ferrule::dropBroadcasts(Value value) {
  while (auto op = getDefining<BroadcastToOp>(value))
    value = op.getX();
  return value;
}

bool mlir::ferrule::isBatchReshape(Operation *op) {
  auto reshape = dyn_cast_or_null<ReshapeOp>(op);
  if (!reshape)
    return false;
  Dims from = getDims(reshape.getX()), to = getDims(reshape.getResult());
  return from.size() >= 2 && to.size() >= 2 && ArrayRef(from).take_back(2) == ArrayRef(to).take_back(2);
}

Value mlir::ferrule::dropBatchReshapes(Value value, bool owned) {
  while (isBatchReshape(value.getDefiningOp()) && (!owned || value.hasOneUse()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

SmallVector<OpOperand *> mlir::ferrule::getReaders(Value value) {
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : value.getUses()) {
    if (isBatchReshape(use.getOwner()))
      readers.append(getReaders(use.getOwner()->getResult(0)));
    else
      readers.push_back(&use);
  }
  return readers;
}

bool mlir::ferrule::isSelfDifference(Value value, Value x) {
  auto sub = getDefining<SubOp>(value);
  return sub && sub.getX() == x && sub.getY() == x;
}

bool mlir::ferrule::isFiniteMask(Value value, Value x) {
  auto equal = getDefining<EqualOp>(value);
  return equal && isSelfDifference(equal.getX(), x) && isNumber(equal.getY(), 0);
}

Value mlir::ferrule::matchFinite(Value value) {
  auto where = getDefining<WhereOp>(value);
  if (!where || !isFiniteMask(where.getMask(), where.getX()) || !isNumber(where.getY(), 0))
    return {};
  return where.getX();
}

Value mlir::ferrule::matchReplaced(Value value, double number, double instead) {
  auto where = getDefining<WhereOp>(value);
  auto equal = where ? getDefining<EqualOp>(where.getMask()) : EqualOp();
  if (!equal || equal.getX() != where.getY() || !isNumber(equal.getY(), number) || !isNumber(where.getX(), instead))
    return {};
  return where.getY();
}

Value mlir::ferrule::matchWhere(Value value, double otherwise, Value &out_x) {
  auto where = getDefining<WhereOp>(value);
  if (!where || !isNumber(where.getY(), otherwise))
    return {};
  out_x = where.getX();
  return where.getMask();
}
