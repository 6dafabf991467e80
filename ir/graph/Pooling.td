// Pooling over the spatial axes of [N, C, spatial...].
#ifndef FERRULE_IR_GRAPH_POOLING_TD
#define FERRULE_IR_GRAPH_POOLING_TD

include "ir/graph/Base.td"

/// A fixed window moves by `strides`: result size per axis (size + pads_begin + pads_end - dilation * (kernel - 1) - 1)
/// // stride + 1, with dilations 1 unless given. Or `output_sizes` alone is given: output i of n along an axis of size
/// s has the adaptive window [floor(i * s / n), ceil((i + 1) * s / n)).
class Ferrule_PoolingBase<string mnemonic, GradientSpec gradient, string lowering, dag operands, dag extra>
    : Ferrule_TensorOp<mnemonic, gradient, lowering, "countPoolingFlops(*this)"> {
  let arguments = !con(operands, (ins OptionalAttr<DenseI64ArrayAttr>:$kernel,
                                      OptionalAttr<DenseI64ArrayAttr>:$strides,
                                      OptionalAttr<DenseI64ArrayAttr>:$pads_begin,
                                      OptionalAttr<DenseI64ArrayAttr>:$pads_end,
                                      OptionalAttr<DenseI64ArrayAttr>:$dilations,
                                      OptionalAttr<DenseI64ArrayAttr>:$output_sizes), extra);
  let results = (outs Ferrule_Tensor:$result);
}

def Ferrule_MaxPoolOp
    : Ferrule_PoolingBase<"max_pool", Gradient<"Custom", [0]>, "Pooling", (ins Ferrule_Tensor:$x), (ins)> {
  let summary = "Largest element of each window; NaN wins; padding is absent";
}
def Ferrule_MaxPoolGradientOp
    : Ferrule_PoolingBase<"max_pool_gradient", Gradient<"Custom", [0]>, "PoolingGradient",
                          (ins Ferrule_Tensor:$x, Ferrule_Tensor:$dy), (ins)> {
  let summary = "Adds each dy to the first largest element of its window, windows ascending";
  let minOperands = 2;
}
def Ferrule_MaxPoolSelectOp
    : Ferrule_PoolingBase<"max_pool_select", Gradient<"Custom", [0]>, "Pooling",
                          (ins Ferrule_Tensor:$x, Ferrule_Tensor:$v), (ins)> {
  let summary = "For each window the element of v where x has its first largest element: the transpose of "
                "max_pool_gradient";
  let minOperands = 2;
}
def Ferrule_AvgPoolOp
    : Ferrule_PoolingBase<"avg_pool", Gradient<"Custom">, "Pooling", (ins Ferrule_Tensor:$x),
                          (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad)> {
  let summary = "Mean of each window; its divisor is the size of the window, or without count_include_pad the elements "
                "present";
}
def Ferrule_AvgPoolGradientOp
    : Ferrule_PoolingBase<"avg_pool_gradient", Gradient<"Custom">, "PoolingGradient", (ins Ferrule_Tensor:$dy),
                          (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad,
                               Ferrule_DimsAttr:$input_shape)> {
  let summary = "Adds dy / divisor to every element of its window, windows ascending";
}

#endif // FERRULE_IR_GRAPH_POOLING_TD
