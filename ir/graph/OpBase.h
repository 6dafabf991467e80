// What every family's generated declarations need.
#ifndef FERRULE_IR_GRAPH_OPBASE_H_
#define FERRULE_IR_GRAPH_OPBASE_H_

#include "ir/graph/FerruleDialect.h"
#include "ir/graph/Inference.h"
#include "ir/graph/Shapes.h"
#include "ir/interfaces/FerruleOpInterface.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#endif // FERRULE_IR_GRAPH_OPBASE_H_
