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
/// The parent that buffers and instructions name.
class EntryOp;
} // namespace mlir::ferrule::plan

#define GET_OP_CLASSES
#include "ir/plan/Buffer.h.inc"

#define GET_OP_CLASSES
#include "ir/plan/Instruction.h.inc"

#define GET_OP_CLASSES
#include "ir/plan/Entry.h.inc"

namespace mlir::ferrule::plan {

// One a family; FerrulePlanDialect::initialize calls them.
void registerBufferOps(FerrulePlanDialect &dialect);
void registerInstructionOps(FerrulePlanDialect &dialect);
void registerEntryOps(FerrulePlanDialect &dialect);

/// The buffer op that makes a value of the type !ferrule_plan.buffer; no other op does.
inline BufferOp getBuffer(Value value) { return value.getDefiningOp<BufferOp>(); }

} // namespace mlir::ferrule::plan

#endif // FERRULE_IR_PLAN_PLANOPS_H_
