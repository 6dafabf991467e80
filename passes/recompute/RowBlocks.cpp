#include "passes/recompute/RowBlocks.h"

#include "ir/graph/Layout.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Shapes.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Goes from the result of a dispatch to its inputs, and finds which values are needed row for row.
class RowAnalysis {
public:
  explicit RowAnalysis(Block &body) : body(body) {}

  /// False if a value is needed in both ways, or if it is not known how.
  bool run() {
    for (Value yielded : body.getTerminator()->getOperands())
      rows.insert(yielded);
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (!visit(&op))
        return false;
    return llvm::none_of(rows, [&](Value value) { return whole.contains(value); });
  }

  bool isRow(Value value) const { return rows.contains(value); }

private:
  bool visit(Operation *op) {
    bool isNeeded = llvm::any_of(op->getResults(), [&](Value result) { return rows.contains(result); });
    if (!isNeeded) {
      whole.insert(op->operand_begin(), op->operand_end());
      return true;
    }
    if (cast<FerruleOpInterface>(op).getLoweringKind() == LoweringKind::Elementwise) {
      rows.insert(op->operand_begin(), op->operand_end());
      return true;
    }
    if (auto broadcast = dyn_cast<BroadcastToOp>(op)) {
      Dims from = getDims(broadcast.getX()), to = getDims(broadcast.getResult());
      bool hasRows = from.size() == to.size() && from.front() == to.front();
      (hasRows ? rows : whole).insert(broadcast.getX());
      return true;
    }
    if (auto product = dyn_cast<PanelMatmulOp>(op)) {
      rows.insert(product.getA());
      whole.insert(product.getPanels());
      return !product.getTransposeA();
    }
    if (auto product = dyn_cast<MatmulOp>(op)) {
      bool isBatch = getDims(product.getA()).size() > 2;
      rows.insert(product.getA());
      (isBatch ? rows : whole).insert(product.getB());
      return isBatch || !product.getTransposeA();
    }
    return false;
  }

  Block &body;
  DenseSet<Value> rows, whole;
};

RankedTensorType withRows(Value value, const DimExpr &rows) {
  auto type = cast<RankedTensorType>(value.getType());
  Dims dims = getDims(type);
  dims.front() = rows;
  return makeTensorType(type.getElementType(), dims);
}

} // namespace

std::optional<SmallVector<bool>> mlir::ferrule::findRowInputs(DispatchOp dispatch) {
  Block &body = dispatch.getBodyBlock();
  if (dispatch.getNumResults() != 1 || getDims(dispatch.getResult(0)).empty())
    return std::nullopt;
  RowAnalysis analysis(body);
  if (!analysis.run())
    return std::nullopt;
  return llvm::map_to_vector(body.getArguments(), [&](Value argument) { return analysis.isRow(argument); });
}

/// Whether `stacked` has the shape of `rows` but for its leading axis, which is split into axes of which the first is
/// `steps`.
static bool isSplitAlongRows(ArrayRef<DimExpr> stacked, ArrayRef<DimExpr> rows, int64_t steps) {
  if (rows.size() > stacked.size() || stacked.front() != DimExpr(steps))
    return false;
  size_t splitCount = stacked.size() - rows.size() + 1;
  return getElementCount(stacked.take_front(splitCount)) == rows.front() &&
         stacked.drop_front(splitCount) == rows.drop_front();
}

DispatchOp mlir::ferrule::findRowMaker(Value stacked, int64_t steps) {
  Value rows = stacked;
  while (auto reshape = rows.getDefiningOp<ReshapeOp>()) {
    rows = reshape.getX();
    if (!rows.hasOneUse())
      return {};
  }
  auto maker = rows.getDefiningOp<DispatchOp>();
  bool isMade = maker && findRowInputs(maker);
  return isMade && isSplitAlongRows(getDims(stacked), getDims(rows), steps) ? maker : DispatchOp();
}

DispatchOp mlir::ferrule::createRowBlock(OpBuilder &builder, DispatchOp dispatch, ValueRange operands,
                                         const DimExpr &rows) {
  Block &original = dispatch.getBodyBlock();
  RowAnalysis analysis(original);
  [[maybe_unused]] bool isKnown = analysis.run();
  assert(isKnown && "findRowInputs knows it");
  auto created =
      DispatchOp::create(builder, dispatch.getLoc(), TypeRange(withRows(dispatch.getResult(0), rows)), operands);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&created.getBody());
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip(original.getArguments(), operands))
    mapping.map(argument, body->addArgument(operand.getType(), argument.getLoc()));
  for (Operation &op : original) {
    Operation *copy = builder.clone(op, mapping);
    for (auto [result, copied] : llvm::zip(op.getResults(), copy->getResults()))
      if (analysis.isRow(result))
        copied.setType(withRows(result, rows));
    if (auto broadcast = dyn_cast<BroadcastToOp>(copy); broadcast && analysis.isRow(op.getResult(0)))
      broadcast.setShapeAttr(DimsAttr::get(builder.getContext(), getDims(broadcast.getResult())));
  }
  return created;
}
