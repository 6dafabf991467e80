// Convolution over one or more spatial axes, and its two gradients as ops of their own. Layouts are logical: x is
// [N, C, spatial...], w is [O, C / groups, kernel...].
#ifndef FERRULE_IR_GRAPH_CONVOLUTION_TD
#define FERRULE_IR_GRAPH_CONVOLUTION_TD

include "ir/graph/Base.td"

class Ferrule_ConvolutionBase<string mnemonic, GradientSpec gradient, string lowering, dag operands, dag extra>
    : Ferrule_TensorOp<mnemonic, gradient, lowering, "countConvolutionFlops(*this)"> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_begin,
                                      DenseI64ArrayAttr:$pads_end, DenseI64ArrayAttr:$dilations,
                                      DefaultValuedAttr<Ferrule_IntAttr, "1">:$groups), extra);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 2;
}

def Ferrule_ConvolutionOp
    : Ferrule_ConvolutionBase<"convolution", Gradient<"Custom", [0, 1]>, "Convolution",
                              (ins Ferrule_Tensor:$x, Ferrule_Tensor:$w), (ins)> {
  let summary = "Cross-correlation of x with w, as every deep-learning library calls convolution";
  let description = [{
    Result size per axis: (size + pads_begin + pads_end - dilation * (kernel - 1) - 1) // stride + 1. The sum runs over
    (kernel axes, channel of the group) in that order; positions in the padding keep their number and add nothing.
  }];
}
def Ferrule_ConvolutionInputGradientOp
    : Ferrule_ConvolutionBase<"convolution_input_gradient", Gradient<"Custom", [0, 1]>, "ConvolutionInputGradient",
                              (ins Ferrule_Tensor:$dy, Ferrule_Tensor:$w), (ins Ferrule_DimsAttr:$input_shape)> {
  let summary = "The gradient of a convolution to its input (a transposed convolution)";
  let description = "The sum runs over (kernel axes, output channel of the group), in gather form.";
}
def Ferrule_ConvolutionWeightGradientOp
    : Ferrule_ConvolutionBase<"convolution_weight_gradient", Gradient<"Custom", [0, 1]>, "ConvolutionWeightGradient",
                              (ins Ferrule_Tensor:$x, Ferrule_Tensor:$dy), (ins Ferrule_DimsAttr:$weight_shape)> {
  let summary = "The gradient of a convolution to its weight";
  let description = "The sum runs over (batch, output positions row-major).";
}

#endif // FERRULE_IR_GRAPH_CONVOLUTION_TD
