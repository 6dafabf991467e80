#include "ir/graph/Attention.h"

#include "ir/graph/Families.h"

namespace mlir::ferrule {

namespace {

/// "_causal", "_mask_bias" and the like: the part of the kernel's name that the scores decide.
template <typename Op> std::string getVariant(Op op) {
  std::string variant;
  if (op.getCausal())
    variant += "_causal";
  else if (op.getAbsent())
    variant += "_present";
  else if (op.getMaskStrides())
    variant += "_mask";
  if (op.getBiasStrides())
    variant += "_bias";
  return variant;
}

void appendStrides(LibraryCall &call, std::optional<DimsAttr> strides) {
  const SmallVector<DimExpr> unused(6, DimExpr(0));
  call.table.append(strides ? SmallVector<DimExpr>(strides->getDims()) : unused);
}

/// The table is an AttentionShape of kernels/attention/shape.h, number by number; `rowStrides` are those of its `out`.
template <typename Op> LibraryCall getCallOf(Op op, StringRef stem, Value row, DimsAttr rowStrides) {
  LibraryCall call;
  call.stem = stem.str() + getVariant(op);
  call.element = getElementType(row);
  call.table.append(SmallVector<DimExpr>(op.getSizes().getDims()));
  for (std::optional<DimsAttr> strides :
       {std::optional(op.getQStrides()), std::optional(op.getKStrides()), std::optional(op.getVStrides()),
        std::optional(rowStrides), op.getBiasStrides(), op.getMaskStrides()})
    appendStrides(call, strides);
  call.table.append({DimExpr(op.getDivides()), DimExpr(op.getMasksFirst()), DimExpr(op.getFillsTrue())});
  assert(call.table.size() == attentionTableSize && "the table is an AttentionShape");
  call.numbers = {op.getScale().convertToDouble(), op.getFill().convertToDouble()};
  return call;
}

DimExpr getElementBytes(const LibraryCall &call) { return call.element.getIntOrFloatBitWidth() / 8; }

} // namespace

LibraryCall AttentionOp::getLibraryCall() {
  LibraryCall call = getCallOf(*this, "attention", getResult(), getOutStrides());
  call.tiles = getBatch() * DimExpr::ceilDiv(getRows(), attentionStripRows);
  call.scratchBytes = (getKeys() + getWidth()) * DimExpr(attentionStripRows) * getElementBytes(call);
  return call;
}

/// An AttentionGradientShape; attention_gradient_scratch says what the scratch is.
LibraryCall AttentionGradientOp::getLibraryCall() {
  LibraryCall call = getCallOf(*this, "attention_gradient", getQGradient(), getGStrides());
  for (DimsAttr strides : {getQGradientStrides(), getKGradientStrides(), getVGradientStrides()})
    appendStrides(call, strides);
  assert(call.table.size() == attentionGradientTableSize && "the table is an AttentionGradientShape");
  call.tiles = getBatch();
  DimExpr wide = getWidth() + getColumns();
  call.scratchBytes = (DimExpr(attentionStripRows) * (wide + getKeys() * DimExpr(2)) +
                       getKeys() * (wide * DimExpr(2) + DimExpr(1))) *
                      getElementBytes(call);
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
