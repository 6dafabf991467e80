// Attention and its gradient as one op each, made of their parts by the fuse-attention pass after gradients are expanded.
#ifndef FERRULE_IR_GRAPH_ATTENTION_TD
#define FERRULE_IR_GRAPH_ATTENTION_TD

include "ir/graph/Base.td"

/// How scores are made of the products of q and k.
defvar attentionScores = (ins OptionalAttr<Ferrule_DimsAttr>:$mask_strides, OptionalAttr<Ferrule_DimsAttr>:$bias_strides,
                              F64Attr:$scale, F64Attr:$fill, DefaultValuedAttr<BoolAttr, "false">:$divides,
                              DefaultValuedAttr<BoolAttr, "false">:$masks_first,
                              DefaultValuedAttr<BoolAttr, "false">:$fills_true,
                              DefaultValuedAttr<BoolAttr, "false">:$absent, DefaultValuedAttr<BoolAttr, "false">:$causal);

defvar attentionSizes = [{
    ::ferrule::DimExpr getBatch() { return getSize(0) * getSize(1) * getSize(2); }
    ::ferrule::DimExpr getRows() { return getSize(3); }
    ::ferrule::DimExpr getKeys() { return getSize(4); }
    ::ferrule::DimExpr getWidth() { return getSize(5); }
    ::ferrule::DimExpr getColumns() { return getSize(6); }
    ::ferrule::DimExpr getScoreCount() { return getBatch() * getRows() * getKeys(); }
    ::ferrule::DimExpr getSize(unsigned number) { return getSizes().getDims()[number]; }
  }];

def Ferrule_AttentionOp
    : Ferrule_Op<"attention", NonDifferentiable<"the fuse-attention pass makes it, after gradients are expanded">, "Library",
                 "getScoreCount() * (getWidth() + getColumns() + ::ferrule::DimExpr(10)) * ::ferrule::DimExpr(2)", [],
                 [Pure, DeclareOpInterfaceMethods<LibraryOpInterface>]> {
  let summary = "softmax(q k^T scaled and masked) v, without the matrix of scores in memory";
  let description = [{
    The bits are those of matmul, mul (or div, with `divides`), add, where, softmax and matmul, one after the other. `sizes`
    are three batch sizes, rows, keys, width (of q and k) and columns (of v). Operands lie anywhere in their tensors: six
    numbers a tensor, its first element and the strides of the batch axes, of its rows (or keys) and of its columns, in
    elements; 0 repeats. The last axis of v and of the result has stride 1.

    `others` holds the mask (bool) if there are `mask_strides`, then the bias if there are `bias_strides`; both are read
    as [batch, rows, keys]. The bias is added to the scores. Where the mask is false (with `fills_true`: true), the score
    is `fill`; before the bias with `masks_first`, else after it. With `absent` a key whose mask is false takes no
    part at all, as docs/numerics.md says of attention with a mask; with `causal` too, and no mask is read: row i sees the
    keys 0 to i.
  }];
  let arguments = !con((ins Ferrule_Tensor:$q, Ferrule_Tensor:$k, Ferrule_Tensor:$v, Variadic<Ferrule_Tensor>:$others,
                            Ferrule_DimsAttr:$sizes, Ferrule_DimsAttr:$q_strides, Ferrule_DimsAttr:$k_strides,
                            Ferrule_DimsAttr:$v_strides, Ferrule_DimsAttr:$out_strides),
                       attentionScores);
  let results = (outs Ferrule_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = attentionSizes;
}

def Ferrule_AttentionGradientOp
    : Ferrule_Op<"attention_gradient", NonDifferentiable<"the fuse-attention pass makes it, after gradients are expanded">,
                 "Library",
                 "getScoreCount() * (getWidth() * ::ferrule::DimExpr(3) + getColumns() * ::ferrule::DimExpr(2) + "
                 "::ferrule::DimExpr(12)) * ::ferrule::DimExpr(2)", [],
                 [Pure, DeclareOpInterfaceMethods<LibraryOpInterface>]> {
  let summary = "The gradients of an attention for q, k and v, without a matrix of scores in memory";
  let description = [{
    g is the cotangent of the attention's result; the other operands and attributes are those of `attention`. The bits are
    those of the gradients of its parts, one after the other: kernels/attention/kernels.inc says which. The weights are
    computed again from q and k. Where heads share keys or values, k_gradient and v_gradient hold one for each head of q;
    with `absent` they are those for keys and values in which 0 replaces what is not finite. The last axes of q, v, g and of
    the results have stride 1.
  }];
  let arguments = !con((ins Ferrule_Tensor:$q, Ferrule_Tensor:$k, Ferrule_Tensor:$v, Ferrule_Tensor:$g,
                            Variadic<Ferrule_Tensor>:$others, Ferrule_DimsAttr:$sizes, Ferrule_DimsAttr:$q_strides,
                            Ferrule_DimsAttr:$k_strides, Ferrule_DimsAttr:$v_strides, Ferrule_DimsAttr:$g_strides,
                            Ferrule_DimsAttr:$q_gradient_strides, Ferrule_DimsAttr:$k_gradient_strides,
                            Ferrule_DimsAttr:$v_gradient_strides),
                       attentionScores);
  let results = (outs Ferrule_Tensor:$q_gradient, Ferrule_Tensor:$k_gradient, Ferrule_Tensor:$v_gradient);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = attentionSizes;
}

#endif // FERRULE_IR_GRAPH_ATTENTION_TD
