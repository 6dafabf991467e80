//===- KernelEmitter.cpp - One dispatch to one kernel ---------------------===//

#include "codegen/common/KernelEmitter.h"

#include "codegen/common/KernelContext.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Normalize.h"
#include "ir/graph/Reduce.h"
#include "ir/graph/Softmax.h"
#include "kernels/base/kernel_args.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cstddef>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

constexpr int64_t elementsPerTile = 4096;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// "_f32", "_i64": the suffix of a skeleton for this dtype; empty if there is none.
std::string suffixOf(Type element, bool integers) {
  if (element.isF32() || element.isF64())
    return "_f" + std::to_string(element.getIntOrFloatBitWidth());
  if (integers && (element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return "_i" + std::to_string(element.getIntOrFloatBitWidth());
  return "";
}

/// Ops that a skeleton computes; the others in a dispatch are elementwise or move elements.
bool isRoot(Operation &op) {
  auto interface = dyn_cast<FerruleOpInterface>(&op);
  if (!interface)
    return false;
  switch (interface.getLoweringKind()) {
  case LoweringKind::Elementwise:
  case LoweringKind::Shape:
  case LoweringKind::Constant:
  case LoweringKind::Expand:
    return false;
  default:
    return true;
  }
}

DimExpr product(ArrayRef<DimExpr> dims) { return getElementCount(dims); }

class KernelEmitter {
public:
  KernelEmitter(ModuleOp kernels, DispatchOp dispatch, StringRef name) : context(kernels, dispatch, name) {
    for (Operation &op : dispatch.getBodyBlock())
      if (isRoot(op))
        roots.push_back(&op);
  }

  FailureOr<KernelSpec> run();

private:
  // Callbacks, by where the skeleton's indices come from.
  LLVM::LLVMFuncOp emitMapBody(ArrayRef<VariableRun> runs, bool flat);
  LLVM::LLVMFuncOp emitStore(ArrayRef<unsigned> rowVariables, std::optional<unsigned> columnVariable,
                             const ElementIndex &index, ArrayRef<DimExpr> sizes, bool panelColumns = false);
  LLVM::LLVMFuncOp emitReductionLoad(ArrayRef<unsigned> outer, ArrayRef<unsigned> reduced,
                                     std::optional<unsigned> column);

  // Kernels, by root.
  LogicalResult emitMap();
  LogicalResult emitReduction();
  LogicalResult emitSoftmax();
  LogicalResult emitContraction(Operation *root);
  LogicalResult emitWindow(Operation *root);
  LogicalResult emitPoolingGradient(Operation *root);
  LogicalResult emitTransposePanels(TransposePanelsOp op);
  LogicalResult emitCrossEntropy(Operation *root);
  LogicalResult emitPanelConversion(Operation *root);

  /// The kernel function, with the context filled; `body` emits the call and may return an i32.
  void emitFunction(llvm::function_ref<Value(FunctionEmitter &, Value ctx)> body);
  Value getArgsField(FunctionEmitter &emitter, size_t offset, Type type) {
    return emitter.load(type, emitter.elementPointer(emitter.argument(0), emitter.builder().getI8Type(),
                                                     emitter.index(offset)), 8);
  }
  Value tileBegin(FunctionEmitter &e) { return getArgsField(e, offsetof(FerruleKernelArgs, tile_begin), e.indexType()); }
  Value tileEnd(FunctionEmitter &e) { return getArgsField(e, offsetof(FerruleKernelArgs, tile_end), e.indexType()); }
  Value scratch(FunctionEmitter &e) { return getArgsField(e, offsetof(FerruleKernelArgs, scratch), e.pointerType()); }

  FunctionEmitter startCallback(StringRef role, unsigned indexCount, bool hasVector) {
    MLIRContext *mlirContext = context.kernels.getContext();
    Type pointer = LLVM::LLVMPointerType::get(mlirContext), index = IntegerType::get(mlirContext, 64);
    SmallVector<Type> types{pointer};
    types.append(indexCount, index);
    if (hasVector)
      types.push_back(pointer);
    return FunctionEmitter(context.kernels, context.name + "." + role.str(), types, {}, /*isCallback=*/true);
  }
  Value getInput(FunctionEmitter &e, Value ctx, Value argument) {
    return context.getBuffer(e, ctx, context.getInputSlot(argument));
  }
  /// Defines each root result as the vector that a store callback was given. False after an error.
  bool storeOutputs(ValueEmitter &values, const ElementIndex &index);
  DenseSet<Value> getRootResults() {
    DenseSet<Value> results;
    for (Operation *root : roots)
      results.insert(root->result_begin(), root->result_end());
    return results;
  }
  SmallVector<AffineIndex> getEpilogueAccesses(const ElementIndex &index);
  LogicalResult unsupported(Operation *op, const Twine &what) {
    return op->emitError() << "'" << op->getName().stripDialect() << "' has no CPU kernel for " << what;
  }
  /// rows of a tile such that it holds a few thousand elements.
  int64_t chooseTileRows(const DimExpr &columns) {
    std::optional<int64_t> count = columns.getConstant();
    return count ? std::max<int64_t>(1, elementsPerTile / std::max<int64_t>(1, *count)) : 1;
  }

  KernelContext context;
  SmallVector<Operation *> roots;
  KernelSpec spec;
};

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

void KernelEmitter::emitFunction(llvm::function_ref<Value(FunctionEmitter &, Value)> body) {
  MLIRContext *mlirContext = context.kernels.getContext();
  Type pointer = LLVM::LLVMPointerType::get(mlirContext);
  FunctionEmitter e(context.kernels, context.name, TypeRange{pointer}, IntegerType::get(mlirContext, 32),
                    /*isCallback=*/false);
  // The call may ask for sizes that no callback needed: reserve room, and fill what is used at the end.
  constexpr unsigned spareSlots = 32;
  unsigned buffers = context.getBufferCount();
  Value ctx = e.stackSlots(buffers + context.getDims().size() + spareSlots);
  auto slot = [&](Value base, unsigned number) {
    return e.elementPointer(base, e.indexType(), e.index(number));
  };
  Value bufferTable = getArgsField(e, offsetof(FerruleKernelArgs, buffers), e.pointerType());
  for (unsigned i = 0; i < buffers; ++i)
    e.store(e.load(e.pointerType(), slot(bufferTable, i), 8), slot(ctx, i), 8);
  Operation *marker = e.index(0).getDefiningOp();
  Value status = body(e, ctx);
  {
    OpBuilder::InsertionGuard guard(e.builder());
    e.builder().setInsertionPointAfter(marker);
    assert(context.getDims().size() <= buffers + spareSlots + context.getDims().size());
    Value dimTable = getArgsField(e, offsetof(FerruleKernelArgs, dims), e.pointerType());
    for (unsigned i = 0; i < context.getDims().size(); ++i)
      e.store(e.load(e.indexType(), slot(dimTable, i), 8), slot(ctx, buffers + i), 8);
  }
  if (!status)
    status = LLVM::ConstantOp::create(e.builder(), e.builder().getUnknownLoc(), e.builder().getI32Type(),
                                      e.builder().getI32IntegerAttr(0));
  e.ret(status);
}

bool KernelEmitter::storeOutputs(ValueEmitter &values, const ElementIndex &index) {
  for (auto [slot, yielded] : llvm::enumerate(context.dispatch.getYielded())) {
    Value vector = values.emit(yielded, index);
    if (!vector)
      return false;
    values.storeOutput(slot, typeOf(yielded), index, vector);
  }
  return true;
}

SmallVector<AffineIndex> KernelEmitter::getEpilogueAccesses(const ElementIndex &index) {
  SmallVector<AffineIndex> accesses;
  DenseSet<Value> stops = getRootResults();
  for (Value yielded : context.dispatch.getYielded()) {
    accesses.push_back(getElementOffset(getDims(yielded), index));
    collectAccesses(yielded, index, stops, accesses);
  }
  return accesses;
}

/// store(ctx, row, col, count, in): rows run over `rowVariables`, columns (and lanes) over `columnVariable`. With
/// `panelColumns` the column is 16 * panel + lane of a panel domain [panel, row, lane], whose lanes beyond count become
/// zero and are stored too.
LLVM::LLVMFuncOp KernelEmitter::emitStore(ArrayRef<unsigned> rowVariables, std::optional<unsigned> columnVariable,
                                          const ElementIndex &index, ArrayRef<DimExpr> sizes, bool panelColumns) {
  FunctionEmitter e = startCallback("store", 3, true);
  Value ctx = e.argument(0), row = e.argument(1), column = e.argument(2), count = e.argument(3), in = e.argument(4);
  SmallVector<AffineIndex> accesses = getEpilogueAccesses(index);
  LoopPosition position;
  position.runs = mergeVariables(rowVariables, sizes, accesses);
  position.indices = splitIndex(context, e, ctx, row, position.runs);
  position.mask = e.laneMask(count);
  Value lanesPresent = position.mask;
  if (panelColumns) {
    position.runs.push_back(VariableRun{0, 0, sizes[0]});
    position.indices.push_back(e.divide(column, e.index(laneCount)));
    position.mask = e.splatConstant(e.builder().getI1Type(), e.builder().getBoolAttr(true));
    column = e.index(0);
  }
  if (columnVariable) {
    position.laneRun = position.runs.size();
    position.runs.push_back(VariableRun{*columnVariable, *columnVariable, sizes[*columnVariable]});
    position.indices.push_back(column);
  }
  ValueEmitter values(context, e, ctx, position);
  unsigned number = 0;
  for (Operation *root : roots)
    for (Value result : root->getResults()) {
      Type element = e.memoryType(elementOf(result));
      Value vector = e.load(e.vectorOf(element),
                            e.elementPointer(in, element, e.index(laneCount * number++)),
                            std::min<unsigned>(64, laneCount * element.getIntOrFloatBitWidth() / 8));
      if (panelColumns) {
        OpBuilder &b = e.builder();
        Value zero = LLVM::ZeroOp::create(b, b.getUnknownLoc(), vector.getType());
        vector = LLVM::SelectOp::create(b, b.getUnknownLoc(), lanesPresent, vector, zero);
      }
      values.define(result, vector);
    }
  bool stored = storeOutputs(values, index);
  e.ret();
  return stored ? e.getFunction() : LLVM::LLVMFuncOp();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LLVM::LLVMFuncOp KernelEmitter::emitMapBody(ArrayRef<VariableRun> runs, bool flat) {
  FunctionEmitter e = startCallback("body", 3, false);
  Value ctx = e.argument(0), row = e.argument(1), column = e.argument(2), count = e.argument(3);
  LoopPosition position;
  position.runs.assign(runs.begin(), runs.end());
  position.mask = e.laneMask(count);
  if (!runs.empty()) {
    if (!flat)
      position.indices = splitIndex(context, e, ctx, row, runs.drop_back());
    position.indices.push_back(column);
    position.laneRun = runs.size() - 1;
  }
  ValueEmitter values(context, e, ctx, position);
  unsigned rank = typeOf(context.dispatch.getYielded().front()).getRank();
  bool stored = storeOutputs(values, getIdentityIndex(rank));
  e.ret();
  return stored ? e.getFunction() : LLVM::LLVMFuncOp();
}

LogicalResult KernelEmitter::emitMap() {
  Dims sizes = getDims(context.dispatch.getYielded().front());
  ElementIndex index = getIdentityIndex(sizes.size());
  SmallVector<unsigned> variables = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  SmallVector<VariableRun> runs = mergeVariables(variables, sizes, getEpilogueAccesses(index));
  bool flat = runs.size() <= 1;
  LLVM::LLVMFuncOp body = emitMapBody(runs, flat);
  if (!body)
    return failure();
  DimExpr total = product(sizes);
  if (flat) {
    spec.tiles = DimExpr::ceilDiv(total, DimExpr(elementsPerTile));
    emitFunction([&](FunctionEmitter &e, Value ctx) {
      e.call("ferrule_map_flat", {ctx, e.addressOf(body), context.getSize(e, ctx, total), e.index(elementsPerTile),
                                  tileBegin(e), tileEnd(e)});
      return Value();
    });
    return success();
  }
  DimExpr columns = runs.back().size, rows = 1;
  for (const VariableRun &run : ArrayRef<VariableRun>(runs).drop_back())
    rows = rows * run.size;
  int64_t tileRows = chooseTileRows(columns);
  spec.tiles = DimExpr::ceilDiv(rows, DimExpr(tileRows));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call("ferrule_map", {ctx, e.addressOf(body), context.getSize(e, ctx, rows), context.getSize(e, ctx, columns),
                           e.index(tileRows), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// The axes of a reduction root, in the order that numbers the elements.
SmallVector<int64_t> getReducedAxes(Operation *root) {
  if (auto axes = root->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return SmallVector<int64_t>(axes.asArrayRef());
  return {root->getAttrOfType<IntegerAttr>("axis").getInt()};
}

/// load(ctx, outer, i, col, count, out): element i (row-major over `reduced`) of outer index `outer`; lanes along the
/// column, or without one along i.
LLVM::LLVMFuncOp KernelEmitter::emitReductionLoad(ArrayRef<unsigned> outer, ArrayRef<unsigned> reduced,
                                                  std::optional<unsigned> column) {
  FunctionEmitter e = startCallback("load", 4, true);
  Value ctx = e.argument(0), i = e.argument(2), count = e.argument(4), out = e.argument(5);
  Value operand = roots.front()->getOperand(0);
  Dims sizes = getDims(operand);
  ElementIndex index = getIdentityIndex(sizes.size());
  SmallVector<AffineIndex> accesses;
  for (Operation *root : roots)
    collectAccesses(root->getOperand(0), index, {}, accesses);

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
  for (auto [number, root] : llvm::enumerate(roots)) {
    Value vector = values.emit(root->getOperand(0), index);
    if (!vector)
      return {};
    // Values that were computed, not loaded, exist in the lanes beyond count too; they must be +0 there.
    Value zero = LLVM::ZeroOp::create(b, b.getUnknownLoc(), vector.getType());
    vector = LLVM::SelectOp::create(b, b.getUnknownLoc(), position.mask, vector, zero);
    Type element = e.memoryType(elementOf(root->getOperand(0)));
    e.store(vector, e.elementPointer(out, element, e.index(laneCount * number)), 64);
  }
  e.ret();
  return e.getFunction();
}

LogicalResult KernelEmitter::emitReduction() {
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

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult KernelEmitter::emitSoftmax() {
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
  DimExpr rows = product(ArrayRef<DimExpr>(sizes).drop_back()), n = sizes[last];
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

LogicalResult KernelEmitter::emitCrossEntropy(Operation *root) {
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

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// The operands of ferrule_matmul for one root.
struct MatmulCall {
  Value a, b;
  DimExpr aRowStride, aInnerStride, bPanelStride, bInnerStride, m, n, k;
  bool bPadded = true;
};

FailureOr<MatmulCall> describeMatmul(Operation *root) {
  MatmulCall call;
  DimExpr width(laneCount);
  if (auto op = dyn_cast<PanelMatmulOp>(root)) {
    Dims a = getDims(op.getA());
    bool transposed = op.getTransposeA();
    call = {op.getA(), op.getPanels(), {}, {}, {}, width, a[transposed ? 1 : 0], getDims(op.getResult())[1],
            a[transposed ? 0 : 1]};
    call.aRowStride = transposed ? DimExpr(1) : a[1];
    call.aInnerStride = transposed ? a[1] : DimExpr(1);
    call.bPanelStride = call.k * width;
    return call;
  }
  if (auto op = dyn_cast<PanelOuterOp>(root)) {
    Dims x = getDims(op.getX()), g = getDims(op.getG());
    call = {op.getX(), op.getG(), DimExpr(1), x[1], width, g[1], x[1], g[1], x[0]};
    call.bPadded = g[1].getConstant().value_or(1) % laneCount == 0;
    return call;
  }
  auto op = cast<MatmulOp>(root);
  if (op.getType().getRank() != 2)
    return failure();
  Dims a = getDims(op.getA()), b = getDims(op.getB());
  bool transposed = op.getTransposeA();
  call = {op.getA(), op.getB(), {}, {}, width, b[1], a[transposed ? 1 : 0], b[1], b[0]};
  call.aRowStride = transposed ? DimExpr(1) : a[1];
  call.aInnerStride = transposed ? a[1] : DimExpr(1);
  call.bPadded = b[1].getConstant().value_or(1) % laneCount == 0;
  return call;
}

LogicalResult KernelEmitter::emitContraction(Operation *root) {
  Type element = elementOf(root->getOperand(0));
  std::string suffix = suffixOf(element, false);
  if (suffix.empty())
    return unsupported(root, describe(element));
  FailureOr<MatmulCall> call = describeMatmul(root);
  if (failed(call))
    return unsupported(root, "rank " + Twine(typeOf(root->getResult(0)).getRank()));
  Dims sizes = getDims(root->getResult(0));
  bool panels = isa<PanelOuterOp>(root);
  LLVM::LLVMFuncOp store = panels ? emitStore({1}, 2, getIdentityIndex(3), sizes, /*panelColumns=*/true)
                                  : emitStore({0}, 1, getIdentityIndex(2), sizes);
  if (!store)
    return failure();
  // Any tile is right on every target; these suit 14x32 and 8x48 registers, and 6x16.
  std::optional<int64_t> columns = call->n.getConstant();
  int64_t tilePanels = columns && *columns % 48 == 0 ? 3 : 2;
  int64_t tileRows = tilePanels == 3 ? 48 : 42;
  spec.tiles = DimExpr::ceilDiv(call->m, DimExpr(tileRows)) *
               DimExpr::ceilDiv(DimExpr::ceilDiv(call->n, DimExpr(laneCount)), DimExpr(tilePanels));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    auto size = [&](const DimExpr &value) { return context.getSize(e, ctx, value); };
    e.call("ferrule_matmul" + suffix,
           {ctx, e.addressOf(store), getInput(e, ctx, call->a), size(call->aRowStride), size(call->aInnerStride),
            getInput(e, ctx, call->b), size(call->bPanelStride), size(call->bInnerStride), e.index(call->bPadded),
            size(call->m), size(call->n), size(call->k), e.index(tileRows), e.index(tilePanels), tileBegin(e),
            tileEnd(e), scratch(e)});
    return Value();
  });
  return success();
}

LogicalResult KernelEmitter::emitTransposePanels(TransposePanelsOp op) {
  std::string suffix = suffixOf(elementOf(op.getX()), false);
  if (suffix.empty())
    return unsupported(op, describe(elementOf(op.getX())));
  int64_t panels = (op.getK() + laneCount - 1) / laneCount;
  spec.tiles = DimExpr(int64_t(op.getGroups()) * panels * int64_t(op.getTaps()));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call("ferrule_transpose_panels" + suffix,
           {getInput(e, ctx, op.getX()), context.getBuffer(e, ctx, 0), e.index(op.getGroups()), e.index(op.getN()),
            e.index(op.getTaps()), e.index(op.getK()), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Windows: convolution and pooling
//===----------------------------------------------------------------------===//

/// The 16 shape arguments of the window skeletons, from channels-last images; 1-D images have height 1.
struct WindowShape {
  Dims arguments;
  DimExpr batch, inH, outH;
};

FailureOr<WindowShape> describeWindow(Operation *root, ArrayRef<DimExpr> in, ArrayRef<DimExpr> out) {
  unsigned spatial = in.size() - 2;
  if (spatial < 1 || spatial > 2)
    return failure();
  auto attribute = [&](StringRef name, unsigned axis, int64_t missing) {
    ArrayRef<int64_t> values = root->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
    return DimExpr(spatial == 2 ? values[axis] : axis == 1 ? values[0] : missing);
  };
  WindowShape shape;
  shape.batch = in[0];
  shape.inH = spatial == 2 ? in[1] : DimExpr(1);
  shape.outH = spatial == 2 ? out[1] : DimExpr(1);
  shape.arguments = {in[0],
                     shape.inH,
                     in[spatial],
                     in.back(),
                     shape.outH,
                     out[spatial],
                     out.back(),
                     DimExpr(root->getAttrOfType<IntegerAttr>("groups").getInt()),
                     attribute("kernel", 0, 1),
                     attribute("kernel", 1, 1),
                     attribute("strides", 0, 1),
                     attribute("strides", 1, 1),
                     attribute("pads_begin", 0, 0),
                     attribute("pads_begin", 1, 0),
                     attribute("dilations", 0, 1),
                     attribute("dilations", 1, 1)};
  return shape;
}

LogicalResult KernelEmitter::emitWindow(Operation *root) {
  Value first = root->getOperand(0), result = root->getResult(0);
  std::string suffix = suffixOf(elementOf(first), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(first)));
  bool inputGradient = isa<ImageConvolutionInputGradientOp>(root);
  bool weightGradient = isa<ImageConvolutionWeightGradientOp>(root);
  Dims in = getDims(inputGradient ? result : first);
  Dims out = getDims(inputGradient ? first : weightGradient ? root->getOperand(1) : result);
  FailureOr<WindowShape> shape = describeWindow(root, in, out);
  if (failed(shape))
    return unsupported(root, Twine(in.size() - 2) + " spatial axes");
  Dims sizes = getDims(result);
  unsigned last = sizes.size() - 1;
  LLVM::LLVMFuncOp store = emitStore(llvm::to_vector(llvm::seq<unsigned>(0, last)), last,
                                     getIdentityIndex(sizes.size()), sizes);
  if (!store)
    return failure();
  spec.tiles = shape->batch * (inputGradient ? shape->inH : shape->outH);
  if (weightGradient) {
    // Pairs of panels: conv_weight_gradient_tiles in kernels/skeletons.h.
    int64_t groups = *shape->arguments[7].getConstant(), outC = *shape->arguments[6].getConstant();
    int64_t panels = (outC / groups + laneCount - 1) / laneCount;
    spec.tiles = DimExpr(groups * ((panels + 1) / 2)) * shape->arguments[8] * shape->arguments[9];
  }
  StringRef family = llvm::TypeSwitch<Operation *, StringRef>(root)
                         .Case([](ImageConvolutionOp) { return "conv"; })
                         .Case([](ImageConvolutionInputGradientOp) { return "conv_input_gradient"; })
                         .Case([](ImageConvolutionWeightGradientOp) { return "conv_weight_gradient"; })
                         .Case([](ImageMaxPoolOp) { return "max_pool"; })
                         .Default([](Operation *) { return "avg_pool"; });
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments{ctx, e.addressOf(store)};
    for (Value operand : root->getOperands())
      arguments.push_back(getInput(e, ctx, operand));
    for (const DimExpr &argument : shape->arguments)
      arguments.push_back(context.getSize(e, ctx, argument));
    if (auto pool = dyn_cast<ImageAvgPoolOp>(root))
      arguments.push_back(e.index(pool.getCountIncludePad()));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    if (family.starts_with("conv"))
      arguments.push_back(scratch(e));
    e.call(("ferrule_" + family + suffix).str(), arguments);
    return Value();
  });
  return success();
}

LogicalResult KernelEmitter::emitPoolingGradient(Operation *root) {
  Value result = root->getResult(0), dy = root->getOperands().back();
  std::string suffix = suffixOf(elementOf(dy), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(dy)));
  FailureOr<WindowShape> shape = describeWindow(root, getDims(result), getDims(dy));
  if (failed(shape))
    return unsupported(root, Twine(typeOf(dy).getRank() - 2) + " spatial axes");
  spec.tiles = shape->batch;
  bool average = isa<ImageAvgPoolGradientOp>(root);
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments;
    for (Value operand : root->getOperands())
      arguments.push_back(getInput(e, ctx, operand));
    arguments.push_back(context.getBuffer(e, ctx, 0));
    for (const DimExpr &argument : shape->arguments)
      arguments.push_back(context.getSize(e, ctx, argument));
    if (average)
      arguments.push_back(e.index(cast<ImageAvgPoolGradientOp>(root).getCountIncludePad()));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    e.call((average ? "ferrule_avg_pool_gradient" : "ferrule_max_pool_gradient") + suffix, arguments);
    return Value();
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Panel conversions
//===----------------------------------------------------------------------===//

/// pack and unpack: each element computes its place on the other side. They stand only at the borders of a program
/// (weights that an entry also returns or reads row-major), so they are written for clarity.
LogicalResult KernelEmitter::emitPanelConversion(Operation *root) {
  bool packs = isa<PackOp>(root);
  Value logical = packs ? root->getOperand(0) : root->getResult(0);
  ArrayRef<int64_t> nAxes = root->getAttrOfType<DenseI64ArrayAttr>("n_axes").asArrayRef();
  ArrayRef<int64_t> kAxes = root->getAttrOfType<DenseI64ArrayAttr>("k_axes").asArrayRef();
  int64_t groups = root->getAttrOfType<IntegerAttr>("groups").getInt();
  ArrayRef<int64_t> shape = typeOf(logical).getShape();
  int64_t n = 1, k = 1;
  for (int64_t axis : nAxes)
    n *= shape[axis];
  for (int64_t axis : kAxes)
    k *= shape[axis];
  n /= groups;
  int64_t panels = (n + laneCount - 1) / laneCount;
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned axis = shape.size() - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * shape[axis + 1];

  FunctionEmitter e = startCallback("body", 3, false);
  Value ctx = e.argument(0), mask = e.laneMask(e.argument(3));
  Value element = e.add(e.splat(e.argument(2)), e.laneNumbers()); // Flat index in the result.
  Value source = context.getBuffer(e, ctx, context.getInputSlot(root->getOperand(0)));
  Type type = elementOf(logical);
  OpBuilder &b = e.builder();
  auto i = [&](int64_t value) { return e.index(value); };
  /// Adds stride * coordinate for the axes of a row-major index over them.
  auto scatterAxes = [&](Value linear, ArrayRef<int64_t> axes, Value offset) {
    for (int64_t axis : llvm::reverse(axes)) {
      offset = e.add(offset, e.mul(e.remainder(linear, i(shape[axis])), i(strides[axis])));
      linear = e.divide(linear, i(shape[axis]));
    }
    return offset;
  };
  auto gatherAxes = [&](ArrayRef<int64_t> axes) {
    Value linear = e.splat(i(0));
    for (int64_t axis : axes) {
      Value coordinate = e.remainder(e.divide(element, i(strides[axis])), i(shape[axis]));
      linear = e.add(e.mul(linear, i(shape[axis])), coordinate);
    }
    return linear;
  };
  Value offset;
  if (packs) {
    Value lane = e.remainder(element, i(laneCount)), row = e.divide(element, i(laneCount));
    Value inner = e.remainder(row, i(k)), panel = e.divide(row, i(k));
    Value column = e.add(e.mul(e.remainder(panel, i(panels)), i(laneCount)), lane);
    Value present = e.lessThan(column, i(n));
    mask = LLVM::AndOp::create(b, b.getUnknownLoc(), mask, present);
    Value outer = e.add(e.mul(e.divide(panel, i(panels)), i(n)), column);
    offset = scatterAxes(inner, kAxes, scatterAxes(outer, nAxes, e.splat(i(0))));
  } else {
    Value outer = gatherAxes(nAxes), inner = gatherAxes(kAxes);
    Value column = e.remainder(outer, i(n));
    Value panel = e.add(e.mul(e.divide(outer, i(n)), i(panels)), e.divide(column, i(laneCount)));
    offset = e.add(e.mul(e.add(e.mul(panel, i(k)), inner), i(laneCount)), e.remainder(column, i(laneCount)));
  }
  Value vector = e.gather(type, source, offset, mask);
  e.storeContiguous(vector, type, context.getBuffer(e, ctx, 0), e.argument(2), e.laneMask(e.argument(3)));
  e.ret();
  LLVM::LLVMFuncOp body = e.getFunction();
  DimExpr total = getElementCount(root->getResult(0));
  spec.tiles = DimExpr::ceilDiv(total, DimExpr(elementsPerTile));
  emitFunction([&](FunctionEmitter &kernel, Value kernelCtx) {
    kernel.call("ferrule_map_flat",
                {kernelCtx, kernel.addressOf(body), context.getSize(kernel, kernelCtx, total),
                 kernel.index(elementsPerTile), tileBegin(kernel), tileEnd(kernel)});
    return Value();
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Driver
//===----------------------------------------------------------------------===//

FailureOr<KernelSpec> KernelEmitter::run() {
  LogicalResult result = failure();
  if (roots.empty()) {
    result = emitMap();
  } else {
    Operation *root = roots.front();
    switch (cast<FerruleOpInterface>(root).getLoweringKind()) {
    case LoweringKind::Reduction:
    case LoweringKind::Moments:
    case LoweringKind::ArgReduction:
      result = emitReduction();
      break;
    case LoweringKind::Rows:
      result = isa<SoftmaxOp, LogSoftmaxOp>(root) ? emitSoftmax() : emitCrossEntropy(root);
      break;
    case LoweringKind::Contraction:
      result = emitContraction(root);
      break;
    case LoweringKind::Convolution:
    case LoweringKind::ConvolutionInputGradient:
    case LoweringKind::ConvolutionWeightGradient:
    case LoweringKind::Pooling:
      result = root->hasAttr("kernel") ? emitWindow(root) : unsupported(root, "weights with symbolic sizes");
      break;
    case LoweringKind::PoolingGradient:
      result = emitPoolingGradient(root);
      break;
    case LoweringKind::Panels:
      result = isa<TransposePanelsOp>(root) ? emitTransposePanels(cast<TransposePanelsOp>(root))
                                            : emitPanelConversion(root);
      break;
    default:
      result = unsupported(root, "this form");
    }
  }
  if (failed(result))
    return failure();
  spec.name = context.name;
  spec.outputCount = context.getOutputCount();
  spec.operandCount = context.getBufferCount();
  spec.dims.assign(context.getDims().begin(), context.getDims().end());
  return spec;
}

} // namespace

FailureOr<KernelSpec> mlir::ferrule::emitKernel(ModuleOp kernels, DispatchOp dispatch, StringRef name) {
  return KernelEmitter(kernels, dispatch, name).run();
}
