// Which elements of a mask are set. How many there are is known only while the program runs.
#ifndef FERRULE_IR_GRAPH_NONZERO_TD
#define FERRULE_IR_GRAPH_NONZERO_TD

include "ir/graph/Base.td"

/// Not Pure: it gives a dim its value, so nothing removes or merges it even if nobody reads its results.
def Ferrule_NonzeroOp
    : Ferrule_TensorOp<"nonzero", ZeroGradient, "Library", "0", [], [DeclareOpInterfaceMethods<LibraryOpInterface>],
                       []> {
  let summary = "The numbers of the elements of a bool tensor that are set, row-major, and how many there are";
  let description = [{
    `size` is one expression, the length of `indices` (int32). If it is the mask's number of elements, zeros fill the end
    of `indices`. Else it is a dim that stands nowhere else before: `count` (int64) becomes its value while the program
    runs, and the sizes of all that is computed from `indices` follow. A mask has at most 2147483647 elements.
  }];
  let arguments = (ins Ferrule_Tensor:$mask, Ferrule_DimsAttr:$size);
  let results = (outs Ferrule_Tensor:$indices, Ferrule_Tensor:$count);
}

#endif // FERRULE_IR_GRAPH_NONZERO_TD
