//===- GradientOperands.h - Reading a recorded ferrule.gradient -----------===//
#ifndef FERRULE_FRONTEND_CORE_GRADIENTOPERANDS_H
#define FERRULE_FRONTEND_CORE_GRADIENTOPERANDS_H

#include "mlir/IR/Operation.h"

#include <optional>

namespace ferrule::frontend {

struct GradientOperands {
  mlir::Value cost;
  mlir::OperandRange inputs; ///< What the gradient is taken with respect to.
};

/// The operands of `op` if it is a `ferrule.gradient`.
std::optional<GradientOperands> getGradientOperands(mlir::Operation *op);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_GRADIENTOPERANDS_H
