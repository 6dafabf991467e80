#include "ir/graph/Normalize.h"

#include "ir/graph/Families.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"

namespace mlir::ferrule {

static LogicalResult checkParameter(MaybeLocation location, StringRef name, Value parameter, Value x,
                                    ArrayRef<int64_t> axes) {
  if (!parameter)
    return success();
  Dims dims = getDims(x), expected;
  for (int64_t axis : axes)
    expected.push_back(dims[axis]);
  if (getDims(parameter) == expected && getElementType(parameter) == getElementType(x))
    return success();
  return failInference(location, "normalize",
                       "x is " + describe(x) + " and " + name + " is " + describe(parameter) + "; it must be " +
                           describe(getElementType(x)) + describe(expected));
}

LogicalResult NormalizeOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "normalize";
  Value x = adaptor.getX();
  if (failed(checkKind(location, op, "x", x, ElementKind::Float)) ||
      failed(checkPresent(location, op, "axes", adaptor.getAxesAttr())) ||
      failed(checkPresent(location, op, "param_axes", adaptor.getParamAxesAttr())) ||
      failed(checkPresent(location, op, "eps", adaptor.getEpsAttr())) ||
      failed(checkAxes(location, op, "axes", adaptor.getAxes(), x)) ||
      failed(checkAxes(location, op, "param_axes", adaptor.getParamAxes(), x)) ||
      failed(checkParameter(location, "weight", adaptor.getWeight(), x, adaptor.getParamAxes())) ||
      failed(checkParameter(location, "bias", adaptor.getBias(), x, adaptor.getParamAxes())))
    return failure();
  types.push_back(x.getType());
  Type statistic = makeTensorType(getElementType(x), removeAxes(getDims(x), adaptor.getAxes()));
  types.append(3, statistic);
  return success();
}

LogicalResult MomentsOp::inferTypes(MaybeLocation location, Adaptor adaptor, InferredTypes &types) {
  StringRef op = "moments";
  Value x = adaptor.getX();
  if (failed(checkKind(location, op, "x", x, ElementKind::Float)) ||
      failed(checkPresent(location, op, "axes", adaptor.getAxesAttr())) ||
      failed(checkPresent(location, op, "eps", adaptor.getEpsAttr())) ||
      failed(checkAxes(location, op, "axes", adaptor.getAxes(), x)))
    return failure();
  types.append(3, makeTensorType(getElementType(x), removeAxes(getDims(x), adaptor.getAxes())));
  return success();
}

/// The number of elements along `axes`, as a tensor like `model`.
static Value countElements(GraphBuilder &b, Value x, Value model, ArrayRef<int64_t> axes) {
  Dims dims = getDims(x), sizes;
  for (int64_t axis : axes)
    sizes.push_back(dims[axis]);
  DimExpr count = getElementCount(sizes);
  if (std::optional<int64_t> constant = count.getConstant())
    return b.like(model, static_cast<double>(*constant));
  Value value = b.create<DimOp>(DimsAttr::get(x.getContext(), count));
  return b.broadcastTo(b.cast(value, getElementType(model)), getDims(model));
}

static Value sum(GraphBuilder &b, Value total, Value term) { return total ? b.add(total, term) : term; }

/// Gradients that flow into the statistics themselves:
/// mean: g / n; variance: g * 2 (x - mean) / n; rstd: g * -rstd^3 * (x - mean) / n.
static Value buildStatisticsGradient(GraphBuilder &b, Value x, Value mean, Value rstd, Value meanCotangent,
                                     Value varianceCotangent, Value rstdCotangent, ArrayRef<int64_t> axes) {
  Value total;
  Value count = countElements(b, x, rstd, axes);
  if (varianceCotangent || rstdCotangent) {
    Value scale;
    if (varianceCotangent)
      scale = b.mul(varianceCotangent, b.like(rstd, 2.0));
    if (rstdCotangent)
      scale = sum(b, scale, b.neg(b.mul(rstdCotangent, b.mul(rstd, b.mul(rstd, rstd)))));
    Value centred = b.sub(x, b.expandReduced(mean, x, axes));
    total = b.mul(centred, b.expandReduced(b.div(scale, count), x, axes));
  }
  if (meanCotangent)
    total = sum(b, total, b.expandReduced(b.div(meanCotangent, count), x, axes));
  return total;
}

LogicalResult MomentsOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  gradients[0] =
      buildStatisticsGradient(b, getX(), getMean(), getRstd(), cotangents[0], cotangents[1], cotangents[2], getAxes());
  return success();
}

/// dx = rstd * (gw - mean(gw) - xhat * mean(gw * xhat)) with gw = g * weight; dweight = sum(g * xhat); dbias = sum(g).
LogicalResult NormalizeOp::buildGradient(GraphBuilder &b, ValueRange cotangents, MutableArrayRef<Value> gradients) {
  Value x = getX(), g = cotangents[0];
  ArrayRef<int64_t> axes = getAxes();
  if (g) {
    Value rstd = b.expandReduced(getRstd(), x, axes);
    Value xhat = b.mul(b.sub(x, b.expandReduced(getMean(), x, axes)), rstd);
    Value gw = getWeight() ? b.mul(g, b.expandAxes(getWeight(), x, getParamAxes())) : g;
    Value count = countElements(b, x, getRstd(), axes);
    Value meanGw = b.expandReduced(b.div(b.reduceSum(gw, axes), count), x, axes);
    Value meanProduct = b.expandReduced(b.div(b.reduceSum(b.mul(gw, xhat), axes), count), x, axes);
    gradients[0] = b.mul(rstd, b.sub(b.sub(gw, meanGw), b.mul(xhat, meanProduct)));

    // Parameters keep param_axes; the sum runs over all others, row-major.
    SmallVector<int64_t> others, kept(getParamAxes()), order;
    for (int64_t axis = 0, rank = getDims(x).size(); axis < rank; ++axis)
      if (!llvm::is_contained(kept, axis))
        others.push_back(axis);
    llvm::sort(kept);
    for (int64_t axis : getParamAxes())
      order.push_back(llvm::find(kept, axis) - kept.begin());
    auto reduce = [&](Value value) { return b.transpose(b.reduceSum(value, others), order); };
    unsigned next = 1;
    if (getWeight())
      gradients[next++] = reduce(b.mul(g, xhat));
    if (getBias())
      gradients[next++] = reduce(g);
  }
  if (cotangents[1] || cotangents[2] || cotangents[3])
    gradients[0] =
        sum(b, gradients[0],
            buildStatisticsGradient(b, x, getMean(), getRstd(), cotangents[1], cotangents[2], cotangents[3], axes));
  return success();
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/Normalize.cpp.inc"

void mlir::ferrule::registerNormalizeOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Normalize.cpp.inc"
      >();
}
