#ifndef FERRULE_IR_GRAPH_GRADIENT_TD
#define FERRULE_IR_GRAPH_GRADIENT_TD

include "ir/graph/Base.td"

def Ferrule_GradientOp
    : Ferrule_TensorOp<"gradient", NonDifferentiable<"it must be expanded first; the autodiff pass goes innermost first">,
                       "Expand", "0", [], [AttrSizedOperandSegments]> {
  let summary = "The gradient of cost, weighted by cotangent, to each wrt";
  let description = [{
    cotangent has the type of cost; without it the cost must have one element, and the cotangent is 1. The results have
    the types of wrt; a wrt that cost does not depend on gives zeros. wrt may be any float values. The autodiff pass
    replaces the op.
  }];
  let arguments = (ins Ferrule_Tensor:$cost, Optional<Ferrule_Tensor>:$cotangent, Variadic<Ferrule_Tensor>:$wrt);
  let results = (outs Variadic<Ferrule_Tensor>:$gradients);
  let maxOperands = 1000000;
}

#endif // FERRULE_IR_GRAPH_GRADIENT_TD
