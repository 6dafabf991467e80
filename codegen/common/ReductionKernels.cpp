//===- ReductionKernels.cpp - Reductions, softmax, cross entropy --------===//

#include "codegen/common/KernelEmission.h"

#include "ir/graph/Normalize.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Softmax.h"

using namespace mlir;
using namespace mlir::ferrule;

/// The axes of a reduction root, in the order that numbers the elements.
static SmallVector<int64_t> getReducedAxes(Operation *root) {
  if (auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return SmallVector<int64_t>(axes.asArrayRef());
  return {root->getAttrOfType<IntegerAttr>("axis").getInt()};
}

/// load(ctx, outer, i, col, count, out): element i (row-major over `reduced`) of outer index `outer`; lanes along the
/// column, or without one along i.
LLVM::LLVMFuncOp KernelEmission::emitReductionLoad(ArrayRef<unsigned> outer, ArrayRef<unsigned> reduced,
                                                  std::optional<unsigned> column) {
  FunctionEmitter e = startCallback("load", 4, true);
  Value ctx = e.argument(0), i = e.argument(2), count = e.argument(4), out = e.argument(5);
  Value operand = roots.front()->getOperand(0);
  Dims sizes = getDims(operand);
  ElementIndex index = getIdentityIndex(sizes.size());
  SmallVector<AffineIndex> accesses;
  SmallVector<Value> operands; // In the order of the vectors that the skeleton expects.
  for (Operation *root : roots)
    operands.append(root->operand_begin(), root->operand_end());
  for (Value each : operands)
    collectAccesses(each, index, {}, accesses);

  if (column && outer.empty())
    prefetchColumns(e, ctx, i, e.argument(3), sizes);

  LoopPosition position;
  position.mask = e.laneMask(count);
  position.runs = mergeVariables(outer, sizes, accesses);
  position.indices = splitIndex(context, e, ctx, e.argument(1), position.runs);
  SmallVector<VariableRun> reducedRuns = mergeVariables(reduced, sizes, accesses);
  if (!column && reducedRuns.size() > 1)
    i = e.add(e.splat(i), e.laneNumbers()); // Lanes fall into different rows: split each one's index.
  SmallVector<Value> reducedIndices = splitIndex(context, e, ctx, i, reducedRuns);
  if (!column && reducedRuns.size() == 1)
    position.laneRun = position.runs.size();
  position.runs.append(reducedRuns);
  position.indices.append(reducedIndices);
  if (column) {
    position.laneRun = position.runs.size();
    position.runs.push_back(VariableRun{*column, *column, sizes[*column]});
    position.indices.push_back(e.argument(3));
  }
  ValueEmitter values(context, e, ctx, position);
  OpBuilder &b = e.builder();
  for (auto [number, each] : llvm::enumerate(operands)) {
    Value vector = values.emit(each, index);
    if (!vector)
      return {};
    // Values that were computed, not loaded, exist in the lanes beyond count too; they must be +0 there.
    Value zero = LLVM::ZeroOp::create(b, b.getUnknownLoc(), vector.getType());
    vector = LLVM::SelectOp::create(b, b.getUnknownLoc(), position.mask, vector, zero);
    Type element = e.memoryType(elementOf(each));
    e.store(vector, e.elementPointer(out, element, e.index(laneCount * number)), 64);
  }
  e.ret();
  return e.getFunction();
}

LogicalResult KernelEmission::emitReduction() {
  Operation *root = roots.front();
  Type element = elementOf(root->getOperand(0));
  bool isMoments = isa<MomentsOp>(root);
  std::string suffix = suffixOf(element, !isMoments && roots.size() == 1);
  if (suffix.empty())
    return unsupported(root, describe(element));
  std::string kind = isMoments ? "moments" : root->getName().stripDialect().str();
  if (StringRef(kind).starts_with("reduce_"))
    kind = kind.substr(strlen("reduce_"));
  if (roots.size() > 1)
    kind += std::to_string(roots.size());

  Dims sizes = getDims(root->getOperand(0));
  SmallVector<int64_t> axes = getReducedAxes(root);
  SmallVector<unsigned> kept, reduced(axes.begin(), axes.end());
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (!llvm::is_contained(axes, int64_t(axis)))
      kept.push_back(axis);
  std::optional<unsigned> column;
  SmallVector<unsigned> outer(kept);
  if (!kept.empty() && kept.back() + 1 == sizes.size() && sizes.back() != DimExpr(1)) {
    column = kept.back();
    outer.pop_back();
  }
  ElementIndex resultIndex;
  for (unsigned axis : kept)
    resultIndex.push_back(AffineIndex::variable(axis));

  LLVM::LLVMFuncOp load = emitReductionLoad(outer, reduced, column);
  if (!load)
    return failure();
  LLVM::LLVMFuncOp store = emitStore(outer, column, resultIndex, sizes);
  if (!store)
    return failure();
  DimExpr outerCount = 1, n = 1;
  for (unsigned axis : outer)
    outerCount = outerCount * sizes[axis];
  for (unsigned axis : reduced)
    n = n * sizes[axis];
  int64_t tileRows = (std::min<int64_t>(chooseTileRows(n), 64) + 3) / 4 * 4; // Four rows hide the adds' latency.
  spec.tiles = column ? outerCount * DimExpr::ceilDiv(sizes[*column], DimExpr(laneCount))
                      : DimExpr::ceilDiv(outerCount, DimExpr(tileRows));
  // ferrule_moments_rows_f32, ferrule_argmax_rows_f32, but ferrule_reduce_rows_sum_f32.
  bool isPlain = !isMoments && !isa<ArgmaxOp, ArgminOp>(root);
  std::string form = column ? "columns" : "rows";
  std::string name = "ferrule_" + (isPlain ? "reduce_" + form + "_" + kind : kind + "_" + form) + suffix;
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments{ctx, e.addressOf(load), e.addressOf(store), context.getSize(e, ctx, outerCount),
                                 context.getSize(e, ctx, n)};
    arguments.push_back(column ? context.getSize(e, ctx, sizes[*column]) : e.index(tileRows));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    if (isMoments)
      arguments.push_back(e.f64(cast<MomentsOp>(root).getEps().convertToDouble()));
    e.call(name, arguments);
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitDot() {
  Operation *root = roots.front();
  std::string suffix = suffixOf(elementOf(root->getOperand(0)), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(root->getOperand(0))));
  Dims sizes = getDims(root->getOperand(0));
  unsigned last = sizes.size() - 1;
  SmallVector<unsigned> outer = llvm::to_vector(llvm::seq<unsigned>(0, last));
  LLVM::LLVMFuncOp load = emitReductionLoad(outer, {last}, std::nullopt);
  if (!load)
    return failure();
  LLVM::LLVMFuncOp store = emitStore(outer, std::nullopt, getIdentityIndex(last), sizes);
  if (!store)
    return failure();
  DimExpr rows = getElementCount(ArrayRef<DimExpr>(sizes).drop_back());
  int64_t tileRows = (std::min<int64_t>(chooseTileRows(sizes[last]), 64) + 3) / 4 * 4;
  spec.tiles = DimExpr::ceilDiv(rows, DimExpr(tileRows));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call("ferrule_dot_rows" + suffix,
           {ctx, e.addressOf(load), e.addressOf(store), context.getSize(e, ctx, rows),
            context.getSize(e, ctx, sizes[last]), e.index(tileRows), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitSoftmax() {
  Operation *root = roots.front();
  Value x = root->getOperand(0);
  std::string suffix = suffixOf(elementOf(x), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(x)));
  Dims sizes = getDims(x);
  unsigned last = sizes.size() - 1;
  SmallVector<unsigned> outer = llvm::to_vector(llvm::seq<unsigned>(0, last));
  LLVM::LLVMFuncOp load = emitReductionLoad(outer, {last}, std::nullopt);
  if (!load)
    return failure();
  LLVM::LLVMFuncOp store = emitStore(outer, last, getIdentityIndex(sizes.size()), sizes);
  if (!store)
    return failure();
  DimExpr rows = getElementCount(ArrayRef<DimExpr>(sizes).drop_back()), n = sizes[last];
  int64_t tileRows = std::min<int64_t>(chooseTileRows(n), 16);
  spec.tiles = DimExpr::ceilDiv(rows, DimExpr(tileRows));
  spec.scratchBytes = DimExpr::ceilDiv(n, DimExpr(laneCount)) *
                      DimExpr(laneCount * elementOf(x).getIntOrFloatBitWidth() / 8);
  std::string name = ("ferrule_" + root->getName().stripDialect() + suffix).str();
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call(name, {ctx, e.addressOf(load), e.addressOf(store), context.getSize(e, ctx, rows),
                  context.getSize(e, ctx, n), e.index(tileRows), tileBegin(e), tileEnd(e), scratch(e)});
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitCrossEntropy(Operation *root) {
  Value logits = root->getOperand(0);
  std::string suffix = suffixOf(elementOf(logits), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(logits)));
  Dims sizes = getDims(logits);
  int64_t tileRows = std::min<int64_t>(chooseTileRows(sizes[1]), 16);
  spec.tiles = DimExpr::ceilDiv(sizes[0], DimExpr(tileRows));
  spec.scratchBytes = DimExpr::ceilDiv(sizes[1], DimExpr(laneCount)) *
                      DimExpr(laneCount * elementOf(logits).getIntOrFloatBitWidth() / 8);
  auto ignore = root->getAttrOfType<IntegerAttr>("ignore_index");
  auto smooth = root->getAttrOfType<FloatAttr>("label_smooth");
  bool forward = isa<CrossEntropyRowsOp>(root);
  std::string name = ("ferrule_" + root->getName().stripDialect() + suffix).str();
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments;
    for (Value operand : root->getOperands())
      arguments.push_back(getInput(e, ctx, operand));
    arguments.push_back(context.getBuffer(e, ctx, 0));
    arguments.append({context.getSize(e, ctx, sizes[0]), context.getSize(e, ctx, sizes[1]),
                      e.index(ignore ? 1 : 0), e.index(ignore ? ignore.getInt() : 0),
                      e.f64(smooth ? smooth.getValueAsDouble() : 0.0), e.index(tileRows), tileBegin(e), tileEnd(e),
                      scratch(e)});
    if (!forward) {
      e.call(name, arguments);
      return Value();
    }
    arguments.push_back(getArgsField(e, offsetof(FerruleKernelArgs, error), e.pointerType()));
    return e.call(name, arguments, e.builder().getI32Type());
  });
  return success();
}
