#include "passes/fold/ConstantTensor.h"

#include <cstring>

namespace mlir::ferrule {

using ::ferrule::kernels::DataType;

std::optional<DataType> getReferenceType(Type elementType) {
  if (elementType.isF16())
    return DataType::kF16;
  if (elementType.isBF16())
    return DataType::kBF16;
  if (elementType.isF32())
    return DataType::kF32;
  if (elementType.isF64())
    return DataType::kF64;
  auto integer = dyn_cast<IntegerType>(elementType);
  switch (integer ? integer.getWidth() : 0) {
  case 1:
    return DataType::kBool;
  case 8:
    return integer.isUnsigned() ? DataType::kU8 : DataType::kI8;
  case 16:
    return integer.isUnsigned() ? DataType::kU16 : DataType::kI16;
  case 32:
    return integer.isUnsigned() ? DataType::kU32 : DataType::kI32;
  case 64:
    return integer.isUnsigned() ? DataType::kU64 : DataType::kI64;
  default:
    return std::nullopt;
  }
}

ConstantTensor::ConstantTensor(RankedTensorType type, bool isSplat)
    : type(type), isSplat(isSplat), dataType(*getReferenceType(type.getElementType())) {
  bytes.resize(getCount() * getElementSize());
}

ConstantTensor ConstantTensor::expand() const {
  ConstantTensor result(type, /*isSplat=*/false);
  for (int64_t i = 0, count = result.getCount(); i < count; ++i)
    std::memcpy(result.at(i), at(i), getElementSize());
  return result;
}

std::optional<ConstantTensor> ConstantTensor::read(ElementsAttr attribute) {
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  auto type = dense ? dyn_cast<RankedTensorType>(dense.getType()) : RankedTensorType();
  if (!type || !getReferenceType(type.getElementType()))
    return std::nullopt;
  ConstantTensor tensor(type, dense.isSplat());
  if (tensor.dataType != DataType::kBool) {
    // Raw copies keep every bit, NaN payloads included.
    std::memcpy(tensor.bytes.data(), dense.getRawData().data(), tensor.bytes.size());
    return tensor;
  }
  auto value = dense.getValues<bool>().begin();
  for (char &byte : tensor.bytes)
    byte = *value++;
  return tensor;
}

DenseElementsAttr ConstantTensor::write() const {
  if (dataType != DataType::kBool)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values(bytes.begin(), bytes.end());
  return DenseElementsAttr::get(type, values);
}

} // namespace mlir::ferrule
