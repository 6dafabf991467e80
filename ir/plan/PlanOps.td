// All families, for the generated reference pages.
include "ir/plan/Buffer.td"
include "ir/plan/ControlFlow.td"
include "ir/plan/Entry.td"
include "ir/plan/Instruction.td"
