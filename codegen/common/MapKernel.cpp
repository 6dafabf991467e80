//===- MapKernel.cpp - Elementwise and index-map dispatches -------------===//

#include "codegen/common/KernelEmission.h"

#include "kernels/skeletons.h"

using namespace mlir;
using namespace mlir::ferrule;

LLVM::LLVMFuncOp KernelEmission::emitMapBody(ArrayRef<VariableRun> runs, bool flat) {
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

namespace {

/// A transpose that exchanges the two axes of matrices: [batch, rows, columns] to [batch, columns, rows].
struct MatrixTranspose {
  DimExpr batch = 1, rows = 1, columns = 1;

  static std::optional<MatrixTranspose> match(ArrayRef<int64_t> pattern, ArrayRef<DimExpr> dims) {
    MatrixTranspose result;
    int64_t rank = pattern.size(), kept = 0;
    for (; kept < rank && pattern[kept] == kept; ++kept)
      result.batch = result.batch * dims[kept];
    // What is left must be a rotation: the axes from `split` on come before those from `kept` on.
    if (kept == rank)
      return std::nullopt;
    int64_t split = pattern[kept];
    for (int64_t axis = kept; axis < rank; ++axis) {
      if (pattern[axis] != (axis - kept + split - kept) % (rank - kept) + kept)
        return std::nullopt;
      DimExpr &side = axis < split ? result.rows : result.columns;
      side = side * dims[axis];
    }
    return result;
  }
};

/// The only op of a dispatch that copies an input transposed.
TransposeOp getOnlyTranspose(DispatchOp dispatch) {
  auto transpose = dispatch.getYielded().front().getDefiningOp<TransposeOp>();
  bool isOnly = transpose && dispatch.getYielded().size() == 1 && isa<BlockArgument>(transpose.getX());
  return isOnly ? transpose : TransposeOp();
}

/// The only op of a dispatch that copies inputs one after the other along an axis.
ConcatOp getOnlyConcat(DispatchOp dispatch) {
  auto concat = dispatch.getYielded().front().getDefiningOp<ConcatOp>();
  bool isOnly = concat && dispatch.getYielded().size() == 1 &&
                llvm::all_of(concat.getXs(), [](Value x) { return isa<BlockArgument>(x); });
  return isOnly ? concat : ConcatOp();
}

} // namespace

/// Each part is rows of contiguous elements.
LogicalResult KernelEmission::emitConcat(ConcatOp op) {
  Dims dims = getDims(op.getResult());
  ArrayRef<DimExpr> all(dims);
  DimExpr rows = getElementCount(all.take_front(op.getAxis())), inner = getElementCount(all.drop_front(op.getAxis() + 1));
  DimExpr stride = inner * dims[op.getAxis()];
  int64_t tileRows = chooseTileRows(stride);
  spec.tiles = DimExpr::ceilDiv(rows, DimExpr(tileRows));
  Type element = elementOf(op.getResult());
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    auto size = [&](const DimExpr &value) { return context.getSize(e, ctx, value); };
    DimExpr offset = 0;
    for (Value x : op.getXs()) {
      DimExpr length = inner * getDims(x)[op.getAxis()];
      Value target = e.elementPointer(context.getBuffer(e, ctx, 0), element, size(offset));
      e.call("ferrule_copy_rows" + widthSuffixOf(element), {target, getInput(e, ctx, x), size(rows), size(length),
                                                            size(stride), e.index(tileRows), tileBegin(e), tileEnd(e)});
      offset = offset + length;
    }
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitTranspose(TransposeOp op) {
  MatrixTranspose matrix = *MatrixTranspose::match(op.getPattern(), getDims(op.getX()));
  constexpr int64_t block = ::ferrule::kernels::kTransposeBlock;
  spec.tiles = matrix.batch * DimExpr::ceilDiv(matrix.rows, block) * DimExpr::ceilDiv(matrix.columns, block);
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    auto size = [&](const DimExpr &value) { return context.getSize(e, ctx, value); };
    e.call("ferrule_transpose" + widthSuffixOf(elementOf(op.getX())),
           {context.getBuffer(e, ctx, 0), getInput(e, ctx, op.getX()), size(matrix.batch), size(matrix.rows),
            size(matrix.columns), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitMap() {
  if (TransposeOp transpose = getOnlyTranspose(context.dispatch))
    if (MatrixTranspose::match(transpose.getPattern(), getDims(transpose.getX())))
      return emitTranspose(transpose);
  if (ConcatOp concat = getOnlyConcat(context.dispatch))
    return emitConcat(concat);
  Dims sizes = getDims(context.dispatch.getYielded().front());
  ElementIndex index = getIdentityIndex(sizes.size());
  SmallVector<unsigned> variables = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  SmallVector<VariableRun> runs = mergeVariables(variables, sizes, getEpilogueAccesses(index));
  bool flat = runs.size() <= 1;
  LLVM::LLVMFuncOp body = emitMapBody(runs, flat);
  if (!body)
    return failure();
  DimExpr total = getElementCount(sizes);
  int64_t tile = getMapTile();
  if (flat) {
    spec.tiles = DimExpr::ceilDiv(total, DimExpr(tile));
    emitFunction([&](FunctionEmitter &e, Value ctx) {
      e.call("ferrule_map_flat", {ctx, e.addressOf(body), context.getSize(e, ctx, total), e.index(tile), tileBegin(e),
                                  tileEnd(e)});
      return Value();
    });
    return success();
  }
  DimExpr columns = runs.back().size, rows = 1;
  for (const VariableRun &run : ArrayRef<VariableRun>(runs).drop_back())
    rows = rows * run.size;
  int64_t tileRows = chooseTileRows(columns);
  if (std::optional<int64_t> count = columns.getConstant())
    tileRows = std::min(tileRows, std::max<int64_t>(1, tile / std::max<int64_t>(1, *count)));
  spec.tiles = DimExpr::ceilDiv(rows, DimExpr(tileRows));
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    e.call("ferrule_map", {ctx, e.addressOf(body), context.getSize(e, ctx, rows), context.getSize(e, ctx, columns),
                           e.index(tileRows), tileBegin(e), tileEnd(e)});
    return Value();
  });
  return success();
}
