// Row ops that stay whole to be fast; each states the decomposition that defines its bits.
#ifndef FERRULE_IR_GRAPH_SOFTMAX_TD
#define FERRULE_IR_GRAPH_SOFTMAX_TD

include "ir/graph/Base.td"

class Ferrule_SoftmaxBase<string mnemonic, GradientSpec gradient>
    : Ferrule_TensorOp<mnemonic, gradient, "Rows", "getElementCount(getX()) * ::ferrule::DimExpr(20)", [0]> {
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_IntAttr:$axis);
  let results = (outs Ferrule_Tensor:$y);
  let infer = "inferSoftmax(location, \"" # mnemonic # "\", adaptor.getX(), adaptor.getAxisAttr(), types)";
}
def Ferrule_SoftmaxOp : Ferrule_SoftmaxBase<"softmax", Gradient<[{
      ::mlir::Value y = getY(), g = cotangents[0];
      ::mlir::Value product = b.mul(g, y);
      gradients[0] = b.mul(y, b.sub(g, b.expandReduced(b.reduceSum(product, {getAxis()}), y, {getAxis()})));
    }], [], [0]>> {
  let summary = "e = exp(x - max), r = 1 / sum(e), y = e * r along an axis";
}
def Ferrule_LogSoftmaxOp : Ferrule_SoftmaxBase<"log_softmax", Gradient<[{
      ::mlir::Value y = getY(), g = cotangents[0];
      gradients[0] = b.sub(g, b.mul(b.exp(y), b.expandReduced(b.reduceSum(g, {getAxis()}), y, {getAxis()})));
    }], [], [0]>> {
  let summary = "(x - max) - log(sum(exp(x - max))) along an axis";
}

def Ferrule_CrossEntropyRowsOp
    : Ferrule_TensorOp<"cross_entropy_rows", Gradient<"Custom", [0, 1]>, "Rows",
                       "getElementCount(getLogits()) * ::ferrule::DimExpr(20)"> {
  let summary = "The cross entropy of each row of logits with its label";
  let description = [{
    loss = log(sum(exp(x - max))) - (x[label] - max); with label_smooth s the target is (1 - s) at the label plus s / C
    everywhere. A row whose label is ignore_index has loss 0 and gradient 0. logits are [R, C], labels [R] integers,
    the result is [R]. A label outside 0..C-1 is a run-time error.
  }];
  let arguments = (ins Ferrule_Tensor:$logits, Ferrule_Tensor:$labels, OptionalAttr<Ferrule_IntAttr>:$ignore_index,
                       DefaultValuedAttr<F64Attr, "0.0">:$label_smooth);
  let results = (outs Ferrule_Tensor:$loss);
  let minOperands = 2;
}
def Ferrule_CrossEntropyRowsGradientOp
    : Ferrule_TensorOp<"cross_entropy_rows_gradient", Gradient<"Custom", [0, 1, 2]>, "Rows",
                       "getElementCount(getLogits()) * ::ferrule::DimExpr(20)", [0]> {
  let summary = "(softmax(logits) - target) * g for each row; 0 for ignored rows";
  let arguments = (ins Ferrule_Tensor:$logits, Ferrule_Tensor:$labels, Ferrule_Tensor:$g,
                       OptionalAttr<Ferrule_IntAttr>:$ignore_index, DefaultValuedAttr<F64Attr, "0.0">:$label_smooth);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 3;
}

#endif // FERRULE_IR_GRAPH_SOFTMAX_TD
