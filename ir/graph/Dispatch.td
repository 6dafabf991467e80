// A group of ops that one kernel computes, made by the fuse pass.
#ifndef FERRULE_IR_GRAPH_DISPATCH_TD
#define FERRULE_IR_GRAPH_DISPATCH_TD

include "ir/graph/Base.td"

def Ferrule_DispatchOp
    : Ferrule_Op<"dispatch", NonDifferentiable<"the fuse pass makes it, after gradients are expanded">, "Expand", "0",
                 [], [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "Ops that one kernel computes in one pass";
  let description = [{
    The region's arguments are the operands; `ferrule.yield` names the results. At most one kind of op in the region is
    a root (contraction, convolution, pooling, reduction, rows); the others are elementwise ops and index maps that read
    the root's operands or its results. Code generation owes each op of the region its own rounding.
  }];
  let arguments = (ins Variadic<Ferrule_Tensor>:$inputs);
  let results = (outs Variadic<Ferrule_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
    /// The values that the region yields.
    ::mlir::OperandRange getYielded();
  }];
}

def Ferrule_YieldOp
    : Ferrule_Op<"yield", NonDifferentiable<"it ends a region">, "ControlFlow", "0", [],
                 [Pure, Terminator, ParentOneOf<["CustomGradientOp", "DispatchOp", "IfOp", "ScanOp", "WhileOp"]>]> {
  let summary = "The results of a region";
  let arguments = (ins Variadic<Ferrule_Tensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // FERRULE_IR_GRAPH_DISPATCH_TD
