// The interface that every op of the graph dialect implements, and the types that it speaks in.
#ifndef FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_
#define FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_

#include "ir/dims/DimExpr.h"

#include "mlir/IR/OpDefinition.h"

#include <string>

namespace mlir::ferrule {

class GraphBuilder;

enum class GradientKind {
  Rule,             ///< buildGradient computes it.
  Regions,          ///< That of the ops in its regions (branches and loops).
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
  Library,                 ///< One kernel function computes the whole op: LibraryOpInterface.
  State,                   ///< variable, read, assign.
  ControlFlow,             ///< Runs its regions, or ends one.
  Expand                   ///< Never reaches code generation: a pass replaces it by other ops.
};
llvm::StringRef stringify(LoweringKind kind);

/// Indices of the operands and results that a gradient rule reads.
struct Residuals {
  llvm::SmallVector<unsigned> operands, results;
};

/// The call that computes a whole op. The kernel `ferrule_<stem>_<suffix>` of kernels/skeletons.inc takes, in this order,
/// a pointer for each result, a pointer for each operand (row-major, absent optional ones left out), `sizes`, a pointer
/// to `table` unless that is empty, `numbers`, tile_begin and tile_end, then a scratch pointer if `scratchBytes` is not
/// 0, then a FerruleKernelError pointer if it can fail. It computes the tiles [tile_begin, tile_end), each into other
/// elements than every other tile, with the same bits however the tiles are split.
struct LibraryCall {
  std::string stem;
  /// Whose dtype makes the suffix: f32, f64, i32, i64; with `byWidth` its bytes: b1, b2, b4, b8. Null: no suffix.
  Type element;
  bool byWidth = false;
  llvm::SmallVector<::ferrule::DimExpr> sizes, table;
  llvm::SmallVector<double> numbers;
  ::ferrule::DimExpr tiles = 1;
  /// For each thread.
  ::ferrule::DimExpr scratchBytes = 0;
  /// Whether it returns a FerruleKernelErrorCode (an index out of range) instead of nothing.
  bool canFail = false;
};

/// All operands: what a gradient reads that takes the op's regions apart.
Residuals getAllOperands(Operation *op);

} // namespace mlir::ferrule

#include "ir/interfaces/FerruleOpInterface.h.inc"

#endif // FERRULE_IR_INTERFACES_FERRULEOPINTERFACE_H_
