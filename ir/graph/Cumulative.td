// Running sums, products and extremes along an axis, and the recurrence that their gradients need. All run serially,
// one rounding a step. `reverse` runs from the end of the axis to its start; `exclusive` leaves an element out of its own
// result, so that the first one of a run gives 0 (product: 1). Dtypes: float32, float64, int32, int64.
#ifndef FERRULE_IR_GRAPH_CUMULATIVE_TD
#define FERRULE_IR_GRAPH_CUMULATIVE_TD

include "ir/graph/Base.td"

class Ferrule_Cumulative<string mnemonic, GradientSpec gradient, dag flags, list<int> inPlace = [0]>
    : Ferrule_LibraryOp<mnemonic, gradient, "getElementCount(getX())", inPlace> {
  let arguments = !con((ins Ferrule_Tensor:$x, Ferrule_IntAttr:$axis), flags);
  let results = (outs Ferrule_Tensor:$y);
}
defvar Ferrule_RunFlags = (ins DefaultValuedAttr<BoolAttr, "false">:$reverse,
                               DefaultValuedAttr<BoolAttr, "false">:$exclusive);
defvar Ferrule_NoFlags = (ins);

def Ferrule_CumsumOp : Ferrule_Cumulative<"cumsum", Gradient<"Custom">, Ferrule_RunFlags> {
  let summary = "y[i] = x[0] + ... + x[i] along an axis; the sum starts at +0";
}
def Ferrule_CumprodOp : Ferrule_Cumulative<"cumprod", Gradient<"Custom", [0]>, Ferrule_RunFlags> {
  let summary = "y[i] = x[0] * ... * x[i] along an axis; the gradient is exact where factors are zero";
}
def Ferrule_CummaxOp : Ferrule_Cumulative<"cummax", Gradient<"Custom", [0]>, Ferrule_NoFlags> {
  let summary = "The largest element so far along an axis; NaN wins; the gradient goes to the first of equal ones";
}
def Ferrule_CumminOp : Ferrule_Cumulative<"cummin", Gradient<"Custom", [0]>, Ferrule_NoFlags> {
  let summary = "The smallest element so far along an axis; NaN wins; the gradient goes to the first of equal ones";
}
class Ferrule_CumulativeArg<string mnemonic>
    : Ferrule_Cumulative<mnemonic, NonDifferentiable<"its result is an index">, Ferrule_NoFlags, []>;
def Ferrule_CumargmaxOp : Ferrule_CumulativeArg<"cumargmax"> {
  let summary = "Position (int32) of the largest element so far along an axis; the first at ties and among NaNs";
}
def Ferrule_CumargminOp : Ferrule_CumulativeArg<"cumargmin"> {
  let summary = "Position (int32) of the smallest element so far along an axis; the first at ties and among NaNs";
}

def Ferrule_LinearRecurrenceOp
    : Ferrule_LibraryOp<"linear_recurrence", Gradient<"Custom", [0, 1], [0]>,
                        "getElementCount(getA()) * ::ferrule::DimExpr(2)", [1]> {
  let summary = "y[i] = fma(a[i], y[i - 1], b[i]) along an axis, from y[0] = b[0]";
  let description = [{
    a and b have one shape; float32 or float64. With `lagged` step i reads the factor of the step before it in the
    direction of the run, a[i - 1]. With `exclusive` the result at i is y[i - 1], the first one 0; it excludes `lagged`.
  }];
  let arguments = (ins Ferrule_Tensor:$a, Ferrule_Tensor:$b, Ferrule_IntAttr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse, DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$lagged);
  let results = (outs Ferrule_Tensor:$y);
  let minOperands = 2;
}

#endif // FERRULE_IR_GRAPH_CUMULATIVE_TD
