#include "ir/graph/Layout.h"

#include "ir/graph/Families.h"
#include "ir/graph/Shape.h"
#include "ir/graph/Tiles.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace mlir::ferrule {

/// Each element on the side of the output columns meets the rows of a panel, of which dim 1 is the number. Columns that
/// fill up a panel do not count.
static DimExpr countPanelFlops(Value columns, Value panels) {
  return DimExpr(2) * getElementCount(columns) * getDims(panels)[1];
}

/// Pairs of an output and a tap along one axis; where the sizes are known only those whose element the image has.
static DimExpr countTaps(const DimExpr &image, const DimExpr &outputs, int64_t kernel, int64_t stride, int64_t pad,
                         int64_t dilation) {
  std::optional<int64_t> size = image.getConstant(), count = outputs.getConstant();
  if (!size || !count)
    return outputs * DimExpr(kernel);
  int64_t pairs = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    int64_t offset = tap * dilation - pad;
    int64_t first = std::max<int64_t>(0, llvm::divideCeilSigned(-offset, stride));
    int64_t end = std::min(*count, llvm::divideFloorSigned(*size - 1 - offset, stride) + 1);
    pairs += std::max<int64_t>(0, end - first);
  }
  return DimExpr(pairs);
}

/// Each pair of a pixel of `outputs` and a tap meets the channels of a panel's rows in each of `columns` columns.
template <typename Op>
static DimExpr countConvolutionFlops(Op op, Value image, Value outputs, Value panels, const DimExpr &columns) {
  ArrayRef<int64_t> kernel = op.getKernel();
  Dims in = getDims(image), out = getDims(outputs);
  DimExpr flops =
      DimExpr(2) * out.front() * columns * DimExpr::floorDiv(getDims(panels)[1], DimExpr(llvm::product_of(kernel)));
  for (auto [axis, taps] : llvm::enumerate(kernel))
    flops = flops * countTaps(in[axis + 1], out[axis + 1], taps, op.getStrides()[axis], op.getPadsBegin()[axis],
                              op.getDilations()[axis]);
  return flops;
}
static DimExpr countImageFlops(ImageConvolutionOp op) {
  return countConvolutionFlops(op, op.getXs().front(), op.getResult(), op.getPanels(), getDims(op.getResult()).back());
}
static DimExpr countImageFlops(ImageConvolutionWeightGradientOp op) {
  return countConvolutionFlops(op, op.getXs().front(), op.getDy(), op.getResult(), getDims(op.getDy()).back());
}
/// Here the columns are the input channels.
static DimExpr countImageFlops(ImageConvolutionInputGradientOp op) {
  return countConvolutionFlops(op, op.getResult(), op.getDy(), op.getPanels(), getDims(op.getResult()).back());
}

/// As the logical pools count.
template <typename Op> static DimExpr countWindowFlops(Op op, Value pooled, Value image) {
  if (llvm::is_contained(op.getStrides(), 0))
    return getElementCount(image);
  return getElementCount(pooled) * DimExpr(llvm::product_of(op.getKernel()));
}
static DimExpr countImageFlops(ImageMaxPoolOp op) { return countWindowFlops(op, op.getResult(), op.getX()); }
static DimExpr countImageFlops(ImageMaxPoolSelectOp op) { return countWindowFlops(op, op.getResult(), op.getX()); }
static DimExpr countImageFlops(ImageAvgPoolOp op) { return countWindowFlops(op, op.getResult(), op.getX()); }
static DimExpr countImageFlops(ImageMaxPoolGradientOp op) { return countWindowFlops(op, op.getDy(), op.getX()); }
static DimExpr countImageFlops(ImageAvgPoolGradientOp op) { return countWindowFlops(op, op.getDy(), op.getResult()); }

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Layout.cpp.inc"

void mlir::ferrule::registerLayoutOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Layout.cpp.inc"
      >();
}

LibraryCall PanelTakeOp::getLibraryCall() {
  DimExpr m = getElementCount(getIndices()), k = getDims(getPanels())[1];
  int64_t tileRows = chooseTileRows(getDims(getResult()).back());
  LibraryCall call;
  call.stem = "panel_take";
  call.element = getElementType(getPanels());
  call.byWidth = true;
  call.sizes = {m,
                DimExpr(getN()),
                k,
                DimExpr(int64_t(getColumns())),
                DimExpr(int64_t(getElementType(getIndices()).getIntOrFloatBitWidth() / 8)),
                DimExpr(tileRows)};
  call.tiles = DimExpr::ceilDiv(m, tileRows);
  call.canFail = true;
  return call;
}

SmallVector<int64_t> PanelLayout::getPhysicalShape(ArrayRef<int64_t> shape) const {
  int64_t n = 1, k = 1;
  for (int64_t axis : nAxes)
    n *= shape[axis];
  for (int64_t axis : kAxes)
    k *= shape[axis];
  int64_t panels = (n / groups + panelWidth - 1) / panelWidth;
  return {groups * panels, k, panelWidth};
}

DictionaryAttr PanelLayout::toAttribute(MLIRContext *context) const {
  Builder b(context);
  return b.getDictionaryAttr(
      {b.getNamedAttr("groups", b.getI64IntegerAttr(groups)), b.getNamedAttr("k_axes", b.getDenseI64ArrayAttr(kAxes)),
       b.getNamedAttr("kind", b.getStringAttr("panel")), b.getNamedAttr("n_axes", b.getDenseI64ArrayAttr(nAxes))});
}

std::optional<PanelLayout> PanelLayout::fromAttribute(Attribute attribute) {
  auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!dictionary)
    return std::nullopt;
  auto nAxes = dictionary.getAs<DenseI64ArrayAttr>("n_axes");
  auto kAxes = dictionary.getAs<DenseI64ArrayAttr>("k_axes");
  auto groups = dictionary.getAs<IntegerAttr>("groups");
  if (!nAxes || !kAxes || !groups)
    return std::nullopt;
  PanelLayout layout;
  layout.nAxes.assign(nAxes.asArrayRef().begin(), nAxes.asArrayRef().end());
  layout.kAxes.assign(kAxes.asArrayRef().begin(), kAxes.asArrayRef().end());
  layout.groups = groups.getInt();
  return layout;
}

bool mlir::ferrule::isDepthwise(int64_t inChannels, int64_t outChannels, int64_t groups) {
  return groups > 1 && inChannels == groups && outChannels == groups;
}

PanelLayout mlir::ferrule::getConvolutionLayout(ArrayRef<int64_t> weightShape, int64_t groups) {
  PanelLayout layout;
  layout.nAxes = {0};
  for (size_t axis = 2; axis < weightShape.size(); ++axis)
    layout.kAxes.push_back(axis);
  layout.kAxes.push_back(1);
  layout.groups = isDepthwise(weightShape[1] * groups, weightShape[0], groups) ? 1 : groups;
  return layout;
}

RankedTensorType mlir::ferrule::getPhysicalType(RankedTensorType type, Attribute layout) {
  std::optional<PanelLayout> panels = PanelLayout::fromAttribute(layout);
  return panels ? RankedTensorType::get(panels->getPhysicalShape(type.getShape()), type.getElementType()) : type;
}
