// What an entry does, in order.
#ifndef FERRULE_IR_PLAN_INSTRUCTION_TD
#define FERRULE_IR_PLAN_INSTRUCTION_TD

include "ir/plan/PlanBase.td"

def FerrulePlan_CallOp
    : FerrulePlan_Op<"call", [FerrulePlan_InBlock, AttrSizedOperandSegments,
                              DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One launch of a kernel";
  let description = [{
    Every byte of `outputs` is written, `inputs` are read. An input whose bytes an output takes is read element for
    element, each before the output's element of the same number is written. `dims` are the values that the kernel asks
    for and `tiles` the number of its tiles; both depend on how the kernel was compiled, so code generation adds them.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<FerrulePlan_Buffer>:$outputs,
                       Variadic<FerrulePlan_Buffer>:$inputs, OptionalAttr<Ferrule_DimsAttr>:$dims,
                       OptionalAttr<Ferrule_DimsAttr>:$tiles);
  let assemblyFormat = [{
    $kernel `outs` `(` $outputs `)` `ins` `(` $inputs `)` (`dims` $dims^)? (`tiles` $tiles^)? attr-dict
  }];
  let hasVerifier = 1;
}

def FerrulePlan_CopyOp : FerrulePlan_Op<"copy", [FerrulePlan_InBlock]> {
  let summary = "Copies the first `size` bytes of a buffer to another";
  let arguments = (ins FerrulePlan_Buffer:$target, FerrulePlan_Buffer:$source, Ferrule_DimsAttr:$size);
  let assemblyFormat = "$target `from` $source `size` $size attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const ::ferrule::DimExpr &getBytes() { return getSize().getDims().front(); }
  }];
}

#endif // FERRULE_IR_PLAN_INSTRUCTION_TD
