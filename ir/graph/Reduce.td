// Reductions. `axes` is ordered: elements are numbered row-major over the axes as listed, which fixes the bits of a
// sum. Without axes nothing is reduced.
#ifndef FERRULE_IR_GRAPH_REDUCE_TD
#define FERRULE_IR_GRAPH_REDUCE_TD

include "ir/graph/Base.td"

class Ferrule_Reduction<string mnemonic, GradientSpec gradient>
    : Ferrule_TensorOp<mnemonic, gradient, "Reduction", "getElementCount(getX())"> {
  let arguments = (ins Ferrule_Tensor:$x, DenseI64ArrayAttr:$axes, DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Ferrule_Tensor:$y);
  let infer = "inferReduction(location, \"" # mnemonic # "\", adaptor.getX(), adaptor.getAxesAttr(), "
              "adaptor.getKeepdims(), types)";
}
def Ferrule_ReduceSumOp : Ferrule_Reduction<"reduce_sum", Gradient<[{
      gradients[0] = b.expandReduced(cotangents[0], getX(), getAxes());}]>> {
  let summary = "Sum along axes; of nothing 0";
}
def Ferrule_ReduceMaxOp : Ferrule_Reduction<"reduce_max", Gradient<[{
      gradients[0] = b.extremumGradient(getX(), getY(), cotangents[0], getAxes());}], [0], [0]>> {
  let summary = "Largest element along axes; NaN wins; the gradient is split evenly between equal largest elements";
}
def Ferrule_ReduceMinOp : Ferrule_Reduction<"reduce_min", Gradient<[{
      gradients[0] = b.extremumGradient(getX(), getY(), cotangents[0], getAxes());}], [0], [0]>> {
  let summary = "Smallest element along axes; NaN wins; the gradient is split evenly between equal smallest elements";
}
def Ferrule_ReduceProdOp : Ferrule_Reduction<"reduce_prod", Gradient<"Custom", [0]>> {
  let summary = "Product along axes; of nothing 1";
}

class Ferrule_ArgReduction<string mnemonic>
    : Ferrule_TensorOp<mnemonic, NonDifferentiable<"its result is an index">, "ArgReduction",
                       "getElementCount(getX())"> {
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_IntAttr:$axis, DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Ferrule_Tensor:$y);
  let infer = "inferArgReduction(location, \"" # mnemonic # "\", adaptor.getX(), adaptor.getAxisAttr(), "
              "adaptor.getKeepdims(), types)";
}
def Ferrule_ArgmaxOp : Ferrule_ArgReduction<"argmax"> {
  let summary = "Index (int32) of the largest element along an axis; the first at ties; NaN counts as the largest";
}
def Ferrule_ArgminOp : Ferrule_ArgReduction<"argmin"> {
  let summary = "Index (int32) of the smallest element along an axis; the first at ties; NaN counts as the largest";
}

#endif // FERRULE_IR_GRAPH_REDUCE_TD
