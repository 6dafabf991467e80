// What every op of the graph dialect owes besides its type rule. Passes call these methods and never list op names.
#ifndef FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_TD
#define FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def FerruleOpInterface : OpInterface<"FerruleOpInterface"> {
  let cppNamespace = "::mlir::ferrule";
  let description = [{
    Gradient, residuals, lowering, in-place operands and cost of an op. The template arguments of `Ferrule_Op`
    (ir/graph/Base.td) write these methods, so that an op's entry is the one place where it is described.
  }];
  let methods = [
    InterfaceMethod<[{
      Whether a gradient rule exists, is a stated zero, or is refused with a reason.
    }], "::mlir::ferrule::GradientKind", "getGradientKind">,
    InterfaceMethod<[{
      Why the op has no gradient; empty unless the kind is NonDifferentiable.
    }], "::llvm::StringRef", "getNonDifferentiableReason">,
    InterfaceMethod<[{
      Builds the vector-Jacobian product. `cotangents` holds one value a result, null where nothing flows in.
      `gradients` has one entry an operand, all null at the call; an entry left null means that no gradient flows to
      that operand. Operands whose element type is not floating point are left null. The builder stands where the new
      ops belong and carries the op's location. Fails, with an error at the op, where the rule does not cover a case.
    }], "::llvm::LogicalResult", "buildGradient",
      (ins "::mlir::ferrule::GraphBuilder &":$builder, "::mlir::ValueRange":$cotangents,
           "::llvm::MutableArrayRef<::mlir::Value>":$gradients)>,
    InterfaceMethod<[{
      The operands and results that the gradient rule reads, so that a flush under a gradient scope keeps them.
    }], "::mlir::ferrule::Residuals", "getResiduals">,
    InterfaceMethod<[{
      The shape of the computation, by which fusion and code generation choose a kernel form.
    }], "::mlir::ferrule::LoweringKind", "getLoweringKind">,
    InterfaceMethod<[{
      Operands whose buffer a result may take over, element for element, when the operand dies at this op.
    }], "::llvm::SmallVector<unsigned>", "getInPlaceOperands">,
    InterfaceMethod<[{
      Arithmetic operations of one execution; an op that moves or reads data has zero.
    }], "::ferrule::DimExpr", "getFlops">,
  ];
}

def LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::mlir::ferrule";
  let description = [{
    An op of LoweringKind::Library. Nothing is fused into it: its operands stand row-major in memory, and so do its
    results. An operand that getInPlaceOperands names may share its bytes with the first result; the kernel then gets the
    same pointer twice.
  }];
  let methods = [
    InterfaceMethod<[{
      The kernel function and its arguments.
    }], "::mlir::ferrule::LibraryCall", "getLibraryCall">,
  ];
}

#endif // FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_TD
