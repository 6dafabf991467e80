// The plan dialect with its type and attributes, without the ops.
#ifndef FERRULE_IR_PLAN_PLANDIALECT_H_
#define FERRULE_IR_PLAN_PLANDIALECT_H_

#include "ir/graph/FerruleDialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "ir/plan/PlanDialect.h.inc"

#include "ir/plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.h.inc"

#endif // FERRULE_IR_PLAN_PLANDIALECT_H_
