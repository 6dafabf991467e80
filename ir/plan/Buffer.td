// Memory: what a buffer is, and what the storage kinds that a program owns are made of.
#ifndef FERRULE_IR_PLAN_BUFFER_TD
#define FERRULE_IR_PLAN_BUFFER_TD

include "ir/plan/PlanBase.td"

def FerrulePlan_ArenaOp : FerrulePlan_Op<"arena", [Symbol]> {
  let summary = "Memory that all entries of the program share, one run at a time";
  let description = [{
    `byte_size` is the most that any entry needs; nothing in it survives a run. `device` numbers the program's devices.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$byte_size, I64Attr:$alignment,
                       DefaultValuedAttr<I32Attr, "0">:$device);
  let assemblyFormat = "$sym_name `size` $byte_size `align` $alignment (`device` $device^)? attr-dict";
  let hasVerifier = 1;
}

def FerrulePlan_ConstantOp : FerrulePlan_Op<"constant", [Symbol]> {
  let summary = "Read-only data of the program";
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value);
  let assemblyFormat = "$sym_name $value attr-dict";
}

def FerrulePlan_BufferOp
    : FerrulePlan_Op<"buffer", [FerrulePlan_InBlock, DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "A buffer of a block, and its place";
  let description = [{
    `storage` says where it is: `arena`, `variable` and `constant` name an op of the module, `input` and `output` have
    the number of the entry's argument or result. `size` is its bytes for the dims of a call, one expression;
    `planned_size` the most that this can be. `begin` to `end` are the first and last instruction of its block that
    touch it (0 to 0 if none does); what a deeper block does is done by the branch or loop around it. In the arena it
    lies at `offset`. Arena buffers of one block that are live at the same time share bytes only if they have the same
    `alias_group` above zero: a call then writes a result over an operand that dies there. All buffers of a branch or
    loop are live together with what is live at that instruction; those of its two blocks never with each other.
    `as` says of an arena buffer what it holds and `of` what the elements are, for people and checks of values only.
  }];
  let arguments = (ins FerrulePlan_Storage:$storage, OptionalAttr<FlatSymbolRefAttr>:$symbol,
                       OptionalAttr<I64Attr>:$number, DefaultValuedAttr<I64Attr, "0">:$offset, Ferrule_DimsAttr:$size,
                       I64Attr:$planned_size, I64Attr:$begin, I64Attr:$end,
                       DefaultValuedAttr<I64Attr, "0">:$alias_group, StrAttr:$name,
                       DefaultValuedAttr<FerrulePlan_BufferKind, "BufferKind::Unspecified">:$kind,
                       OptionalAttr<TypeAttr>:$element);
  let results = (outs FerrulePlan_Buffer:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The bytes for the dims of a call.
    const ::ferrule::DimExpr &getBytes() { return getSize().getDims().front(); }
    /// Whether both are in the same arena and have a byte in common, at their planned sizes.
    bool overlaps(BufferOp other);
  }];
}

def FerrulePlan_ViewOp : FerrulePlan_Op<"view", [FerrulePlan_InBlock]> {
  let summary = "A part of a buffer, as an operand";
  let description = [{
    `size` bytes from byte `offset` on, one expression each. In a loop both may use its dim: this is how a step finds
    its slice.
  }];
  let arguments = (ins FerrulePlan_Buffer:$buffer, Ferrule_DimsAttr:$offset, Ferrule_DimsAttr:$size);
  let results = (outs FerrulePlan_Buffer:$result);
  let assemblyFormat = "$buffer `offset` $offset `size` $size attr-dict";
  let hasVerifier = 1;
}

#endif // FERRULE_IR_PLAN_BUFFER_TD
