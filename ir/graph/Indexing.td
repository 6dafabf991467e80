// Reading and writing at places that index tensors name, and replacing slices. Indices are int32 or int64; a negative one
// counts from the end once, and one outside its axis is a run-time error that names position, index and size.
#ifndef FERRULE_IR_GRAPH_INDEXING_TD
#define FERRULE_IR_GRAPH_INDEXING_TD

include "ir/graph/Base.td"

/// Indices are vectors along their last axis, which has a static size K: each names a place on the K axes of x that begin
/// at `axis`. Shapes: x [A, n1.., nK, B], indices [M, K], values [A, M, B].
def Ferrule_TakeOp : Ferrule_LibraryOp<"take", Gradient<"Custom", [1]>> {
  let summary = "The parts of x at index vectors: y[a, m, b] = x[a, indices[m, 0], .., indices[m, K - 1], b]";
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$indices, Ferrule_IntAttr:$axis);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 2;
}
class Ferrule_Put<string mnemonic, list<int> residuals>
    : Ferrule_LibraryOp<mnemonic, Gradient<"Custom", residuals>, "getElementCount(getV())", [0]> {
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$indices, Ferrule_Tensor:$v, Ferrule_IntAttr:$axis);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 3;
}
def Ferrule_PutOp : Ferrule_Put<"put", [1]> {
  let summary = "x with v[:, m, :] at index vector m; of several writes to one place the last one stays";
}
def Ferrule_PutAddOp : Ferrule_Put<"put_add", [1]> {
  let summary = "x with v[:, m, :] added at index vector m, m ascending";
}

/// One index an element. x [A, n, B], indices and values [A, M, B]; `axis` is the one that n and M lie on.
def Ferrule_GatherOp : Ferrule_LibraryOp<"gather", Gradient<"Custom", [1]>> {
  let summary = "y[a, m, b] = x[a, indices[a, m, b], b]";
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$indices, Ferrule_IntAttr:$axis);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 2;
}
def Ferrule_ScatterOp : Ferrule_Put<"scatter", [1]> {
  let summary = "x with v[a, m, b] at [a, indices[a, m, b], b]; of several writes to one place the last one stays";
}
def Ferrule_ScatterAddOp : Ferrule_Put<"scatter_add", [1]> {
  let summary = "x with v[a, m, b] added at [a, indices[a, m, b], b], m ascending";
}

def Ferrule_UpdateSliceOp : Ferrule_LibraryOp<"update_slice", Gradient<"Custom">, "0", [0]> {
  let summary = "x with v in place of its elements offsets, offsets + steps, ... on each axis";
  let description = [{
    As many elements as v has on an axis are replaced, so a slice and this op with its starts as offsets name the
    same elements. The first and the last one must lie in x.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_Tensor:$v, Ferrule_DimsAttr:$offsets, DenseI64ArrayAttr:$steps);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 2;
}

#endif // FERRULE_IR_GRAPH_INDEXING_TD
