//===- ElementwiseEmitter.h - Graph ops on 16 lanes -----------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_COMMON_ELEMENTWISEEMITTER_H
#define FERRULE_CODEGEN_COMMON_ELEMENTWISEEMITTER_H

#include "codegen/common/FunctionEmitter.h"

namespace mlir::ferrule {

/// Emits the elementwise graph op `op` on vectors of 16 lanes, one rounding an op. Null, with an error at the op, if
/// it has no kernel for its dtype.
Value emitElementwise(FunctionEmitter &emitter, Operation *op, ValueRange operands);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_ELEMENTWISEEMITTER_H
