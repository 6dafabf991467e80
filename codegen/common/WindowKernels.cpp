//===- WindowKernels.cpp - Convolution and pooling ----------------------===//

#include "codegen/common/KernelEmission.h"

#include "kernels/skeletons.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ferrule;
namespace kernels = ::ferrule::kernels;

namespace {

/// The 22 shape arguments of the window skeletons, from channels-last images; 1-D images have height 1, and 1-D and 2-D
/// images depth 1. `inputRows` and `outputRows` count the rows of all images.
struct WindowShape {
  Dims arguments;
  DimExpr batch, inputRows, outputRows;
};

} // namespace

static FailureOr<WindowShape> describeWindow(Operation *root, ArrayRef<DimExpr> in, ArrayRef<DimExpr> out) {
  unsigned spatial = in.size() - 2;
  if (spatial < 1 || spatial > 3)
    return failure();
  /// The entry for depth (0), height (1) or width (2); `missing` where the image has no such axis.
  auto attribute = [&](StringRef name, unsigned axis, int64_t missing) {
    ArrayRef<int64_t> values = root->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
    return DimExpr(axis + spatial < 3 ? missing : values[axis + spatial - 3]);
  };
  auto size = [&](ArrayRef<DimExpr> image, unsigned axis) {
    return axis + spatial < 3 ? DimExpr(1) : image[axis + spatial - 2];
  };
  WindowShape shape;
  shape.batch = in[0];
  shape.inputRows = in[0] * size(in, 0) * size(in, 1);
  shape.outputRows = in[0] * size(out, 0) * size(out, 1);
  shape.arguments = {in[0],
                     size(in, 1),
                     size(in, 2),
                     in.back(),
                     size(out, 1),
                     size(out, 2),
                     out.back(),
                     DimExpr(root->getAttrOfType<IntegerAttr>("groups").getInt()),
                     attribute("kernel", 1, 1),
                     attribute("kernel", 2, 1),
                     attribute("strides", 1, 1),
                     attribute("strides", 2, 1),
                     attribute("pads_begin", 1, 0),
                     attribute("pads_begin", 2, 0),
                     attribute("dilations", 1, 1),
                     attribute("dilations", 2, 1),
                     size(in, 0),
                     size(out, 0),
                     attribute("kernel", 0, 1),
                     attribute("strides", 0, 1),
                     attribute("pads_begin", 0, 0),
                     attribute("dilations", 0, 1)};
  return shape;
}

/// The pieces in which the channels of the image lie that an op reads.
static OperandRange getImagePieces(Operation *root) {
  return llvm::TypeSwitch<Operation *, OperandRange>(root)
      .Case<ImageConvolutionOp, ImageConvolutionWeightGradientOp>([](auto op) { return op.getXs(); })
      .Default([](Operation *op) { return op->getOperands().take_front(1); });
}

static Dims getImageDims(OperandRange pieces) {
  Dims dims = getDims(pieces.front());
  for (Value piece : pieces.drop_front())
    dims.back() = dims.back() + getDims(piece).back();
  return dims;
}

/// The arguments that stand for an image in pieces: where they begin, their channels, how many there are.
SmallVector<Value> KernelEmission::emitImagePieces(FunctionEmitter &e, Value ctx, ValueRange pieces) {
  Value begins = e.stackSlots(pieces.size());
  SmallVector<int64_t> channels;
  for (auto [number, piece] : llvm::enumerate(pieces)) {
    e.store(getInput(e, ctx, piece), e.elementPointer(begins, e.indexType(), e.index(number)), 8);
    channels.push_back(*getDims(piece).back().getConstant());
  }
  return {begins, e.constantSlots(channels), e.index(channels.size())};
}

LogicalResult KernelEmission::emitWindow(Operation *root) {
  Value first = root->getOperand(0), result = root->getResult(0);
  std::string suffix = suffixOf(elementOf(first), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(first)));
  bool inputGradient = isa<ImageConvolutionInputGradientOp>(root);
  bool weightGradient = isa<ImageConvolutionWeightGradientOp>(root);
  OperandRange pieces = getImagePieces(root);
  int64_t pieceCount = pieces.size();
  bool inPieces = pieceCount > 1;
  Dims in = inputGradient ? getDims(result) : getImageDims(pieces);
  Dims out = getDims(inputGradient ? first : weightGradient ? root->getOperands().back() : result);
  FailureOr<WindowShape> shape = describeWindow(root, in, out);
  if (failed(shape))
    return unsupported(root, Twine(in.size() - 2) + " spatial axes");
  Dims sizes = getDims(result);
  unsigned last = sizes.size() - 1;
  LLVM::LLVMFuncOp store = emitStore(llvm::to_vector(llvm::seq<unsigned>(0, last)), last,
                                     getIdentityIndex(sizes.size()), sizes);
  if (!store)
    return failure();
  spec.tiles = inputGradient ? shape->inputRows : shape->outputRows;
  std::string family = llvm::TypeSwitch<Operation *, StringRef>(root)
                           .Case([](ImageMaxPoolOp) { return "max_pool"; })
                           .Case([](ImageMaxPoolSelectOp) { return "max_pool_select"; })
                           .Case([](ImageAvgPoolOp) { return "avg_pool"; })
                           .Default([](Operation *) { return "conv"; })
                           .str();
  bool convolution = family == "conv";
  LLVM::LLVMFuncOp fetch;
  bool fetches = false;
  if (convolution) {
    /// Channels and the kernel are numbers, as the weight's shape is.
    auto number = [&](unsigned argument) { return *shape->arguments[argument].getConstant(); };
    int64_t inC = number(3), outC = number(6), groups = number(7), kernelH = number(8), kernelW = number(9),
            kernelD = number(18);
    bool depthwise = isDepthwise(inC, outC, groups);
    if (depthwise)
      family = "depthwise";
    if (weightGradient)
      spec.tiles = DimExpr(depthwise ? kernels::depthwise_weight_gradient_tiles(outC, kernelD, kernelH)
                                     : kernels::conv_weight_gradient_tiles(groups, inC, outC, kernelD, kernelH, kernelW,
                                                                           number(15), pieceCount));
    else if (depthwise)
      spec.tiles = spec.tiles * DimExpr(kernels::depthwise_tiles(1, outC));
    else if (!inputGradient)
      spec.tiles = spec.tiles * DimExpr(kernels::conv_column_blocks(groups, outC));
    if (weightGradient && !depthwise)
      spec.scratchBytes = DimExpr(
          kernels::conv_weight_gradient_scratch_bytes(groups, inC, outC, kernelD, kernelH, kernelW, number(15),
                                                      elementOf(first).getIntOrFloatBitWidth() / 8, pieceCount));
    fetches = !weightGradient && !depthwise;
    if (fetches)
      fetch = emitFetch(sizes);
    if (inPieces)
      family += "_pieces";
    family += inputGradient ? "_input_gradient" : weightGradient ? "_weight_gradient" : "";
  }
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments{ctx, e.addressOf(store)};
    if (fetches)
      arguments.push_back(e.addressOf(fetch));
    if (inPieces)
      llvm::append_range(arguments, emitImagePieces(e, ctx, pieces));
    for (Value operand : root->getOperands().drop_front(inPieces ? pieceCount : 0))
      arguments.push_back(getInput(e, ctx, operand));
    for (const DimExpr &argument : shape->arguments)
      arguments.push_back(context.getSize(e, ctx, argument));
    if (auto pool = dyn_cast<ImageAvgPoolOp>(root))
      arguments.push_back(e.index(pool.getCountIncludePad()));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    if (convolution)
      arguments.push_back(scratch(e));
    e.call("ferrule_" + family + suffix, arguments);
    return Value();
  });
  return success();
}

LogicalResult KernelEmission::emitPoolingGradient(Operation *root) {
  Value result = root->getResult(0), dy = root->getOperands().back();
  std::string suffix = suffixOf(elementOf(dy), false);
  if (suffix.empty())
    return unsupported(root, describe(elementOf(dy)));
  FailureOr<WindowShape> shape = describeWindow(root, getDims(result), getDims(dy));
  if (failed(shape))
    return unsupported(root, Twine(typeOf(dy).getRank() - 2) + " spatial axes");
  spec.tiles = shape->batch;
  bool average = isa<ImageAvgPoolGradientOp>(root);
  emitFunction([&](FunctionEmitter &e, Value ctx) {
    SmallVector<Value> arguments;
    for (Value operand : root->getOperands())
      arguments.push_back(getInput(e, ctx, operand));
    arguments.push_back(context.getBuffer(e, ctx, 0));
    for (const DimExpr &argument : shape->arguments)
      arguments.push_back(context.getSize(e, ctx, argument));
    if (average)
      arguments.push_back(e.index(cast<ImageAvgPoolGradientOp>(root).getCountIncludePad()));
    arguments.push_back(tileBegin(e));
    arguments.push_back(tileEnd(e));
    e.call((average ? "ferrule_avg_pool_gradient" : "ferrule_max_pool_gradient") + suffix, arguments);
    return Value();
  });
  return success();
}
