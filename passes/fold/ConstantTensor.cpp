#include "passes/fold/ConstantTensor.h"

#include <cstring>

namespace mlir::ferrule {

std::optional<ScalarKind> getScalarKind(Type elementType) {
  if (elementType.isF32())
    return ScalarKind::Float32;
  if (elementType.isF64())
    return ScalarKind::Float64;
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return ScalarKind::Bool;
  return integer.isUnsigned() ? ScalarKind::Unsigned : ScalarKind::Signed;
}

int64_t wrapInteger(int64_t value, IntegerType type) {
  if (type.getWidth() >= 64)
    return value;
  uint64_t bits = static_cast<uint64_t>(value) & ((uint64_t{1} << type.getWidth()) - 1);
  bool negative = !type.isUnsigned() && (bits >> (type.getWidth() - 1)) & 1;
  return static_cast<int64_t>(negative ? bits - (uint64_t{1} << type.getWidth()) : bits);
}

std::optional<ConstantTensor> ConstantTensor::read(ElementsAttr attribute) {
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  auto type = dense ? dyn_cast<RankedTensorType>(dense.getType()) : RankedTensorType();
  std::optional<ScalarKind> kind = type ? getScalarKind(type.getElementType()) : std::nullopt;
  if (!kind)
    return std::nullopt;
  ConstantTensor tensor{type, *kind, dense.isSplat(), {}};
  size_t count = tensor.isSplat ? 1 : dense.getNumElements();
  tensor.elements.resize(count);
  if (isa<FloatType>(type.getElementType())) {
    // Raw copies keep every bit, NaN payloads included.
    const char *data = dense.getRawData().data();
    for (size_t i = 0; i < count; ++i)
      if (*kind == ScalarKind::Float32)
        std::memcpy(&tensor.elements[i].f32, data + i * sizeof(float), sizeof(float));
      else
        std::memcpy(&tensor.elements[i].f64, data + i * sizeof(double), sizeof(double));
    return tensor;
  }
  auto values = dense.getValues<APInt>();
  auto value = values.begin();
  for (size_t i = 0; i < count; ++i, ++value)
    tensor.elements[i].integer = *kind == ScalarKind::Signed ? (*value).getSExtValue()
                                                              : static_cast<int64_t>((*value).getZExtValue());
  return tensor;
}

DenseElementsAttr ConstantTensor::write() const {
  auto collect = [&](auto get) {
    SmallVector<std::decay_t<decltype(get(elements[0]))>> values;
    values.reserve(elements.size());
    for (const Scalar &element : elements)
      values.push_back(get(element));
    return values;
  };
  if (kind == ScalarKind::Float32)
    return DenseElementsAttr::get(type, ArrayRef(collect([](const Scalar &s) { return s.f32; })));
  if (kind == ScalarKind::Float64)
    return DenseElementsAttr::get(type, ArrayRef(collect([](const Scalar &s) { return s.f64; })));
  unsigned width = type.getElementTypeBitWidth();
  return DenseElementsAttr::get(type, ArrayRef(collect([&](const Scalar &s) {
                                  return APInt(width, static_cast<uint64_t>(s.integer), /*isSigned=*/false,
                                               /*implicitTrunc=*/true);
                                })));
}

} // namespace mlir::ferrule
