// Branches and loops. Their regions are isolated: what they read from outside is an operand.
#ifndef FERRULE_IR_GRAPH_CONTROLFLOW_TD
#define FERRULE_IR_GRAPH_CONTROLFLOW_TD

include "ir/graph/Base.td"

/// An op whose regions compute its results. Every region has one argument for each of its operands (`if`: behind the
/// predicate), in their order.
class Ferrule_ControlFlowOp<string mnemonic, list<Trait> traits = []>
    : Ferrule_Op<mnemonic, RegionGradient, "ControlFlow", "0", [], !listconcat([Pure, IsolatedFromAbove], traits)> {
  let hasRegionVerifier = 1;
}

def Ferrule_IfOp : Ferrule_ControlFlowOp<"if", [SingleBlock]> {
  let summary = "One of two regions, by a predicate";
  let description = [{
    `predicate` is a bool of rank 0. The regions' arguments are the captures; both yield the results' types, and the one
    that runs gives the results.

    ```mlir
    %y = ferrule.if %p : tensor<i1> captures(%x : tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      ferrule.yield %a : tensor<4xf32>
    } else {
    ^bb0(%a: tensor<4xf32>):
      %n = ferrule.neg %a : (tensor<4xf32>) -> tensor<4xf32>
      ferrule.yield %n : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Ferrule_Tensor:$predicate, Variadic<Ferrule_Tensor>:$captures);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
  let assemblyFormat = [{
    $predicate `:` type($predicate) `captures` `(` ($captures^ `:` type($captures))? `)` attr-dict-with-keyword (`->` type($outputs)^)?
    $thenRegion `else` $elseRegion
  }];
  let hasVerifier = 1;
}

def Ferrule_WhileOp : Ferrule_ControlFlowOp<"while", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "A loop that runs while a condition holds";
  let description = [{
    The arguments of both regions are the carries, then the captures. The condition yields a bool of rank 0; while it is
    true the body yields the next carries. The results are the carries for which it is false. With `max_steps` (an
    expression of dims) the loop also ends after that many steps; a gradient needs it.
  }];
  let arguments = (ins Variadic<Ferrule_Tensor>:$inits, Variadic<Ferrule_Tensor>:$captures,
                       OptionalAttr<Ferrule_DimsAttr>:$max_steps);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `inits` `(` ($inits^ `:` type($inits))? `)` `captures` `(` ($captures^ `:` type($captures))? `)`
    attr-dict-with-keyword (`->` type($outputs)^)? `condition` $condition `body` $body
  }];
  let hasVerifier = 1;
}

def Ferrule_ScanOp : Ferrule_ControlFlowOp<"scan", [AttrSizedOperandSegments, SingleBlock]> {
  let summary = "A loop of a known number of steps over the first axis of tensors";
  let description = [{
    The body's arguments are the carries, a slice of each of `xs` (its first axis dropped), then the captures. It yields
    the next carries, then slices; the results are the last carries and those slices stacked along a new first axis.
    Step t reads and writes the slices of number t. `length` holds one expression, the first size of all `xs`; with
    `reverse` the steps run from the last slice to the first. Without a step the carries are the inits.

    ```mlir
    %s, %ys = ferrule.scan inits(%zero : tensor<f32>) xs(%x : tensor<5xf32>) captures()
        attributes {length = #ferrule.dims<[5]>} -> tensor<f32>, tensor<5xf32> {
    ^bb0(%sum: tensor<f32>, %element: tensor<f32>):
      %next = ferrule.add %sum, %element : (tensor<f32>, tensor<f32>) -> tensor<f32>
      ferrule.yield %next, %next : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<Ferrule_Tensor>:$inits, Variadic<Ferrule_Tensor>:$xs,
                       Variadic<Ferrule_Tensor>:$captures, Ferrule_DimsAttr:$length,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `inits` `(` ($inits^ `:` type($inits))? `)` `xs` `(` ($xs^ `:` type($xs))? `)`
    `captures` `(` ($captures^ `:` type($captures))? `)` attr-dict-with-keyword (`->` type($outputs)^)? $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const ::ferrule::DimExpr &getStepCount() { return getLength().getDims().front(); }
  }];
}

def Ferrule_CustomGradientOp
    : Ferrule_Op<"custom_gradient", RegionGradient, "Expand", "0", [],
                 [Pure, IsolatedFromAbove, AttrSizedOperandSegments, SingleBlock]> {
  let summary = "Values with a gradient that the user wrote";
  let description = [{
    The results are the values. Their gradient goes to the inputs alone: the region's arguments are the cotangents of the
    values, then the captures, and it yields the cotangents of the inputs. The autodiff pass puts the region in place of
    a rule; afterwards the op is gone.

    ```mlir
    %y = ferrule.custom_gradient values(%r : tensor<4xf32>) inputs(%x : tensor<4xf32>) captures() -> tensor<4xf32> {
    ^bb0(%dy: tensor<4xf32>):
      ferrule.yield %dy : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Ferrule_Tensor>:$values, Variadic<Ferrule_Tensor>:$inputs,
                       Variadic<Ferrule_Tensor>:$captures);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$backward);
  let assemblyFormat = [{
    `values` `(` ($values^ `:` type($values))? `)` `inputs` `(` ($inputs^ `:` type($inputs))? `)`
    `captures` `(` ($captures^ `:` type($captures))? `)` attr-dict-with-keyword (`->` type($outputs)^)? $backward
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FERRULE_IR_GRAPH_CONTROLFLOW_TD
