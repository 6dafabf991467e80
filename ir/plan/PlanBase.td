// The plan dialect: what an entry does, as instructions over buffers that have a place. One to one with
// serialize/schema/program.fbs; codegen translates it and decides nothing.
#ifndef FERRULE_IR_PLAN_PLANBASE_TD
#define FERRULE_IR_PLAN_PLANBASE_TD

include "ir/graph/Base.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def FerrulePlan_Dialect : Dialect {
  let name = "ferrule_plan";
  let cppNamespace = "::mlir::ferrule::plan";
  let summary = "The plan: buffers with their places, and instructions in the order in which they run";
  let description = [{
    What the memory pass makes of the graph and what code generation reads. There are no tensor values left: an entry
    declares its buffers (where each lives, how many bytes, from which instruction to which), then calls kernels and
    copies on them. The module also holds the program's arenas, its constants, its kernels, and the variables of the
    graph dialect.

    Instructions of a block are numbered from 0 in block order; buffers and views are declarations and have no number.
    A branch or loop is one instruction, whose blocks have numbers of their own.

    ```mlir
    ferrule_plan.arena @arena size 256 align 64
    ferrule_plan.kernel @exp.0(%x: tensor<64xf32>) { ... }

    ferrule_plan.entry @main("x" : tensor<64xf32>) -> ("y" : tensor<64xf32>) peak 256 lower_bound 256 naive 256 {
      %x = ferrule_plan.buffer input 0 size <[256]> planned 256 live 0 to 0 "x"
      %y = ferrule_plan.buffer output 0 size <[256]> planned 256 live 1 to 1 "y"
      %exp = ferrule_plan.buffer arena @arena offset 0 size <[256]> planned 256 live 0 to 1 "exp"
      ferrule_plan.call @exp.0 outs(%exp) ins(%x)
      ferrule_plan.call @exp.0 outs(%y) ins(%exp)
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::ferrule::FerruleDialect"];
  let extraClassDeclaration = [{
    /// What a family of ops calls to add itself.
    template <typename... Ops> void registerOps() { addOperations<Ops...>(); }
  }];
}

//===------------------------------------------------------------------------------------------------------------===//
// Types and attributes
//===------------------------------------------------------------------------------------------------------------===//

def FerrulePlan_Buffer : TypeDef<FerrulePlan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Bytes that have a place while an entry runs";
}

/// The numbers are those of `Storage` in the schema.
def FerrulePlan_Storage : I32EnumAttr<"Storage", "where a buffer's bytes are", [
    I32EnumAttrCase<"Arena", 0, "arena">,
    I32EnumAttrCase<"Variable", 1, "variable">,
    I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Input", 3, "input">,
    I32EnumAttrCase<"Output", 4, "output">]> {
  let cppNamespace = "::mlir::ferrule::plan";
}

/// What an arena buffer holds. The numbers are those of `BufferKind` in the schema.
def FerrulePlan_BufferKind : I32EnumAttr<"BufferKind", "what a buffer holds", [
    I32EnumAttrCase<"Unspecified", 0, "unspecified">,
    I32EnumAttrCase<"Activation", 1, "activation">,
    I32EnumAttrCase<"Residual", 2, "residual">,
    I32EnumAttrCase<"Recomputed", 3, "recomputed">,
    I32EnumAttrCase<"Gradient", 4, "gradient">,
    I32EnumAttrCase<"State", 5, "state">,
    I32EnumAttrCase<"Workspace", 6, "workspace">]> {
  let cppNamespace = "::mlir::ferrule::plan";
}

def FerrulePlan_DimAttr : AttrDef<FerrulePlan_Dialect, "Dim"> {
  let mnemonic = "dim";
  let summary = "A symbolic size of an entry and the values that a run accepts";
  let description = [{
    `#ferrule_plan.dim<"batch", min = 1, max = 64, multiple_of = 1>`; no bound is the largest 64-bit number.
  }];
  let parameters = (ins StringRefParameter<"the dim's name">:$name, "int64_t":$min, "int64_t":$max,
                        "int64_t":$multiple_of);
  let assemblyFormat = "`<` $name `,` `min` `=` $min `,` `max` `=` $max `,` `multiple_of` `=` $multiple_of `>`";
  let genVerifyDecl = 1;
}
def FerrulePlan_DimArrayAttr : TypedArrayAttrBase<FerrulePlan_DimAttr, "dims of an entry">;
def FerrulePlan_EqualityArrayAttr : TypedArrayAttrBase<Ferrule_DimsAttr, "pairs of equal sizes">;

/// Where buffers and instructions stand.
def FerrulePlan_InBlock : ParentOneOf<["EntryOp", "IfOp", "WhileOp", "LoopOp"]>;

class FerrulePlan_Op<string mnemonic, list<Trait> traits = []> : Op<FerrulePlan_Dialect, mnemonic, traits>;

#endif // FERRULE_IR_PLAN_PLANBASE_TD
