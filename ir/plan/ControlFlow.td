// Instructions that run blocks of instructions.
#ifndef FERRULE_IR_PLAN_CONTROLFLOW_TD
#define FERRULE_IR_PLAN_CONTROLFLOW_TD

include "ir/plan/PlanBase.td"

/// One instruction of the block in which it stands, whatever its own blocks hold. Those declare their buffers
/// themselves and may use the buffers of all blocks around them; their instructions are numbered from 0.
class FerrulePlan_ControlFlowOp<string mnemonic>
    : FerrulePlan_Op<mnemonic, [FerrulePlan_InBlock, SingleBlock, NoTerminator, NoRegionArguments]>;

def FerrulePlan_IfOp : FerrulePlan_ControlFlowOp<"if"> {
  let summary = "Runs one of two blocks";
  let description = "`condition` holds a bool, one byte.";
  let arguments = (ins FerrulePlan_Buffer:$condition);
  let regions = (region SizedRegion<1>:$thenBlock, SizedRegion<1>:$elseBlock);
  let assemblyFormat = "$condition attr-dict-with-keyword $thenBlock `else` $elseBlock";
}

def FerrulePlan_WhileOp : FerrulePlan_ControlFlowOp<"while"> {
  let summary = "Runs its condition block and then, as long as the condition holds, its body and the condition block";
  let description = "`condition` is a bool of one byte, which the condition block writes.";
  let arguments = (ins FerrulePlan_Buffer:$condition);
  let regions = (region SizedRegion<1>:$conditionBlock, SizedRegion<1>:$bodyBlock);
  let assemblyFormat = "$condition attr-dict-with-keyword `condition` $conditionBlock `body` $bodyBlock";
}

def FerrulePlan_LoopOp : FerrulePlan_ControlFlowOp<"loop"> {
  let summary = "Runs its block a number of times";
  let description = [{
    `count` is one expression. `dim` is a dim of the block, which no other loop or entry dim is called like: it runs
    from 0 to count - 1.
  }];
  let arguments = (ins Ferrule_DimsAttr:$count, StrAttr:$dim);
  let regions = (region SizedRegion<1>:$bodyBlock);
  let assemblyFormat = "`count` $count `dim` $dim attr-dict-with-keyword $bodyBlock";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const ::ferrule::DimExpr &getStepCount() { return getCount().getDims().front(); }
  }];
}

def FerrulePlan_BindDimOp : FerrulePlan_Op<"bind_dim", [FerrulePlan_InBlock]> {
  let summary = "Gives a dim the value that a kernel computed";
  let description = [{
    `value` holds an int64. The dim is known to the instructions behind it in its block and deeper, and, if that is the
    entry's own, to the types of the outputs. A run is refused when the value is outside of the dim's bounds or more
    than `limit`, one expression: for one call, buffers and outputs that depend on the dim have room for that many.
  }];
  let arguments = (ins FerrulePlan_DimAttr:$dim, Ferrule_DimsAttr:$limit, FerrulePlan_Buffer:$value);
  let assemblyFormat = "$dim `at_most` $limit `from` $value attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    const ::ferrule::DimExpr &getMost() { return getLimit().getDims().front(); }
  }];
}

#endif // FERRULE_IR_PLAN_CONTROLFLOW_TD
