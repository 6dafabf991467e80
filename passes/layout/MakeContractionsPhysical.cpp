#include "passes/layout/Layout.h"

#include "ir/graph/Convolution.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Indexing.h"
#include "ir/graph/Layout.h"
#include "ir/graph/Matmul.h"
#include "ir/graph/Pooling.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// [0, 2, .., rank - 1, 1]
SmallVector<int64_t> getChannelsLastPattern(int64_t rank) {
  SmallVector<int64_t> pattern{0};
  for (int64_t axis = 2; axis < rank; ++axis)
    pattern.push_back(axis);
  pattern.push_back(1);
  return pattern;
}

SmallVector<int64_t> getChannelsFirstPattern(int64_t rank) {
  SmallVector<int64_t> pattern{0, rank - 1};
  for (int64_t axis = 1; axis + 1 < rank; ++axis)
    pattern.push_back(axis);
  return pattern;
}

RankedTensorType permute(RankedTensorType type, ArrayRef<int64_t> pattern) {
  Dims dims = getDims(type), permuted;
  for (int64_t axis : pattern)
    permuted.push_back(dims[axis]);
  return makeTensorType(type.getElementType(), permuted);
}

Value toChannelsLast(GraphBuilder &b, Value x) {
  return b.transpose(x, getChannelsLastPattern(cast<RankedTensorType>(x.getType()).getRank()));
}

Value toChannelsFirst(GraphBuilder &b, Value x) {
  Value result = b.transpose(x, getChannelsFirstPattern(cast<RankedTensorType>(x.getType()).getRank()));
  if (result != x)
    result.getDefiningOp()->setAttr(channelsFirstMark, b.getBuilder().getUnitAttr());
  return result;
}

Value pack(GraphBuilder &b, Value x, const PanelLayout &layout) {
  auto type = cast<RankedTensorType>(x.getType());
  auto physical = RankedTensorType::get(layout.getPhysicalShape(type.getShape()), type.getElementType());
  return b.create<PackOp>(physical, x, layout.nAxes, layout.kAxes, layout.groups).getResult();
}

bool isPackable(Value weight) {
  auto type = cast<RankedTensorType>(weight.getType());
  return type.hasStaticShape() && (type.getElementType().isF32() || type.getElementType().isF64());
}

/// The attributes that a channels-last convolution shares with the op it stands for.
template <typename SourceOp> SmallVector<NamedAttribute> getWindowAttributes(SourceOp op, ArrayRef<int64_t> kernel) {
  Builder b(op.getContext());
  return {b.getNamedAttr("kernel", b.getDenseI64ArrayAttr(kernel)),
          b.getNamedAttr("strides", op.getStridesAttr()),
          b.getNamedAttr("pads_begin", op.getPadsBeginAttr()),
          b.getNamedAttr("pads_end", op.getPadsEndAttr()),
          b.getNamedAttr("dilations", op.getDilationsAttr()),
          b.getNamedAttr("groups", b.getI64IntegerAttr(op.getGroups()))};
}

/// The same for a pool; adaptive windows have strides 0.
template <typename SourceOp> SmallVector<NamedAttribute> getPoolAttributes(SourceOp op) {
  Builder b(op.getContext());
  SmallVector<int64_t> ones(op.getResult().getType().getRank() - 2, 1), zeros(ones.size(), 0);
  auto attribute = [&](StringRef name, DenseI64ArrayAttr given, ArrayRef<int64_t> absent) {
    return b.getNamedAttr(name, given ? given : b.getDenseI64ArrayAttr(absent));
  };
  return {attribute("kernel", op.getKernelAttr(), ones),         attribute("strides", op.getStridesAttr(), zeros),
          attribute("pads_begin", op.getPadsBeginAttr(), zeros), attribute("pads_end", op.getPadsEndAttr(), zeros),
          attribute("dilations", op.getDilationsAttr(), ones),   b.getNamedAttr("groups", b.getI64IntegerAttr(1))};
}

template <typename PhysicalOp>
Value createImageOp(GraphBuilder &b, RankedTensorType type, ValueRange operands, ArrayRef<NamedAttribute> attributes) {
  return b.create<PhysicalOp>(TypeRange{type}, operands, attributes).getResult();
}

RankedTensorType channelsLastType(Value result) {
  auto type = cast<RankedTensorType>(result.getType());
  return permute(type, getChannelsLastPattern(type.getRank()));
}

struct ConvertConvolution : OpRewritePattern<ConvolutionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionOp op, PatternRewriter &rewriter) const override {
    if (!isPackable(op.getW()))
      return rewriter.notifyMatchFailure(op, "the weight has symbolic sizes or no panel dtype");
    GraphBuilder b(rewriter, op.getLoc());
    ArrayRef<int64_t> shape = op.getW().getType().getShape();
    Value panels = pack(b, op.getW(), getConvolutionLayout(shape, op.getGroups()));
    Value y =
        createImageOp<ImageConvolutionOp>(b, channelsLastType(op.getResult()), {toChannelsLast(b, op.getX()), panels},
                                          getWindowAttributes(op, shape.drop_front(2)));
    rewriter.replaceOp(op, toChannelsFirst(b, y));
    return success();
  }
};

/// Panels over the input channels, whose rows are the taps and the output channels. A depthwise convolution has one
/// output channel an input channel: its panels serve as they are.
Value transposePanels(GraphBuilder &b, Value panels, ConvolutionInputGradientOp op) {
  ArrayRef<int64_t> shape = op.getW().getType().getShape();
  int64_t groups = op.getGroups(), n = shape[0] / groups, k = shape[1], taps = 1;
  if (isDepthwise(k * groups, shape[0], groups))
    return panels;
  for (int64_t size : shape.drop_front(2))
    taps *= size;
  auto type = RankedTensorType::get({groups * ((k + panelWidth - 1) / panelWidth), taps * n, panelWidth},
                                    op.getW().getType().getElementType());
  return b.create<TransposePanelsOp>(type, panels, groups, n, taps, k).getResult();
}

struct ConvertConvolutionInputGradient : OpRewritePattern<ConvolutionInputGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionInputGradientOp op, PatternRewriter &rewriter) const override {
    if (!isPackable(op.getW()))
      return rewriter.notifyMatchFailure(op, "the weight has symbolic sizes or no panel dtype");
    GraphBuilder b(rewriter, op.getLoc());
    ArrayRef<int64_t> shape = op.getW().getType().getShape();
    Value panels = pack(b, op.getW(), getConvolutionLayout(shape, op.getGroups()));
    Value dx = createImageOp<ImageConvolutionInputGradientOp>(
        b, channelsLastType(op.getResult()), {toChannelsLast(b, op.getDy()), transposePanels(b, panels, op)},
        getWindowAttributes(op, shape.drop_front(2)));
    rewriter.replaceOp(op, toChannelsFirst(b, dx));
    return success();
  }
};

struct ConvertConvolutionWeightGradient : OpRewritePattern<ConvolutionWeightGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolutionWeightGradientOp op, PatternRewriter &rewriter) const override {
    if (!isPackable(op.getResult()))
      return rewriter.notifyMatchFailure(op, "the weight has symbolic sizes or no panel dtype");
    GraphBuilder b(rewriter, op.getLoc());
    RankedTensorType logical = op.getResult().getType();
    PanelLayout layout = getConvolutionLayout(logical.getShape(), op.getGroups());
    auto type = RankedTensorType::get(layout.getPhysicalShape(logical.getShape()), logical.getElementType());
    Value dw = createImageOp<ImageConvolutionWeightGradientOp>(
        b, type, {toChannelsLast(b, op.getX()), toChannelsLast(b, op.getDy())},
        getWindowAttributes(op, logical.getShape().drop_front(2)));
    rewriter.replaceOpWithNewOp<UnpackOp>(op, logical, dw, layout.nAxes, layout.kAxes, layout.groups);
    return success();
  }
};

template <typename PoolOp, typename PhysicalOp> struct ConvertPool : OpRewritePattern<PoolOp> {
  using OpRewritePattern<PoolOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    GraphBuilder b(rewriter, op.getLoc());
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(toChannelsLast(b, operand));
    SmallVector<NamedAttribute> attributes = getPoolAttributes(op);
    if constexpr (std::is_same_v<PoolOp, AvgPoolOp> || std::is_same_v<PoolOp, AvgPoolGradientOp>)
      attributes.push_back(rewriter.getNamedAttr("count_include_pad", rewriter.getBoolAttr(op.getCountIncludePad())));
    Value y = createImageOp<PhysicalOp>(b, channelsLastType(op.getResult()), operands, attributes);
    rewriter.replaceOp(op, toChannelsFirst(b, y));
    return success();
  }
};

/// matmul with an unpacked weight: along its columns the panels serve as they are, along its rows transposed.
struct ConvertMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto unpack = op.getB().getDefiningOp<UnpackOp>();
    if (!unpack || op.getA().getType().getRank() != 2 || op.getB().getType().getRank() != 2 ||
        unpack.getGroups() != 1 || unpack.getNAxes().size() != 1 || unpack.getKAxes().size() != 1)
      return rewriter.notifyMatchFailure(op, "the right operand is no matrix in panels");
    GraphBuilder b(rewriter, op.getLoc());
    int64_t columnAxis = op.getTransposeB() ? 0 : 1;
    Value panels = unpack.getX();
    if (unpack.getNAxes()[0] != columnAxis) {
      ArrayRef<int64_t> shape = op.getB().getType().getShape();
      int64_t n = shape[1 - columnAxis], k = shape[columnAxis];
      auto type = RankedTensorType::get({(k + panelWidth - 1) / panelWidth, n, panelWidth},
                                        op.getB().getType().getElementType());
      panels = b.create<TransposePanelsOp>(type, panels, 1, n, 1, k).getResult();
    }
    rewriter.replaceOpWithNewOp<PanelMatmulOp>(op, op.getType(), op.getA(), panels, op.getTransposeA());
    return success();
  }
};

/// take of rows or columns of a matrix that stands in panels, as an embedding that is also the last layer's weight.
struct ConvertTake : OpRewritePattern<TakeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TakeOp op, PatternRewriter &rewriter) const override {
    auto unpack = op.getX().getDefiningOp<UnpackOp>();
    auto indices = cast<RankedTensorType>(op.getIndices().getType());
    if (!unpack || op.getAxis() != 0 || indices.getShape().back() != 1 || unpack.getGroups() != 1 ||
        unpack.getNAxes().size() != 1 || unpack.getKAxes().size() != 1)
      return rewriter.notifyMatchFailure(op, "takes no parts along the first axis of a matrix in panels");
    int64_t n = unpack.getType().getDimSize(unpack.getNAxes()[0]);
    rewriter.replaceOpWithNewOp<PanelTakeOp>(op, op.getType(), unpack.getX(), op.getIndices(), n,
                                             unpack.getNAxes()[0] == 0);
    return success();
  }
};

/// pack(matmul(g, x, transpose_a)) with columns along g, and pack(matmul(x, g, transpose_a)) with columns along g: the
/// gradient of a packed matrix, written in panels at once.
struct ConvertWeightProduct : OpRewritePattern<PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PackOp op, PatternRewriter &rewriter) const override {
    auto matmul = op.getX().getDefiningOp<MatmulOp>();
    if (!matmul || !matmul.getTransposeA() || matmul.getTransposeB() || matmul.getType().getRank() != 2 ||
        op.getNAxes().size() != 1 || op.getKAxes().size() != 1 || op.getGroups() != 1)
      return rewriter.notifyMatchFailure(op, "no product of a transposed matrix with another");
    bool columnsOfA = op.getNAxes()[0] == 0;
    Value x = columnsOfA ? matmul.getB() : matmul.getA(), g = columnsOfA ? matmul.getA() : matmul.getB();
    rewriter.replaceOpWithNewOp<PanelOuterOp>(op, op.getType(), x, g);
    return success();
  }
};

/// The micro-kernel reads the right operand row by row, unless it copies it first.
struct TransposeRightOperand : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    if (!op.getTransposeB() || op.packsRightOperand())
      return rewriter.notifyMatchFailure(op, "row-major, or copied");
    int64_t rank = op.getB().getType().getRank();
    SmallVector<int64_t> pattern = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::swap(pattern[rank - 1], pattern[rank - 2]);
    GraphBuilder b(rewriter, op.getLoc());
    Value transposed = b.transpose(op.getB(), pattern);
    rewriter.modifyOpInPlace(op, [&] {
      op.getBMutable().assign(transposed);
      op.setTransposeB(false);
    });
    return success();
  }
};

} // namespace

LogicalResult mlir::ferrule::makeContractionsPhysical(ModuleOp module) {
  MLIRContext *context = module.getContext();
  GreedyRewriteConfig config;
  config.enableFolding(false);
  RewritePatternSet products(context);
  products.add<ConvertMatmul, ConvertTake, ConvertConvolution, ConvertConvolutionInputGradient,
               ConvertConvolutionWeightGradient>(context);
  products
      .add<ConvertPool<MaxPoolOp, ImageMaxPoolOp>, ConvertPool<AvgPoolOp, ImageAvgPoolOp>,
           ConvertPool<MaxPoolGradientOp, ImageMaxPoolGradientOp>, ConvertPool<MaxPoolSelectOp, ImageMaxPoolSelectOp>,
           ConvertPool<AvgPoolGradientOp, ImageAvgPoolGradientOp>>(context);
  return applyPatternsGreedily(module, std::move(products), config);
}

void mlir::ferrule::populateWeightProductPatterns(RewritePatternSet &patterns) {
  patterns.add<ConvertWeightProduct>(patterns.getContext());
}

LogicalResult mlir::ferrule::transposeRightOperands(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  patterns.add<TransposeRightOperand>(module.getContext());
  GreedyRewriteConfig config;
  config.enableFolding(false);
  return applyPatternsGreedily(module, std::move(patterns), config);
}
