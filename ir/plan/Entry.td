// The entry points of a program and the kernels that they call.
#ifndef FERRULE_IR_PLAN_ENTRY_TD
#define FERRULE_IR_PLAN_ENTRY_TD

include "ir/plan/PlanBase.td"

def FerrulePlan_EntryOp : FerrulePlan_Op<"entry", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "A planned entry point: buffers, then instructions in order";
  let description = [{
    Inputs and outputs have a path as name and a logical type. `dims` are bound by the shapes of the inputs, in the
    order in which they first occur there; `equalities` must hold for every call. `peak_bytes` is what the entry needs
    of the arena, `lower_bound_bytes` the most that is live at one instruction (no plan can need less), `naive_bytes`
    the sum of all its arena buffers, an alias group counted once. `signature` is the frontend's tree of arguments and
    results.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$input_names, TypeArrayAttr:$input_types,
                       StrArrayAttr:$output_names, TypeArrayAttr:$output_types,
                       DefaultValuedAttr<FerrulePlan_DimArrayAttr, "{}">:$dims,
                       DefaultValuedAttr<FerrulePlan_EqualityArrayAttr, "{}">:$equalities,
                       I64Attr:$peak_bytes, I64Attr:$lower_bound_bytes, I64Attr:$naive_bytes,
                       DefaultValuedAttr<StrAttr, "\"\"">:$signature);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `` custom<Tensors>($input_names, $input_types) `->` custom<Tensors>($output_names, $output_types)
    (`dims` $dims^)? (`equalities` $equalities^)? `peak` $peak_bytes `lower_bound` $lower_bound_bytes
    `naive` $naive_bytes (`signature` $signature^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Those of the entry's own block.
    auto getBuffers() { return getBody().front().getOps<BufferOp>(); }
    /// The instructions of the entry's own block, number 0 first.
    ::llvm::SmallVector<::mlir::Operation *> getInstructions();
  }];
}

def FerrulePlan_KernelOp : FerrulePlan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "What a kernel computes: one dispatch of the graph dialect";
  let description = [{
    The region holds one `ferrule.dispatch` whose operands are the region's arguments in order. A call passes a buffer
    for each result of the dispatch, then one for each operand. Equal dispatches, also of different entries, are one
    kernel.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ferrule::DispatchOp getDispatch();
  }];
}

#endif // FERRULE_IR_PLAN_ENTRY_TD
