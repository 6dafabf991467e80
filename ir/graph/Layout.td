// Physical forms of the graph's contractions, made by the layout pass after gradients are expanded. Images are
// channels-last, `[N, spatial..., C]`; weights are panels of 16 output columns, `[groups * ceil(n / 16), taps * k, 16]`
// with zeros beyond column n of a group (depthwise convolutions: `[ceil(groups / 16), taps, 16]`, also for the gradients).
// Sums run in the order of the logical op that each stands for.
#ifndef FERRULE_IR_GRAPH_LAYOUT_TD
#define FERRULE_IR_GRAPH_LAYOUT_TD

include "ir/graph/Base.td"

class Ferrule_PhysicalOp<string mnemonic, string lowering, string flops = "0">
    : Ferrule_Op<mnemonic, NonDifferentiable<"the layout pass makes it, after gradients are expanded">, lowering, flops,
                 [], [Pure]> {
  let results = (outs Ferrule_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------------------------===//
// Panels
//===------------------------------------------------------------------------------------------------------------===//

def Ferrule_PackOp : Ferrule_PhysicalOp<"pack", "Panels"> {
  let summary = "A logical tensor in panels";
  let description = [{
    `n_axes` are the axes that columns run over, per group along the first of them; `k_axes` the axes that rows run
    over, in order. Every axis stands in one of the two.
  }];
  let arguments = (ins Ferrule_Tensor:$x, DenseI64ArrayAttr:$n_axes, DenseI64ArrayAttr:$k_axes, I64Attr:$groups);
}
def Ferrule_UnpackOp : Ferrule_PhysicalOp<"unpack", "Panels"> {
  let summary = "The logical tensor of panels; the inverse of pack";
  let arguments = (ins Ferrule_Tensor:$x, DenseI64ArrayAttr:$n_axes, DenseI64ArrayAttr:$k_axes, I64Attr:$groups);
}
def Ferrule_TransposePanelsOp : Ferrule_PhysicalOp<"transpose_panels", "Panels"> {
  let summary = "Panels over n with rows (tap, k) as panels over k with rows (tap, n)";
  let arguments = (ins Ferrule_Tensor:$x, I64Attr:$groups, I64Attr:$n, I64Attr:$taps, I64Attr:$k);
}

def Ferrule_PanelTakeOp
    : Ferrule_Op<"panel_take", NonDifferentiable<"the layout pass makes it, after gradients are expanded">, "Library",
                 "0", [], [Pure, DeclareOpInterfaceMethods<LibraryOpInterface>]> {
  let summary = "Rows or columns of a matrix in panels at indices [m.., 1]: [m.., k] of columns, [m.., n] of rows";
  let arguments = (ins Ferrule_Tensor:$panels, Ferrule_Tensor:$indices, I64Attr:$n, BoolAttr:$columns);
  let results = (outs Ferrule_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

//===------------------------------------------------------------------------------------------------------------===//
// Contractions
//===------------------------------------------------------------------------------------------------------------===//

def Ferrule_PanelMatmulOp : Ferrule_PhysicalOp<"panel_matmul", "Contraction", "countPanelFlops(getResult(), getPanels())"> {
  let summary = "[m, k] (or [k, m] with transpose_a) times panels over n: [m, n]";
  let arguments = (ins Ferrule_Tensor:$a, Ferrule_Tensor:$panels, BoolAttr:$transpose_a);
}
def Ferrule_PanelOuterOp : Ferrule_PhysicalOp<"panel_outer", "Contraction", "countPanelFlops(getG(), getResult())"> {
  let summary = "Sum over m of x[m, k] * g[m, n], as panels over n: the gradient of a matrix in panels";
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$g);
}

//===------------------------------------------------------------------------------------------------------------===//
// Channels-last convolution and pooling
//===------------------------------------------------------------------------------------------------------------===//

/// `kernel` is the window. Strides of 0 stand for the adaptive windows of a pool.
class Ferrule_ImageOp<string mnemonic, string lowering, dag operands>
    : Ferrule_PhysicalOp<mnemonic, lowering, "countImageFlops(*this)"> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides,
                                      DenseI64ArrayAttr:$pads_begin, DenseI64ArrayAttr:$pads_end,
                                      DenseI64ArrayAttr:$dilations, I64Attr:$groups,
                                      DefaultValuedAttr<BoolAttr, "true">:$count_include_pad));
}
def Ferrule_ImageConvolutionOp
    : Ferrule_ImageOp<"image_convolution", "Convolution", (ins Variadic<Ferrule_Tensor>:$xs, Ferrule_Tensor:$panels)> {
  let summary = "convolution of a channels-last image with panels over the output channels";
  let description = [{
    Several `xs` are an image whose channels lie in pieces, one after the other: images alike but for their numbers of
    channels, which are constants. Fusion makes them of a concatenation, at most `maxImagePieces`, for `groups` = 1.
  }];
}
def Ferrule_ImageConvolutionInputGradientOp
    : Ferrule_ImageOp<"image_convolution_input_gradient", "ConvolutionInputGradient",
                      (ins Ferrule_Tensor:$dy, Ferrule_Tensor:$panels)> {
  let summary = "convolution_input_gradient with panels over the input channels";
}
def Ferrule_ImageConvolutionWeightGradientOp
    : Ferrule_ImageOp<"image_convolution_weight_gradient", "ConvolutionWeightGradient",
                      (ins Variadic<Ferrule_Tensor>:$xs, Ferrule_Tensor:$dy)> {
  let summary = "convolution_weight_gradient as panels over the output channels";
  let description = "Several `xs` are an image in pieces, as those of `image_convolution` are.";
}
def Ferrule_ImageMaxPoolOp : Ferrule_ImageOp<"image_max_pool", "Pooling", (ins Ferrule_Tensor:$x)> {
  let summary = "max_pool of a channels-last image";
}
def Ferrule_ImageMaxPoolSelectOp
    : Ferrule_ImageOp<"image_max_pool_select", "Pooling", (ins Ferrule_Tensor:$x, Ferrule_Tensor:$v)> {
  let summary = "max_pool_select of channels-last images";
}
def Ferrule_ImageAvgPoolOp : Ferrule_ImageOp<"image_avg_pool", "Pooling", (ins Ferrule_Tensor:$x)> {
  let summary = "avg_pool of a channels-last image";
}
def Ferrule_ImageMaxPoolGradientOp
    : Ferrule_ImageOp<"image_max_pool_gradient", "PoolingGradient", (ins Ferrule_Tensor:$x, Ferrule_Tensor:$dy)> {
  let summary = "max_pool_gradient of a channels-last image";
}
def Ferrule_ImageAvgPoolGradientOp
    : Ferrule_ImageOp<"image_avg_pool_gradient", "PoolingGradient", (ins Ferrule_Tensor:$dy)> {
  let summary = "avg_pool_gradient of a channels-last image";
}

#endif // FERRULE_IR_GRAPH_LAYOUT_TD
