// The ops of the plan dialect.
#ifndef FERRULE_IR_PLAN_PLANOPS_H_
#define FERRULE_IR_PLAN_PLANOPS_H_

#include "ir/graph/Dispatch.h"
#include "ir/plan/PlanDialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace mlir::ferrule::plan {
/// The parents that buffers and instructions name.
class EntryOp;
class IfOp;
class LoopOp;
class WhileOp;
} // namespace mlir::ferrule::plan

#define GET_OP_CLASSES
#include "ir/plan/Buffer.h.inc"

#define GET_OP_CLASSES
#include "ir/plan/Instruction.h.inc"

#define GET_OP_CLASSES
#include "ir/plan/ControlFlow.h.inc"

#define GET_OP_CLASSES
#include "ir/plan/Entry.h.inc"

namespace mlir::ferrule::plan {

// One a family; FerrulePlanDialect::initialize calls them.
void registerBufferOps(FerrulePlanDialect &dialect);
void registerControlFlowOps(FerrulePlanDialect &dialect);
void registerInstructionOps(FerrulePlanDialect &dialect);
void registerEntryOps(FerrulePlanDialect &dialect);

/// The buffer in which the bytes of an operand lie; looks through views.
BufferOp getBuffer(Value operand);

/// Where in that buffer they begin, and how many they are.
DimExpr getOffset(Value operand);
DimExpr getBytes(Value operand);

/// The instructions of a block, number 0 first.
SmallVector<Operation *> getInstructions(Block &block);

/// Whether the op is a branch or loop.
bool isControlFlow(Operation *op);

/// The instruction of `block` that is `op` or has it in one of its blocks; null if there is none.
Operation *getInstructionIn(Block *block, Operation *op);

} // namespace mlir::ferrule::plan

#endif // FERRULE_IR_PLAN_PLANOPS_H_
