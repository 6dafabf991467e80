// Pooling over the spatial axes of [N, C, spatial...]. Result size per axis:
// (size + pads_begin + pads_end - kernel) // stride + 1.
#ifndef FERRULE_IR_GRAPH_POOLING_TD
#define FERRULE_IR_GRAPH_POOLING_TD

include "ir/graph/Base.td"

class Ferrule_PoolingBase<string mnemonic, GradientSpec gradient, string lowering, dag operands, dag extra>
    : Ferrule_TensorOp<mnemonic, gradient, lowering, "countPoolingFlops(*this)"> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                                      DenseI64ArrayAttr:$pads_begin, DenseI64ArrayAttr:$pads_end), extra);
  let results = (outs Ferrule_Tensor:$result);
}

def Ferrule_MaxPoolOp
    : Ferrule_PoolingBase<"max_pool", Gradient<"Custom", [0]>, "Pooling", (ins Ferrule_Tensor:$x), (ins)> {
  let summary = "Largest element of each window; NaN wins; padding is absent";
}
def Ferrule_MaxPoolGradientOp
    : Ferrule_PoolingBase<"max_pool_gradient",
        NonDifferentiable<"the second derivative of max_pool is not provided">,
        "PoolingGradient", (ins Ferrule_Tensor:$x, Ferrule_Tensor:$dy), (ins)> {
  let summary = "Adds each dy to the first largest element of its window, windows ascending";
  let minOperands = 2;
}
def Ferrule_AvgPoolOp
    : Ferrule_PoolingBase<"avg_pool", Gradient<"Custom">, "Pooling", (ins Ferrule_Tensor:$x),
                          (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad)> {
  let summary = "Mean of each window; with count_include_pad the divisor is the kernel size, else the elements present";
}
def Ferrule_AvgPoolGradientOp
    : Ferrule_PoolingBase<"avg_pool_gradient", Gradient<"Custom">, "PoolingGradient", (ins Ferrule_Tensor:$dy),
                          (ins DefaultValuedAttr<BoolAttr, "true">:$count_include_pad,
                               Ferrule_DimsAttr:$input_shape)> {
  let summary = "Adds dy / divisor to every element of its window, windows ascending";
}

#endif // FERRULE_IR_GRAPH_POOLING_TD
