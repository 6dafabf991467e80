#ifndef FERRULE_IR_GRAPH_NORMALIZE_TD
#define FERRULE_IR_GRAPH_NORMALIZE_TD

include "ir/graph/Base.td"

def Ferrule_NormalizeOp
    : Ferrule_TensorOp<"normalize", Gradient<"Custom", [0, 1], [1, 3]>, "Expand",
                       "getElementCount(getX()) * ::ferrule::DimExpr(10)", [], [AttrSizedOperandSegments]> {
  let summary = "Batch, layer, instance normalisation: (x - mean) * rstd, then weight and bias";
  let description = [{
    Statistics are over `axes`, in row-major order of x. weight and bias (both, one or none) have the sizes of x's
    `param_axes`, in order. mean, variance (biased: divided by n) and rstd = 1 / sqrt(variance + eps) have the shape of
    x without `axes`. y = fma((x - mean) * rstd, weight, bias). Batch norm in training: axes = [0, 2, 3],
    param_axes = [1]; layer norm: axes = param_axes = the normalised axes. `decompose-normalize` replaces the op by
    moments and elementwise ops, which define its bits.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Optional<Ferrule_Tensor>:$weight, Optional<Ferrule_Tensor>:$bias,
                       DenseI64ArrayAttr:$axes, DenseI64ArrayAttr:$param_axes, F64Attr:$eps);
  let results = (outs Ferrule_Tensor:$y, Ferrule_Tensor:$mean, Ferrule_Tensor:$variance, Ferrule_Tensor:$rstd);
  let maxOperands = 3;
}

def Ferrule_MomentsOp
    : Ferrule_TensorOp<"moments", Gradient<"Custom", [0], [0, 2]>, "Moments",
                       "getElementCount(getX()) * ::ferrule::DimExpr(4)"> {
  let summary = "Mean, biased variance and 1 / sqrt(variance + eps) along axes, computed in float64";
  let description = [{
    x0 = first element; d = x - x0; S1 = sum of d, S2 = sum of d * d; mean = x0 + S1 / n; variance =
    max(0, (S2 - S1 * S1 / n) / n). Each result rounds once to the dtype of x. A float64 x takes two passes instead.
    The results have the shape of x without `axes`.
  }];
  let arguments = (ins Ferrule_Tensor:$x, DenseI64ArrayAttr:$axes, F64Attr:$eps);
  let results = (outs Ferrule_Tensor:$mean, Ferrule_Tensor:$variance, Ferrule_Tensor:$rstd);
}

#endif // FERRULE_IR_GRAPH_NORMALIZE_TD
