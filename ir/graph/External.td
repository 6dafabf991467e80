// A function that the compiled program does not contain: whoever runs the program registers one under the op's symbol.
#ifndef FERRULE_IR_GRAPH_EXTERNAL_TD
#define FERRULE_IR_GRAPH_EXTERNAL_TD

include "ir/graph/Base.td"

def Ferrule_ExternalOp
    : Ferrule_LibraryOp<"external", NonDifferentiable<"nobody said what its gradient is: give external_op a gradient">> {
  let summary = "What the function that is registered under `symbol` makes of the operands";
  let description = [{
    The results' sizes stand one after another in `shape`, their ranks in `ranks`, their dtypes in `dtypes`. The function
    must be one of the values of its operands: an op that nobody reads is dropped, equal ones are merged, and under a
    memory budget one runs again. It computes a range of `tiles` tiles (1 if absent), no two of which write the same
    element; each thread has `scratch_bytes` of scratch (0 if absent).
  }];
  let arguments = (ins Variadic<Ferrule_Tensor>:$inputs, StrAttr:$symbol, Ferrule_DimsAttr:$shape,
                       DenseI64ArrayAttr:$ranks, TypeArrayAttr:$dtypes, OptionalAttr<Ferrule_DimsAttr>:$tiles,
                       OptionalAttr<Ferrule_DimsAttr>:$scratch_bytes);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let maxOperands = 64;
}

#endif // FERRULE_IR_GRAPH_EXTERNAL_TD
