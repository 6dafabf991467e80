//===- KernelEmission.h - One dispatch being emitted ----------*- C++ -*-===//
//
// The state that the kernel forms share. Each form stands in a file of its own:
// MapKernel, ReductionKernels (with softmax), ContractionKernels (with panel
// conversions), WindowKernels, LibraryKernels; KernelEmitter.cpp has what they
// share.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_CODEGEN_COMMON_KERNELEMISSION_H
#define FERRULE_CODEGEN_COMMON_KERNELEMISSION_H

#include "codegen/common/KernelContext.h"
#include "codegen/common/KernelEmitter.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Tiles.h"
#include "kernels/base/kernel_args.h"

#include <cstddef>

namespace mlir::ferrule {

inline RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
inline Type elementOf(Value value) { return typeOf(value).getElementType(); }

/// "_f32", "_i64": the suffix of a skeleton for this dtype; empty if there is none.
std::string suffixOf(Type element, bool integers);

/// "_b4": the suffix of a skeleton that moves elements of this width.
inline std::string widthSuffixOf(Type element) {
  return "_b" + std::to_string((element.getIntOrFloatBitWidth() + 7) / 8);
}

class KernelEmission {
public:
  KernelEmission(ModuleOp kernels, DispatchOp dispatch, StringRef name, std::optional<unsigned> choice);

  FailureOr<KernelSpec> run();

private:
  // Callbacks, by where the skeleton's indices come from.
  LLVM::LLVMFuncOp emitMapBody(ArrayRef<VariableRun> runs, bool flat);
  LLVM::LLVMFuncOp emitStore(ArrayRef<unsigned> rowVariables, std::optional<unsigned> columnVariable,
                             const ElementIndex &index, ArrayRef<DimExpr> sizes, bool panelColumns = false,
                             bool batched = false);
  /// fetch(ctx, row, col) for the epilogue of a product whose result has these sizes; null where it uses too little.
  LLVM::LLVMFuncOp emitFetch(ArrayRef<DimExpr> sizes, bool panelColumns = false, bool batched = false);
  LLVM::LLVMFuncOp emitReductionLoad(ArrayRef<unsigned> outer, ArrayRef<unsigned> reduced,
                                     std::optional<unsigned> column);

  // Kernels, by root.
  LogicalResult emitMap();
  LogicalResult emitTranspose(TransposeOp op);
  LogicalResult emitConcat(ConcatOp op);
  LogicalResult emitReduction();
  LogicalResult emitDot();
  LogicalResult emitSoftmax();
  LogicalResult emitContraction(Operation *root);
  LogicalResult emitWindow(Operation *root);
  SmallVector<Value> emitImagePieces(FunctionEmitter &e, Value ctx, ValueRange pieces);
  LogicalResult emitPoolingGradient(Operation *root);
  LogicalResult emitTransposePanels(TransposePanelsOp op);
  LogicalResult emitCrossEntropy(Operation *root);
  LogicalResult emitPanelConversion(Operation *root);
  LogicalResult emitLibrary(LibraryOpInterface root);

  /// The kernel function, with the context filled; `body` emits the call and may return an i32.
  void emitFunction(llvm::function_ref<Value(FunctionEmitter &, Value ctx)> body);
  Value getArgsField(FunctionEmitter &emitter, size_t offset, Type type) {
    return emitter.load(
        type, emitter.elementPointer(emitter.argument(0), emitter.builder().getI8Type(), emitter.index(offset)), 8);
  }
  Value tileBegin(FunctionEmitter &e) { return getTile(e, offsetof(FerruleKernelArgs, tile_begin)); }
  Value tileEnd(FunctionEmitter &e) { return getTile(e, offsetof(FerruleKernelArgs, tile_end)); }
  Value getTile(FunctionEmitter &e, size_t offset) {
    return e.mul(getArgsField(e, offset, e.indexType()), e.index(skeletonTiles));
  }
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
  /// Which of that many candidates to take: the one that the caller named, else the cost model's.
  unsigned choose(size_t candidates, unsigned byCostModel) {
    spec.candidates = candidates;
    spec.chosen = wantedChoice && *wantedChoice < candidates ? *wantedChoice : byCostModel;
    return spec.chosen;
  }
  struct Work {
    int64_t elements = 0, flops = 0;
  };
  /// The elements of all operands, and the arithmetic; nothing if a run decides.
  std::optional<Work> getWork();
  /// Whether the whole kernel takes less time than waking a thread.
  bool isTiny();
  /// Elements of the result that a tile of an elementwise kernel holds: few enough that also a few elements, each of
  /// them costly, are work for several threads.
  int64_t getMapTile();
  /// Asks for what a reduction over the rows of [rows, columns] reads, 16 columns at a time.
  void prefetchColumns(FunctionEmitter &e, Value ctx, Value row, Value column, ArrayRef<DimExpr> sizes);
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

  KernelContext context;
  SmallVector<Operation *> roots;
  KernelSpec spec;
  std::optional<unsigned> wantedChoice;
  /// Tiles of the skeleton that the runtime counts as one.
  int64_t skeletonTiles = 1;
};

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_KERNELEMISSION_H
