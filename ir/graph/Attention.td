// Attention as one op, made of its parts by the fuse-attention pass after gradients are expanded.
#ifndef FERRULE_IR_GRAPH_ATTENTION_TD
#define FERRULE_IR_GRAPH_ATTENTION_TD

include "ir/graph/Base.td"

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
  let arguments = (ins Ferrule_Tensor:$q, Ferrule_Tensor:$k, Ferrule_Tensor:$v, Variadic<Ferrule_Tensor>:$others,
                       Ferrule_DimsAttr:$sizes, Ferrule_DimsAttr:$q_strides, Ferrule_DimsAttr:$k_strides,
                       Ferrule_DimsAttr:$v_strides, Ferrule_DimsAttr:$out_strides,
                       OptionalAttr<Ferrule_DimsAttr>:$mask_strides, OptionalAttr<Ferrule_DimsAttr>:$bias_strides,
                       F64Attr:$scale, F64Attr:$fill, DefaultValuedAttr<BoolAttr, "false">:$divides,
                       DefaultValuedAttr<BoolAttr, "false">:$masks_first,
                       DefaultValuedAttr<BoolAttr, "false">:$fills_true,
                       DefaultValuedAttr<BoolAttr, "false">:$absent, DefaultValuedAttr<BoolAttr, "false">:$causal);
  let results = (outs Ferrule_Tensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::ferrule::DimExpr getBatch();
    ::ferrule::DimExpr getRows();
    ::ferrule::DimExpr getKeys();
    ::ferrule::DimExpr getWidth();
    ::ferrule::DimExpr getColumns();
    ::ferrule::DimExpr getScoreCount();
  }];
}

#endif // FERRULE_IR_GRAPH_ATTENTION_TD
