// The order of elements. -0 equals +0; NaN is the largest and equals NaN; equal elements keep their order, the lower index
// first, also descending. Dtypes: float32, float64, int32, int64. Sorted values are gathered at the positions.
#ifndef FERRULE_IR_GRAPH_SORT_TD
#define FERRULE_IR_GRAPH_SORT_TD

include "ir/graph/Base.td"

def Ferrule_ArgsortOp
    : Ferrule_LibraryOp<"argsort", NonDifferentiable<"its result is an index">,
                        "getElementCount(getX()) * ::ferrule::DimExpr(8)"> {
  let summary = "Positions (int32) of the elements along an axis in ascending or descending order";
  let description = [{
    With `k`, one expression that is at most the axis's size, only the first k positions. The radix sort is linear, so
    they cost what all of them cost.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_IntAttr:$axis, DefaultValuedAttr<BoolAttr, "false">:$descending,
                       OptionalAttr<Ferrule_DimsAttr>:$k);
  let results = (outs Ferrule_Tensor:$y);
}

def Ferrule_SearchsortedOp
    : Ferrule_LibraryOp<"searchsorted", NonDifferentiable<"its result is an index">,
                        "getElementCount(getV()) * ::ferrule::DimExpr(16)"> {
  let summary = "Where v would go into the ascending last axis of sorted: how many elements lie before it (int32)";
  let description = [{
    sorted is [A.., n] and v [A.., m]. With `right` equal elements count as before. Elements that are not ascending give
    some position from 0 to n.
  }];
  let arguments = (ins Ferrule_Tensor:$sorted, Ferrule_Tensor:$v, DefaultValuedAttr<BoolAttr, "false">:$right);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 2;
}

#endif // FERRULE_IR_GRAPH_SORT_TD
