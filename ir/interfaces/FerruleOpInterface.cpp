#include "ir/interfaces/FerruleOpInterface.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/ErrorHandling.h"

#include "ir/interfaces/FerruleOpInterface.cpp.inc"

llvm::StringRef mlir::ferrule::stringify(LoweringKind kind) {
  switch (kind) {
  case LoweringKind::Elementwise:
    return "elementwise";
  case LoweringKind::Shape:
    return "shape";
  case LoweringKind::Constant:
    return "constant";
  case LoweringKind::Reduction:
    return "reduction";
  case LoweringKind::Moments:
    return "moments";
  case LoweringKind::ArgReduction:
    return "arg_reduction";
  case LoweringKind::Contraction:
    return "contraction";
  case LoweringKind::Convolution:
    return "convolution";
  case LoweringKind::ConvolutionInputGradient:
    return "convolution_input_gradient";
  case LoweringKind::ConvolutionWeightGradient:
    return "convolution_weight_gradient";
  case LoweringKind::Pooling:
    return "pooling";
  case LoweringKind::PoolingGradient:
    return "pooling_gradient";
  case LoweringKind::Rows:
    return "rows";
  case LoweringKind::Panels:
    return "panels";
  case LoweringKind::Library:
    return "library";
  case LoweringKind::State:
    return "state";
  case LoweringKind::ControlFlow:
    return "control_flow";
  case LoweringKind::Expand:
    return "expand";
  }
  llvm_unreachable("all kinds are named above");
}

mlir::ferrule::Residuals mlir::ferrule::getAllOperands(Operation *op) {
  return {llvm::to_vector(llvm::seq<unsigned>(0, op->getNumOperands())), {}};
}
