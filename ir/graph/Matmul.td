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
    /// packsRightOperand of its sizes.
    bool packsRightOperand();
  }];
}

def Ferrule_DotOp
    : Ferrule_TensorOp<"dot", Gradient<[{
          ::mlir::Value g = b.expandReduced(cotangents[0], getA(), {getLastAxis()});
          gradients[0] = b.mul(g, getB());
          gradients[1] = b.mul(g, getA());}], [0, 1]>, "Reduction",
                       "getElementCount(getA()) * ::ferrule::DimExpr(2)"> {
  let summary = "The inner products of the rows of a and b: the product with a vector";
  let description = [{
    a and b are [..., n]; the result is [...]. Element i goes to lane i mod 16 of a reduction by one fused multiply-add.
    It stands for every product whose right operand is a vector; a matrix of one column is a `matmul`, which sums in
    another order.
  }];
  let arguments = (ins Ferrule_Tensor:$a, Ferrule_Tensor:$b);
  let results = (outs Ferrule_Tensor:$result);
  let minOperands = 2;
  let extraClassDeclaration = [{
    static ::llvm::LogicalResult inferTypes(std::optional<::mlir::Location> location, Adaptor adaptor,
                                            ::llvm::SmallVectorImpl<::mlir::Type> &types);
    int64_t getLastAxis() { return getA().getType().getRank() - 1; }
  }];
}

#endif // FERRULE_IR_GRAPH_MATMUL_TD
