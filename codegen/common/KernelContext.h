//===- KernelContext.h - What a kernel's functions share ------*- C++ -*-===//
//
// The kernel function copies its buffer pointers and dims into an array on its
// stack, whose address is the `ctx` of every callback. Once LLVM has inlined
// the callbacks the array is gone.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_COMMON_KERNELCONTEXT_H
#define FERRULE_CODEGEN_COMMON_KERNELCONTEXT_H

#include "codegen/common/FunctionEmitter.h"
#include "codegen/common/IndexMap.h"

#include "ir/graph/Dispatch.h"

namespace mlir::ferrule {

class KernelContext {
public:
  KernelContext(ModuleOp kernels, DispatchOp dispatch, StringRef name);

  unsigned getBufferCount() const { return outputCount + inputCount; }
  unsigned getOutputCount() const { return outputCount; }
  unsigned getInputSlot(Value argument) const { return outputCount + cast<BlockArgument>(argument).getArgNumber(); }
  ArrayRef<DimExpr> getDims() const { return dims; }

  /// The buffer of slot `slot`, in a function whose context pointer is `ctx`.
  Value getBuffer(FunctionEmitter &emitter, Value ctx, unsigned slot);
  /// Where the row numbers of the current matrix of a batch begin: set by the kernel, added by its store callback.
  Value getRowBase(FunctionEmitter &emitter, Value ctx);
  void setRowBase(FunctionEmitter &emitter, Value ctx, Value row);
  /// The slot of dim number `number`.
  unsigned getDimSlot(unsigned number) const { return getBufferCount() + 1 + number; }
  /// A dim expression's value: a constant, or what the caller passed.
  Value getSize(FunctionEmitter &emitter, Value ctx, const DimExpr &size);

  ModuleOp kernels;
  DispatchOp dispatch;
  std::string name;

private:
  unsigned outputCount, inputCount;
  SmallVector<DimExpr> dims;
};

/// The values of one domain in one callback: each run of variables has an index, scalar or (after splitting a lane
/// index over several runs) a vector.
struct LoopPosition {
  SmallVector<VariableRun> runs;
  SmallVector<Value> indices;
  /// The run along which the 16 lanes lie, counted from its scalar index; none if all lanes are one element.
  std::optional<unsigned> laneRun;
  /// Lanes that exist.
  Value mask;
};

/// Emits the values of a dispatch at one position.
class ValueEmitter {
public:
  ValueEmitter(KernelContext &context, FunctionEmitter &emitter, Value ctx, LoopPosition position)
      : context(context), emitter(emitter), ctx(ctx), position(std::move(position)) {}

  /// A value that the skeleton hands over, wherever it occurs.
  void define(Value value, Value vector) { defined[value] = vector; }
  /// 16 lanes of `value` at `index`; null after an error.
  Value emit(Value value, const ElementIndex &index);
  /// Writes `vector` to output `slot`, whose sizes are `dims`, at `index`.
  void storeOutput(unsigned slot, RankedTensorType type, const ElementIndex &index, Value vector);

private:
  Value emitUncached(Value value, const ElementIndex &index);
  Value loadInput(BlockArgument argument, const ElementIndex &index);
  Value emitConcat(Operation *op, const ElementIndex &index);
  /// As emit, for the lanes of `mask` alone.
  Value emitPart(Value value, const ElementIndex &index, Value mask);
  /// The value of an affine function: scalar where it can be, else a vector of lanes.
  Value emitIndex(const AffineIndex &index, bool &isLaneContiguous, bool &isRepeated);
  Value emitLaneIndex(const AffineIndex &index);

  KernelContext &context;
  FunctionEmitter &emitter;
  Value ctx;
  LoopPosition position;
  DenseMap<Value, Value> defined;
  DenseMap<Value, SmallVector<std::pair<ElementIndex, Value>>> cache;
  bool isInPart = false; ///< position.mask leaves lanes out that stand outside of a tensor.
};

/// All accesses to inputs that `emit(value, index)` makes, for merging variables. `stops` are values that the skeleton
/// hands over.
void collectAccesses(Value value, const ElementIndex &index, const DenseSet<Value> &stops,
                     SmallVectorImpl<AffineIndex> &accesses);

/// Splits a row-major linear index over `runs`, outermost first. The index may be a vector.
SmallVector<Value> splitIndex(KernelContext &context, FunctionEmitter &emitter, Value ctx, Value linear,
                              ArrayRef<VariableRun> runs);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_KERNELCONTEXT_H
