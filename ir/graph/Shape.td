// Ops that move or repeat elements, and the sources of constants.
#ifndef FERRULE_IR_GRAPH_SHAPE_TD
#define FERRULE_IR_GRAPH_SHAPE_TD

include "ir/graph/Base.td"

class Ferrule_ShapeOp<string mnemonic, GradientSpec gradient, string lowering = "Shape">
    : Ferrule_TensorOp<mnemonic, gradient, lowering> {
  let results = (outs Ferrule_Tensor:$result);
}

def Ferrule_ReshapeOp
    : Ferrule_ShapeOp<"reshape", Gradient<"gradients[0] = b.reshape(cotangents[0], getDims(getX()));">> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{
    The element counts must be equal as expressions. Where dims leave that open, a recorded equality of the module must
    decide it: the entry verifier asks for one.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_DimsAttr:$shape);
}
def Ferrule_TransposeOp : Ferrule_ShapeOp<"transpose", Gradient<"Custom">> {
  let summary = "Result axis i is axis pattern[i] of x";
  let arguments = (ins Ferrule_Tensor:$x, DenseI64ArrayAttr:$pattern);
}
def Ferrule_BroadcastToOp : Ferrule_ShapeOp<"broadcast_to", Gradient<"Custom">> {
  let summary = "x repeated to a larger shape by NumPy's rule: axes align at the end, size 1 stretches";
  let description = [{
    Symbolic sizes that are neither equal nor 1 as expressions are taken as equal; a recorded equality of the module
    must say so. The gradient sums over the stretched axes.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_DimsAttr:$shape);
}
def Ferrule_SliceOp : Ferrule_ShapeOp<"slice", Gradient<"Custom">> {
  let summary = "Elements starts, starts + steps, ... before stops, on each axis";
  let description = [{
    Bounds are normalised: on an axis of size n, 0 <= start <= n and start <= stop <= n for a positive step;
    0 <= start < n and -1 <= stop <= start for a negative one. stop = 9223372036854775807 means the end of the axis.
    Constant bounds of a static axis are checked; constant bounds of a symbolic axis need a positive step and are cut to
    the axis. A symbolic bound is not checked: whoever makes the op has it from a check, or cuts it with min and max.
  }];
  let arguments = (ins Ferrule_Tensor:$x, Ferrule_DimsAttr:$starts, Ferrule_DimsAttr:$stops, DenseI64ArrayAttr:$steps);
}
def Ferrule_ConcatOp : Ferrule_ShapeOp<"concat", Gradient<"Custom">> {
  let summary = "Tensors one after the other along an axis";
  let arguments = (ins Variadic<Ferrule_Tensor>:$xs, Ferrule_IntAttr:$axis);
  let maxOperands = 1000000;
}

class Ferrule_SourceOp<string mnemonic> : Ferrule_ShapeOp<mnemonic, ZeroGradient, "Constant"> {
  let minOperands = 0;
}
def Ferrule_DimOp : Ferrule_SourceOp<"dim"> {
  let summary = "The value of a dim expression, as a rank-0 int64 tensor";
  let description = "`expr` holds exactly one expression: `expr = #ferrule.dims<[batch * 2]>`.";
  let arguments = (ins Ferrule_DimsAttr:$expr);
}
def Ferrule_IotaOp : Ferrule_SourceOp<"iota"> {
  let summary = "Each element is its index along an axis, converted to dtype";
  let arguments = (ins Ferrule_DimsAttr:$shape, Ferrule_IntAttr:$axis, TypeAttr:$dtype);
}
def Ferrule_ConstantOp : Ferrule_SourceOp<"constant"> {
  let summary = "A tensor known at compile time";
  let arguments = (ins ElementsAttr:$value);
}

#endif // FERRULE_IR_GRAPH_SHAPE_TD
