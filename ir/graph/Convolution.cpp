#include "ir/graph/Convolution.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"

namespace mlir::ferrule {

/// The windows of a convolution, one entry a spatial axis.
struct ConvolutionWindow {
  ArrayRef<int64_t> strides, padsBegin, padsEnd, dilations;
  int64_t groups;
};

template <typename OpOrAdaptor> static ConvolutionWindow getWindow(OpOrAdaptor op) {
  return {op.getStrides(), op.getPadsBegin(), op.getPadsEnd(), op.getDilations(), op.getGroups()};
}

template <typename Adaptor>
static LogicalResult checkWindow(MaybeLocation location, StringRef op, Adaptor adaptor, size_t spatialRank) {
  if (failed(checkPresent(location, op, "strides", adaptor.getStridesAttr())) ||
      failed(checkPresent(location, op, "pads_begin", adaptor.getPadsBeginAttr())) ||
      failed(checkPresent(location, op, "pads_end", adaptor.getPadsEndAttr())) ||
      failed(checkPresent(location, op, "dilations", adaptor.getDilationsAttr())))
    return failure();
  auto check = [&](StringRef name, ArrayRef<int64_t> values, int64_t least) -> LogicalResult {
    if (values.size() != spatialRank)
      return failInference(location, op,
                           name + " has " + Twine(values.size()) + " entries; there are " + Twine(spatialRank) +
                               " spatial axes");
    for (int64_t value : values)
      if (value < least)
        return failInference(location, op,
                             name + " has the entry " + Twine(value) + "; at least " + Twine(least) + " is allowed");
    return success();
  };
  if (adaptor.getGroups() < 1 || adaptor.getGroups() > std::numeric_limits<int32_t>::max())
    return failInference(location, op, "groups is " + Twine(adaptor.getGroups()) + "; it must be positive");
  return success(succeeded(check("strides", adaptor.getStrides(), 1)) &&
                 succeeded(check("pads_begin", adaptor.getPadsBegin(), 0)) &&
                 succeeded(check("pads_end", adaptor.getPadsEnd(), 0)) &&
                 succeeded(check("dilations", adaptor.getDilations(), 1)));
}

/// The shape of convolution(x, w); fails with a message in terms of the op that asks.
static FailureOr<Dims> inferOutput(MaybeLocation location, StringRef op, ArrayRef<DimExpr> x, ArrayRef<DimExpr> w,
                                   const ConvolutionWindow &window) {
  auto fail = [&](const Twine &rule) {
    return failInference(location, op, "the input is " + describe(x) + " and the weight " + describe(w) + "; " + rule);
  };
  std::optional<int64_t> outputs = w[0].getConstant();
  if (!outputs || !w[1].isConstant())
    return fail("the weight's sizes must be known numbers");
  if (*outputs % window.groups != 0)
    return fail("groups = " + Twine(window.groups) + " must divide the weight's first size");
  if (x[1] != w[1] * DimExpr(window.groups))
    return fail("with groups = " + Twine(window.groups) + " the input must have " +
                (w[1] * DimExpr(window.groups)).str() + " channels on axis 1");
  Dims result = {x[0], w[0]};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    DimExpr reach = (w[i + 2] - 1) * DimExpr(window.dilations[i]);
    DimExpr room = x[i + 2] + DimExpr(window.padsBegin[i]) + DimExpr(window.padsEnd[i]) - reach - 1;
    if (room.getConstant().value_or(0) < 0)
      return fail("on axis " + Twine(i + 2) + " the dilated kernel of " + (reach + 1).str() +
                  " is larger than the padded input of " + (room + reach + 1).str());
    result.push_back(DimExpr::floorDiv(room, window.strides[i]) + 1);
  }
  return result;
}

/// Rank of at least 3 and equal, one float dtype.
static LogicalResult checkTensors(MaybeLocation location, StringRef op, StringRef nameA, Value a, StringRef nameB,
                                  Value b) {
  if (failed(checkKind(location, op, nameA, a, ElementKind::Float)))
    return failure();
  if (getElementType(a) != getElementType(b) || getDims(a).size() != getDims(b).size() || getDims(a).size() < 3)
    return failInference(location, op,
                         nameA + " is " + describe(a) + " and " + nameB + " is " + describe(b) +
                             "; they must have one dtype and the same number of axes, at least 3");
  return success();
}

LogicalResult ConvolutionOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "convolution";
  Value x = adaptor.getX(), w = adaptor.getW();
  if (failed(checkTensors(location, op, "x", x, "w", w)) ||
      failed(checkWindow(location, op, adaptor, getDims(x).size() - 2)))
    return failure();
  FailureOr<Dims> output = inferOutput(location, op, getDims(x), getDims(w), getWindow(adaptor));
  return failed(output) ? failure() : addType(location, op, getElementType(x), *output, types);
}

/// The cotangent must have the shape that the forward convolution would give.
static LogicalResult checkOutput(MaybeLocation location, StringRef op, const FailureOr<Dims> &output, Value dy) {
  if (failed(output))
    return failure();
  if (*output == getDims(dy))
    return success();
  return failInference(location, op, "dy is " + describe(dy) + "; the convolution's result is " + describe(*output));
}

LogicalResult ConvolutionInputGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "convolution_input_gradient";
  Value dy = adaptor.getDy(), w = adaptor.getW();
  if (failed(checkPresent(location, op, "input_shape", adaptor.getInputShapeAttr())) ||
      failed(checkTensors(location, op, "dy", dy, "w", w)) ||
      failed(checkWindow(location, op, adaptor, getDims(dy).size() - 2)))
    return failure();
  ArrayRef<DimExpr> shape = adaptor.getInputShape().getDims();
  if (shape.size() != getDims(dy).size())
    return failInference(location, op, "dy is " + describe(dy) + " and input_shape is " + describe(shape));
  if (failed(checkOutput(location, op, inferOutput(location, op, shape, getDims(w), getWindow(adaptor)), dy)))
    return failure();
  return addType(location, op, getElementType(dy), shape, types);
}

LogicalResult ConvolutionWeightGradientOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "convolution_weight_gradient";
  Value x = adaptor.getX(), dy = adaptor.getDy();
  if (failed(checkPresent(location, op, "weight_shape", adaptor.getWeightShapeAttr())) ||
      failed(checkTensors(location, op, "x", x, "dy", dy)) ||
      failed(checkWindow(location, op, adaptor, getDims(x).size() - 2)))
    return failure();
  ArrayRef<DimExpr> shape = adaptor.getWeightShape().getDims();
  if (shape.size() != getDims(x).size())
    return failInference(location, op, "x is " + describe(x) + " and weight_shape is " + describe(shape));
  if (failed(checkOutput(location, op, inferOutput(location, op, getDims(x), shape, getWindow(adaptor)), dy)))
    return failure();
  return addType(location, op, getElementType(x), shape, types);
}

// Each of the three ops is linear in each operand, and its transposes are the other two.

template <typename Op> static Value buildForward(GraphBuilder &b, Op op, Value x, Value w) {
  return b.create<ConvolutionOp>(x, w, op.getStridesAttr(), op.getPadsBeginAttr(), op.getPadsEndAttr(),
                                 op.getDilationsAttr(), op.getGroupsAttr());
}
template <typename Op> static Value buildInputGradient(GraphBuilder &b, Op op, Value dy, Value w, Value x) {
  return b.create<ConvolutionInputGradientOp>(dy, w, op.getStridesAttr(), op.getPadsBeginAttr(), op.getPadsEndAttr(),
                                              op.getDilationsAttr(), op.getGroupsAttr(),
                                              DimsAttr::get(x.getContext(), getDims(x)));
}
template <typename Op> static Value buildWeightGradient(GraphBuilder &b, Op op, Value x, Value dy, Value w) {
  return b.create<ConvolutionWeightGradientOp>(x, dy, op.getStridesAttr(), op.getPadsBeginAttr(), op.getPadsEndAttr(),
                                               op.getDilationsAttr(), op.getGroupsAttr(),
                                               DimsAttr::get(w.getContext(), getDims(w)));
}

LogicalResult ConvolutionOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value dy = cotangents[0];
  gradients[0] = buildInputGradient(b, *this, dy, getW(), getX());
  gradients[1] = buildWeightGradient(b, *this, getX(), dy, getW());
  return success();
}

LogicalResult ConvolutionInputGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                                        MutableArrayRef<Value> gradients) {
  Value dx = cotangents[0];
  gradients[0] = buildForward(b, *this, dx, getW());
  gradients[1] = buildWeightGradient(b, *this, dx, getDy(), getW());
  return success();
}

LogicalResult ConvolutionWeightGradientOp::buildGradient(GraphBuilder &b, ValueRange cotangents,
                                                         MutableArrayRef<Value> gradients) {
  Value dw = cotangents[0];
  gradients[0] = buildInputGradient(b, *this, getDy(), dw, getX());
  gradients[1] = buildForward(b, *this, getX(), dw);
  return success();
}

/// Two operations for each (output element, weight element of its output channel).
static DimExpr countFlops(ArrayRef<DimExpr> output, ArrayRef<DimExpr> weight) {
  return getElementCount(output) * getElementCount(weight.drop_front()) * DimExpr(2);
}
static DimExpr countConvolutionFlops(ConvolutionOp op) {
  return countFlops(getDims(op.getResult()), getDims(op.getW()));
}
static DimExpr countConvolutionFlops(ConvolutionInputGradientOp op) {
  return countFlops(getDims(op.getDy()), getDims(op.getW()));
}
static DimExpr countConvolutionFlops(ConvolutionWeightGradientOp op) {
  return countFlops(getDims(op.getDy()), getDims(op.getResult()));
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Convolution.cpp.inc"

void mlir::ferrule::registerConvolutionOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Convolution.cpp.inc"
      >();
}
