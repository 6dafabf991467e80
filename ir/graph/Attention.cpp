#include "ir/graph/Attention.h"

#include "ir/graph/Families.h"

namespace mlir::ferrule {

DimExpr AttentionOp::getBatch() {
  ArrayRef<DimExpr> sizes = getSizes().getDims();
  return sizes[0] * sizes[1] * sizes[2];
}
DimExpr AttentionOp::getRows() { return getSizes().getDims()[3]; }
DimExpr AttentionOp::getKeys() { return getSizes().getDims()[4]; }
DimExpr AttentionOp::getWidth() { return getSizes().getDims()[5]; }
DimExpr AttentionOp::getColumns() { return getSizes().getDims()[6]; }
DimExpr AttentionOp::getScoreCount() { return getBatch() * getRows() * getKeys(); }

/// The table is an AttentionShape of kernels/attention/shape.h, number by number.
LibraryCall AttentionOp::getLibraryCall() {
  LibraryCall call;
  call.stem = "attention";
  if (getCausal())
    call.stem += "_causal";
  else if (getAbsent())
    call.stem += "_present";
  else if (getMaskStrides())
    call.stem += "_mask";
  if (getBiasStrides())
    call.stem += "_bias";
  call.element = getElementType(getResult());

  const SmallVector<DimExpr> unused(6, DimExpr(0));
  auto append = [&](std::optional<DimsAttr> strides) {
    call.table.append(strides ? SmallVector<DimExpr>(strides->getDims()) : unused);
  };
  call.table.append(SmallVector<DimExpr>(getSizes().getDims()));
  for (std::optional<DimsAttr> strides : {std::optional(getQStrides()), std::optional(getKStrides()),
                                          std::optional(getVStrides()), std::optional(getOutStrides()),
                                          getBiasStrides(), getMaskStrides()})
    append(strides);
  call.table.append({DimExpr(getDivides()), DimExpr(getMasksFirst()), DimExpr(getFillsTrue())});
  assert(call.table.size() == attentionTableSize && "the table is an AttentionShape");

  call.numbers = {getScale().convertToDouble(), getFill().convertToDouble()};
  call.tiles = getBatch() * DimExpr::ceilDiv(getRows(), attentionStripRows);
  int64_t elementBytes = call.element.getIntOrFloatBitWidth() / 8;
  call.scratchBytes = (getKeys() + getWidth()) * DimExpr(attentionStripRows * elementBytes);
  return call;
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Attention.cpp.inc"

void mlir::ferrule::registerAttentionOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Attention.cpp.inc"
      >();
}
