// Variables and their uses. They stand only where an entry can see them: variables in the module, reads and assigns at
// an entry's top level.
#ifndef FERRULE_IR_GRAPH_STATE_TD
#define FERRULE_IR_GRAPH_STATE_TD

include "ir/graph/Base.td"
include "mlir/IR/SymbolInterfaces.td"

def Ferrule_VariableOp
    : Ferrule_Op<"variable", ZeroGradient, "State", "0", [], [Symbol, IsolatedFromAbove]> {
  let summary = "A tensor that outlives runs and that all entries share";
  let description = [{
    `value` is the initial value (dense or dense_resource; absent means zeros), `role` an open string: parameter,
    buffer, gradient, optimizer_state, schedule, random_state. `of` names the variable that an optimizer state or a
    gradient belongs to, so that it takes the same layout. `layout` is the physical form that the layout pass chose.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Ferrule_Tensor>:$type, OptionalAttr<ElementsAttr>:$value,
                       DefaultValuedAttr<StrAttr, "\"parameter\"">:$role,
                       DefaultValuedAttr<BoolAttr, "true">:$trainable, OptionalAttr<StrArrayAttr>:$aliases,
                       OptionalAttr<FlatSymbolRefAttr>:$of, OptionalAttr<AnyAttr>:$layout);
  let assemblyFormat = "$sym_name attr-dict `:` $type";
  let hasVerifier = 1;
}

def Ferrule_ReadOp
    : Ferrule_Op<"read", ZeroGradient, "State", "0", [],
                 [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value that a variable has when the entry begins";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Ferrule_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Ferrule_AssignOp
    : Ferrule_Op<"assign", ZeroGradient, "State", "0", [0],
                 [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Gives a variable the value that it has after the entry returns; once an entry and variable";
  let arguments = (ins FlatSymbolRefAttr:$variable, Ferrule_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

#endif // FERRULE_IR_GRAPH_STATE_TD
