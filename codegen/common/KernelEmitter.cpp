//===- KernelEmitter.cpp - One dispatch to one kernel -------------------===//

#include "codegen/common/KernelEmission.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Softmax.h"
#include "kernels/skeletons.h"

using namespace mlir;
using namespace mlir::ferrule;

std::string mlir::ferrule::suffixOf(Type element, bool integers) {
  if (element.isF32() || element.isF64())
    return "_f" + std::to_string(element.getIntOrFloatBitWidth());
  if (integers && (element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return "_i" + std::to_string(element.getIntOrFloatBitWidth());
  return "";
}

/// Ops that a skeleton computes; the others in a dispatch are elementwise or move elements.
static bool isRoot(Operation &op) {
  auto interface = dyn_cast<FerruleOpInterface>(&op);
  if (!interface)
    return false;
  switch (interface.getLoweringKind()) {
  case LoweringKind::Elementwise:
  case LoweringKind::Shape:
  case LoweringKind::Constant:
  case LoweringKind::ControlFlow:
  case LoweringKind::Expand:
    return false;
  default:
    return true;
  }
}

KernelEmission::KernelEmission(ModuleOp kernels, DispatchOp dispatch, StringRef name, std::optional<unsigned> choice)
    : context(kernels, dispatch, name), wantedChoice(choice) {
  for (Operation &op : dispatch.getBodyBlock())
    if (isRoot(op))
      roots.push_back(&op);
}

std::optional<KernelEmission::Work> KernelEmission::getWork() {
  Work work;
  auto add = [](int64_t &sum, const DimExpr &value) {
    std::optional<int64_t> constant = value.getConstant();
    sum += constant.value_or(0);
    return constant.has_value();
  };
  for (ValueRange values : {ValueRange(context.dispatch.getInputs()), ValueRange(context.dispatch.getResults())})
    for (Value value : values)
      if (!add(work.elements, getElementCount(value)))
        return std::nullopt;
  bool isKnown = llvm::all_of(context.dispatch.getBodyBlock(), [&](Operation &op) {
    auto interface = dyn_cast<FerruleOpInterface>(&op);
    return !interface || add(work.flops, interface.getFlops());
  });
  return isKnown ? std::optional<Work>(work) : std::nullopt;
}

bool KernelEmission::isTiny() {
  constexpr int64_t maxElements = 4 * elementsPerTile, maxFlops = 200'000; // Each about 2 microseconds.
  std::optional<int64_t> tiles = spec.tiles.getConstant();
  if (!tiles || *tiles <= 1)
    return false;
  std::optional<Work> work = getWork();
  return work && work->elements <= maxElements && work->flops <= maxFlops;
}

int64_t KernelEmission::getMapTile() {
  std::optional<Work> work = getWork();
  std::optional<int64_t> count = getElementCount(context.dispatch.getYielded().front()).getConstant();
  if (!work || !count)
    return elementsPerTile;
  // As one core of a present server takes it from a cache that is not the nearest. A second thread costs it two
  // microseconds, and more if it has to be woken.
  int64_t nanoseconds = work->flops / 30 + work->elements / 5;
  constexpr int64_t forOneThread = 5000, perTile = 1000;
  if (nanoseconds < forOneThread)
    return elementsPerTile;
  int64_t lanes = std::max<int64_t>(1, *count / laneCount * perTile / nanoseconds);
  return std::min<int64_t>(elementsPerTile, lanes * laneCount);
}

void KernelEmission::emitFunction(llvm::function_ref<Value(FunctionEmitter &, Value)> body) {
  if (isTiny()) {
    skeletonTiles = *spec.tiles.getConstant();
    spec.tiles = DimExpr(1);
  }
  MLIRContext *mlirContext = context.kernels.getContext();
  Type pointer = LLVM::LLVMPointerType::get(mlirContext);
  FunctionEmitter e(context.kernels, context.name, TypeRange{pointer}, IntegerType::get(mlirContext, 32),
                    /*isCallback=*/false);
  // The call may ask for sizes that no callback needed: reserve room, and fill what is used at the end.
  constexpr unsigned spareSlots = 32;
  unsigned buffers = context.getBufferCount();
  unsigned knownDims = context.getDims().size();
  Value ctx = e.stackSlots(context.getDimSlot(knownDims) + spareSlots);
  auto slot = [&](Value base, unsigned number) { return e.elementPointer(base, e.indexType(), e.index(number)); };
  Value bufferTable = getArgsField(e, offsetof(FerruleKernelArgs, buffers), e.pointerType());
  for (unsigned i = 0; i < buffers; ++i)
    e.store(e.load(e.pointerType(), slot(bufferTable, i), 8), slot(ctx, i), 8);
  Operation *marker = e.index(0).getDefiningOp();
  Value status = body(e, ctx);
  {
    OpBuilder::InsertionGuard guard(e.builder());
    e.builder().setInsertionPointAfter(marker);
    assert(context.getDims().size() <= knownDims + spareSlots && "the call needs more sizes than there is room for");
    Value dimTable = getArgsField(e, offsetof(FerruleKernelArgs, dims), e.pointerType());
    for (unsigned i = 0; i < context.getDims().size(); ++i)
      e.store(e.load(e.indexType(), slot(dimTable, i), 8), slot(ctx, context.getDimSlot(i)), 8);
  }
  if (!status)
    status = LLVM::ConstantOp::create(e.builder(), e.builder().getUnknownLoc(), e.builder().getI32Type(),
                                      e.builder().getI32IntegerAttr(0));
  e.ret(status);
}

bool KernelEmission::storeOutputs(ValueEmitter &values, const ElementIndex &index) {
  // All loads stand before the first store: LLVM cannot know that no output overlaps an input, and would load again.
  SmallVector<Value> vectors;
  for (Value yielded : context.dispatch.getYielded()) {
    vectors.push_back(values.emit(yielded, index));
    if (!vectors.back())
      return false;
  }
  for (auto [slot, yielded] : llvm::enumerate(context.dispatch.getYielded()))
    values.storeOutput(slot, typeOf(yielded), index, vectors[slot]);
  return true;
}

SmallVector<AffineIndex> KernelEmission::getEpilogueAccesses(const ElementIndex &index) {
  SmallVector<AffineIndex> accesses;
  DenseSet<Value> stops = getRootResults();
  for (Value yielded : context.dispatch.getYielded()) {
    accesses.push_back(getElementOffset(getDims(yielded), index));
    collectAccesses(yielded, index, stops, accesses);
  }
  return accesses;
}

void KernelEmission::prefetchColumns(FunctionEmitter &e, Value ctx, Value row, Value column, ArrayRef<DimExpr> sizes) {
  // The rows that a column's accumulators are visited for next (for_lanes in kernels/reduce/reduce.h).
  constexpr int64_t ahead = 64;
  std::optional<int64_t> width = sizes.back().getConstant();
  // Rows that are read whole need no help.
  int64_t columnBytes = elementOf(roots.front()->getOperand(0)).getIntOrFloatBitWidth() / 8;
  if (!width || *width * columnBytes <= ::ferrule::kernels::kReducedColumnBytes)
    return;
  Value offset = e.add(e.mul(e.add(row, e.index(ahead)), e.index(*width)), column);
  for (BlockArgument argument : context.dispatch.getBodyBlock().getArguments())
    if (getDims(argument) == Dims(sizes))
      e.prefetch(elementOf(argument), context.getBuffer(e, ctx, context.getInputSlot(argument)), offset);
}

/// Of a row of a register tile one line or two are used, too few for the processor to foresee the next.
LLVM::LLVMFuncOp KernelEmission::emitFetch(ArrayRef<DimExpr> sizes, bool panelColumns, bool batched) {
  // One stream alone comes in time: stores wait for nobody.
  constexpr size_t fewest = 2;
  constexpr int64_t lineBytes = 64;
  SmallVector<std::pair<Type, unsigned>> streams;
  auto add = [&](Value value, unsigned slot) {
    if (getDims(value) == Dims(sizes))
      streams.push_back({elementOf(value), slot});
  };
  for (auto [slot, yielded] : llvm::enumerate(context.dispatch.getYielded()))
    add(yielded, slot);
  for (BlockArgument argument : context.dispatch.getBodyBlock().getArguments())
    if (llvm::none_of(argument.getUsers(), [&](Operation *user) { return llvm::is_contained(roots, user); }))
      add(argument, context.getInputSlot(argument));
  // Of a row of all columns, or of the rows of a panel.
  std::optional<int64_t> width = sizes.back().getConstant();
  if (panelColumns)
    width = sizes[1].getConstant();
  if (!width || streams.size() < fewest)
    return {};
  FunctionEmitter e = startCallback("fetch", 2, false);
  Value ctx = e.argument(0), row = e.argument(1), column = e.argument(2);
  if (batched)
    row = e.add(row, context.getRowBase(e, ctx));
  Value offset = panelColumns ? e.add(e.mul(column, e.index(*width)), e.mul(row, e.index(laneCount)))
                              : e.add(e.mul(row, e.index(*width)), column);
  for (auto [type, slot] : streams) {
    Value buffer = context.getBuffer(e, ctx, slot);
    int64_t lineElements = lineBytes * 8 / e.memoryType(type).getIntOrFloatBitWidth();
    for (int64_t lane = 0; lane < laneCount; lane += lineElements)
      e.prefetch(type, buffer, e.add(offset, e.index(lane)));
  }
  e.ret();
  return e.getFunction();
}

/// store(ctx, row, col, count, in): rows run over `rowVariables`, columns (and lanes) over `columnVariable`. With
/// `panelColumns` the column is 16 * panel + lane of a panel domain [panel, row, lane], whose lanes beyond count become
/// zero and are stored too.
LLVM::LLVMFuncOp KernelEmission::emitStore(ArrayRef<unsigned> rowVariables, std::optional<unsigned> columnVariable,
                                           const ElementIndex &index, ArrayRef<DimExpr> sizes, bool panelColumns,
                                           bool batched) {
  FunctionEmitter e = startCallback("store", 3, true);
  Value ctx = e.argument(0), row = e.argument(1), column = e.argument(2), count = e.argument(3), in = e.argument(4);
  if (batched)
    row = e.add(row, context.getRowBase(e, ctx));
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
      Value vector = e.load(e.vectorOf(element), e.elementPointer(in, element, e.index(laneCount * number++)),
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

FailureOr<KernelSpec> KernelEmission::run() {
  LogicalResult result = failure();
  if (roots.empty()) {
    result = emitMap();
  } else {
    Operation *root = roots.front();
    switch (cast<FerruleOpInterface>(root).getLoweringKind()) {
    case LoweringKind::Reduction:
    case LoweringKind::Moments:
    case LoweringKind::ArgReduction:
      result = isa<DotOp>(root) ? emitDot() : emitReduction();
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
      result =
          isa<TransposePanelsOp>(root) ? emitTransposePanels(cast<TransposePanelsOp>(root)) : emitPanelConversion(root);
      break;
    case LoweringKind::Library:
      result = emitLibrary(cast<LibraryOpInterface>(root));
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

FailureOr<KernelSpec> mlir::ferrule::emitKernel(ModuleOp kernels, DispatchOp dispatch, StringRef name,
                                               std::optional<unsigned> choice) {
  return KernelEmission(kernels, dispatch, name, choice).run();
}
