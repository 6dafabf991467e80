// Constants as arrays of scalars, which the folder computes with.
#ifndef FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_
#define FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace mlir::ferrule {

/// One element; which member holds it follows from the dtype. Integers of every width are kept sign- or zero-extended,
/// a bool as 0 or 1.
union Scalar {
  float f32;
  double f64;
  int64_t integer;
};

/// The dtypes that the folder knows; the others are left to the run time.
enum class ScalarKind { Float32, Float64, Signed, Unsigned, Bool };
std::optional<ScalarKind> getScalarKind(Type elementType);

/// `value` wrapped to the width and sign of an integer type.
int64_t wrapInteger(int64_t value, IntegerType type);

struct ConstantTensor {
  RankedTensorType type;
  ScalarKind kind = ScalarKind::Float32;
  /// One element if all are equal, else all in row-major order.
  bool isSplat = false;
  std::vector<Scalar> elements;

  const Scalar &at(int64_t index) const { return elements[isSplat ? 0 : index]; }

  /// Empty for a dtype or a storage (dense_resource) that the folder leaves alone.
  static std::optional<ConstantTensor> read(ElementsAttr attribute);
  DenseElementsAttr write() const;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_
