#ifndef FERRULE_IR_GRAPH_MATMUL_TD
#define FERRULE_IR_GRAPH_MATMUL_TD

include "ir/graph/Base.td"

def Ferrule_MatmulOp
    : Ferrule_TensorOp<"matmul", Gradient<"Custom", [0, 1]>, "Contraction",
                       "getElementCount(getResult()) * getInnerSize() * ::ferrule::DimExpr(2)"> {
  let summary = "Matrix product over the last two axes";
  let description = [{
    a is [batch..., m, k], or [batch..., k, m] with transpose_a; b is [batch..., k, n], or [batch..., n, k] with
    transpose_b. Batch sizes are equal (broadcast before). k ascends, each step one fused multiply-add, with a fresh
    accumulator every 4,096 steps. An inner size of 0 gives zeros.
  }];
  let arguments = (ins Ferrule_Tensor:$a, Ferrule_Tensor:$b, DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 2;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                            ::llvm::SmallVectorImpl<::mlir::Type> &types);
    /// k, the size that is summed over.
    ::ferrule::DimExpr getInnerSize();
  }];
}

#endif // FERRULE_IR_GRAPH_MATMUL_TD
