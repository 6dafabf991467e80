//===- KernelContext.cpp - What a kernel's functions share ----------------===//

#include "codegen/common/KernelContext.h"

#include "codegen/common/ElementwiseEmitter.h"
#include "ir/graph/Shape.h"

using namespace mlir;
using namespace mlir::ferrule;

KernelContext::KernelContext(ModuleOp kernels, DispatchOp dispatch, StringRef name)
    : kernels(kernels), dispatch(dispatch), name(name.str()), outputCount(dispatch.getNumResults()),
      inputCount(dispatch.getInputs().size()) {}

// Slot i of the context is 8 bytes: buffers first, then the row base, then dims.
static Value getSlot(FunctionEmitter &emitter, Value ctx, unsigned slot) {
  return emitter.elementPointer(ctx, emitter.indexType(), emitter.index(slot));
}

Value KernelContext::getBuffer(FunctionEmitter &emitter, Value ctx, unsigned slot) {
  return emitter.load(emitter.pointerType(), getSlot(emitter, ctx, slot), 8);
}

Value KernelContext::getRowBase(FunctionEmitter &emitter, Value ctx) {
  return emitter.load(emitter.indexType(), getSlot(emitter, ctx, getBufferCount()), 8);
}

void KernelContext::setRowBase(FunctionEmitter &emitter, Value ctx, Value row) {
  emitter.store(row, getSlot(emitter, ctx, getBufferCount()), 8);
}

Value KernelContext::getSize(FunctionEmitter &emitter, Value ctx, const DimExpr &size) {
  if (std::optional<int64_t> constant = size.getConstant())
    return emitter.index(*constant);
  auto it = llvm::find(dims, size);
  unsigned number = it - dims.begin();
  if (it == dims.end())
    dims.push_back(size);
  return emitter.load(emitter.indexType(), getSlot(emitter, ctx, getDimSlot(number)), 8);
}

SmallVector<Value> mlir::ferrule::splitIndex(KernelContext &context, FunctionEmitter &emitter, Value ctx, Value linear,
                                             ArrayRef<VariableRun> runs) {
  SmallVector<Value> indices(runs.size());
  for (unsigned run = runs.size(); run-- > 1;) {
    Value size = context.getSize(emitter, ctx, runs[run].size);
    indices[run] = emitter.remainder(linear, size);
    linear = emitter.divide(linear, size);
  }
  if (!runs.empty())
    indices[0] = linear;
  return indices;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool sameIndex(const ElementIndex &a, const ElementIndex &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
    auto &[x, y] = pair;
    unsigned count = std::max(x.coefficients.size(), y.coefficients.size());
    bool same = x.offset == y.offset;
    for (unsigned v = 0; same && v < count; ++v)
      same = x.getCoefficient(v) == y.getCoefficient(v);
    return same;
  });
}

static bool isView(Operation *op) { return isa<TransposeOp, BroadcastToOp, SliceOp>(op); }

void mlir::ferrule::collectAccesses(Value value, const ElementIndex &index, const DenseSet<Value> &stops,
                                    SmallVectorImpl<AffineIndex> &accesses) {
  if (stops.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (!op) {
    accesses.push_back(getElementOffset(getDims(value), index));
    return;
  }
  if (isView(op)) {
    collectAccesses(op->getOperand(0), mapThroughView(op, index), stops, accesses);
    return;
  }
  if (isa<ConcatOp, IotaOp>(op)) {
    // Each axis is looked at by itself: strides 1 and 2 never merge.
    for (auto [axis, position] : llvm::enumerate(index)) {
      accesses.push_back(position);
    }
  }
  for (Value operand : op->getOperands())
    collectAccesses(operand, index, stops, accesses);
}

Value ValueEmitter::emitIndex(const AffineIndex &index, bool &isLaneContiguous, bool &isRepeated) {
  Value sum = context.getSize(emitter, ctx, index.offset);
  bool hasVector = false;
  for (auto [run, value] : llvm::zip(position.runs, position.indices)) {
    DimExpr coefficient = index.getCoefficient(run.last);
    if (coefficient == DimExpr(0))
      continue;
    hasVector |= isa<VectorType>(value.getType());
    Value scaled =
        coefficient == DimExpr(1) ? value : emitter.mul(value, context.getSize(emitter, ctx, coefficient));
    sum = emitter.add(sum, scaled);
  }
  DimExpr laneStride = position.laneRun ? index.getCoefficient(position.runs[*position.laneRun].last) : DimExpr(0);
  isRepeated = !hasVector && laneStride == DimExpr(0);
  isLaneContiguous = !hasVector && laneStride == DimExpr(1);
  return sum;
}

Value ValueEmitter::emitLaneIndex(const AffineIndex &index) {
  bool contiguous = false, repeated = false;
  Value sum = emitIndex(index, contiguous, repeated);
  if (position.laneRun) {
    DimExpr stride = index.getCoefficient(position.runs[*position.laneRun].last);
    if (stride != DimExpr(0))
      sum = emitter.add(sum, emitter.mul(emitter.laneNumbers(), context.getSize(emitter, ctx, stride)));
  }
  return isa<VectorType>(sum.getType()) ? sum : emitter.splat(sum);
}

Value ValueEmitter::loadInput(BlockArgument argument, const ElementIndex &index) {
  auto type = cast<RankedTensorType>(argument.getType());
  AffineIndex offset = getElementOffset(getDims(type), index);
  Value buffer = context.getBuffer(emitter, ctx, context.getInputSlot(argument));
  bool contiguous = false, repeated = false;
  Value scalar = emitIndex(offset, contiguous, repeated);
  // What stands in no lane's part may lie outside the tensor, so there it may not be read once for all lanes.
  if (repeated && !isInPart)
    return emitter.loadRepeated(type.getElementType(), buffer, scalar);
  if (contiguous) {
    // A load without lanes reads nothing, but the processor takes tenths of a microsecond to see that where there is no
    // memory.
    if (isInPart)
      scalar = emitter.orZeroIfEmpty(scalar, position.mask);
    return emitter.loadContiguous(type.getElementType(), buffer, scalar, position.mask);
  }
  return emitter.gather(type.getElementType(), buffer, emitLaneIndex(offset), position.mask);
}

/// Each operand where the index along the axis falls into it.
Value ValueEmitter::emitConcat(Operation *op, const ElementIndex &index) {
  auto concat = cast<ConcatOp>(op);
  OpBuilder &b = emitter.builder();
  int64_t axis = concat.getAxis();
  DimExpr begin = 0;
  Value lane = emitLaneIndex(index[axis]), result;
  for (Value operand : concat.getXs()) {
    DimExpr end = begin + getDims(operand)[axis];
    ElementIndex source(index);
    source[axis].offset = source[axis].offset - begin;
    Value inside = emitter.lessThan(lane, context.getSize(emitter, ctx, end));
    if (result)
      inside = LLVM::XOrOp::create(b, b.getUnknownLoc(), inside,
                                   emitter.lessThan(lane, context.getSize(emitter, ctx, begin)));
    Value mask = LLVM::AndOp::create(b, b.getUnknownLoc(), inside, position.mask);
    Value loaded = emitPart(operand, source, mask);
    if (!loaded)
      return nullptr;
    result = result ? Value(LLVM::SelectOp::create(b, b.getUnknownLoc(), mask, loaded, result)) : loaded;
    begin = end;
  }
  return result;
}

/// A part reads nothing for the other lanes: their elements may lie outside of the tensors.
Value ValueEmitter::emitPart(Value value, const ElementIndex &index, Value mask) {
  decltype(cache) others;
  std::swap(cache, others);
  Value whole = std::exchange(position.mask, mask);
  bool wasInPart = std::exchange(isInPart, true);
  Value result = emit(value, index);
  isInPart = wasInPart;
  position.mask = whole;
  std::swap(cache, others);
  return result;
}

Value ValueEmitter::emitUncached(Value value, const ElementIndex &index) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return loadInput(argument, index);
  Operation *op = value.getDefiningOp();
  if (isView(op))
    return emit(op->getOperand(0), mapThroughView(op, index));
  if (isa<ConcatOp>(op))
    return emitConcat(op, index);
  OpBuilder &b = emitter.builder();
  Type memory = emitter.memoryType(type.getElementType());
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    Type element = type.getElementType().isInteger(1) ? type.getElementType() : memory;
    TypedAttr attribute = splat.getSplatValue<TypedAttr>();
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      attribute = IntegerAttr::get(element, integer.getValue());
    else if (element.isInteger(16)) // A 16-bit float, as its bits.
      attribute = IntegerAttr::get(element, cast<FloatAttr>(attribute).getValue().bitcastToAPInt());
    return emitter.splatConstant(element, attribute);
  }
  if (isa<DimOp, IotaOp>(op)) {
    Value number = isa<DimOp>(op)
                       ? emitter.splat(context.getSize(emitter, ctx, cast<DimOp>(op).getExpr().getDims().front()))
                       : emitLaneIndex(index[cast<IotaOp>(op).getAxis()]);
    if (isa<FloatType>(memory))
      return LLVM::SIToFPOp::create(b, b.getUnknownLoc(), emitter.vectorOf(memory), number);
    if (memory.getIntOrFloatBitWidth() < 64)
      return LLVM::TruncOp::create(b, b.getUnknownLoc(), emitter.vectorOf(memory), number);
    return number;
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(emit(operand, index));
    if (!operands.back())
      return nullptr;
  }
  return emitElementwise(emitter, op, operands);
}

Value ValueEmitter::emit(Value value, const ElementIndex &index) {
  if (Value vector = defined.lookup(value))
    return vector;
  for (auto &[known, vector] : cache[value])
    if (sameIndex(known, index))
      return vector;
  Value vector = emitUncached(value, index);
  cache[value].push_back({index, vector});
  return vector;
}

void ValueEmitter::storeOutput(unsigned slot, RankedTensorType type, const ElementIndex &index, Value vector) {
  bool contiguous = false, repeated = false;
  Value offset = emitIndex(getElementOffset(getDims(type), index), contiguous, repeated);
  // An output is visited in its own order, so its lanes are contiguous, or there is one element.
  assert((contiguous || repeated) && "the output's last axis carries the lanes");
  emitter.storeContiguous(vector, type.getElementType(), context.getBuffer(emitter, ctx, slot), offset, position.mask);
}
