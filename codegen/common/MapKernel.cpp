//===- MapKernel.cpp - Elementwise and index-map dispatches -------------===//

#include "codegen/common/KernelEmission.h"


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

LogicalResult KernelEmission::emitMap() {
  Dims sizes = getDims(context.dispatch.getYielded().front());
  ElementIndex index = getIdentityIndex(sizes.size());
  SmallVector<unsigned> variables = llvm::to_vector(llvm::seq<unsigned>(0, sizes.size()));
  SmallVector<VariableRun> runs = mergeVariables(variables, sizes, getEpilogueAccesses(index));
  bool flat = runs.size() <= 1;
  LLVM::LLVMFuncOp body = emitMapBody(runs, flat);
  if (!body)
    return failure();
  DimExpr total = getElementCount(sizes);
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
