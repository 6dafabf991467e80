// The interface that every op of the graph dialect implements, and the types that it speaks in.
#ifndef FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_
#define FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_

#include "ir/dims/DimExpr.h"

#include "mlir/IR/OpDefinition.h"

namespace mlir::ferrule {

class GraphBuilder;

enum class GradientKind {
  Rule,             ///< buildGradient computes it.
  Zero,             ///< The derivative is zero wherever it exists (floor, sign) or by request (stop_gradient).
  NonDifferentiable ///< Refused, with a reason.
};

/// How an op is computed, whatever its name.
enum class LoweringKind {
  Elementwise,             ///< Result element i reads element i of each operand.
  Shape,                   ///< Moves or repeats elements without arithmetic, by an index map.
  Constant,                ///< No tensor operands: constant, dim, iota.
  Reduction,               ///< One result element from all elements along `axes`.
  Moments,                 ///< Mean, variance and reciprocal standard deviation along `axes` in one pass.
  ArgReduction,            ///< The index of an extreme element along `axis`.
  Contraction,             ///< Matrix product.
  Convolution,             ///< Forward convolution.
  ConvolutionInputGradient,
  ConvolutionWeightGradient,
  Pooling,                 ///< Windows of the spatial axes, forward.
  PoolingGradient,
  Rows,                    ///< Whole rows at a time: softmax, cross entropy.
  Panels,                  ///< Packs, unpacks or transposes weight panels.
  State,                   ///< variable, read, assign.
  Expand                   ///< Never reaches code generation: a pass replaces it by other ops.
};
llvm::StringRef stringify(LoweringKind kind);

/// Indices of the operands and results that a gradient rule reads.
struct Residuals {
  llvm::SmallVector<unsigned> operands, results;
};

} // namespace mlir::ferrule

#include "ir/interfaces/FerruleOpInterface.h.inc"

#endif // FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_
