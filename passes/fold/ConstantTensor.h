// Constants as plain arrays, in the form that the scalar reference kernels take.
#ifndef FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_
#define FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_

#include "kernels/base/data_type.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <vector>

namespace mlir::ferrule {

/// The reference kernels' name for a dtype; empty for one that they do not know, whose ops are left to the run time.
std::optional<::ferrule::kernels::DataType> getReferenceType(Type elementType);

struct ConstantTensor {
  /// A tensor to be filled: of one element if it is a splat. The dtype must have a reference type.
  ConstantTensor(RankedTensorType type, bool isSplat);

  RankedTensorType type;
  bool isSplat = false;
  ::ferrule::kernels::DataType dataType;
  /// Elements in row-major order, or one if it is a splat; a bool is a byte 0 or 1.
  std::vector<char> bytes;

  int64_t getElementSize() const { return ::ferrule::kernels::size_of(dataType); }
  /// Stored elements: 1 for a splat.
  int64_t getCount() const { return isSplat ? 1 : type.getNumElements(); }
  char *at(int64_t index) { return bytes.data() + (isSplat ? 0 : index) * getElementSize(); }
  const char *at(int64_t index) const { return bytes.data() + (isSplat ? 0 : index) * getElementSize(); }
  /// The same elements, none shared.
  ConstantTensor expand() const;

  /// Empty for a dtype or a storage (dense_resource) that the folder leaves alone.
  static std::optional<ConstantTensor> read(ElementsAttr attribute);
  DenseElementsAttr write() const;
};

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_FOLD_CONSTANTTENSOR_H_
