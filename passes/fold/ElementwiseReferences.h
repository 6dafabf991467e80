// The scalar functions that define elementwise ops, by op name: what the folder evaluates with.
#ifndef FERRULE_PASSES_FOLD_ELEMENTWISEREFERENCES_H_
#define FERRULE_PASSES_FOLD_ELEMENTWISEREFERENCES_H_

#include "passes/fold/ConstantTensor.h"

#include <functional>

namespace mlir::ferrule {

/// Computes one result element from one element of each operand.
using ScalarFunction = std::function<Scalar(ArrayRef<Scalar>)>;

/// The reference of the elementwise op `name` (without the dialect's prefix) for operands and a result of these element
/// types; null if the folder has none, and the op is left to the run time.
ScalarFunction findElementwiseReference(StringRef name, ArrayRef<Type> operandTypes, Type resultType);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FOLD_ELEMENTWISEREFERENCES_H_
