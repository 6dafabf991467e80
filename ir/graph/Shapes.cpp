#include "ir/graph/Shapes.h"

#include "llvm/Support/raw_ostream.h"

namespace mlir::ferrule {

static DimsAttr getEncodedDims(RankedTensorType type) { return dyn_cast_or_null<DimsAttr>(type.getEncoding()); }

bool hasDims(RankedTensorType type) { return type.hasStaticShape() || getEncodedDims(type); }

Dims getDims(RankedTensorType type) {
  if (DimsAttr dims = getEncodedDims(type))
    return Dims(dims.getDims());
  assert(type.hasStaticShape() && "a dynamic size without a #ferrule.dims encoding");
  return Dims(type.getShape().begin(), type.getShape().end());
}

Dims getDims(Value value) { return getDims(cast<RankedTensorType>(value.getType())); }

RankedTensorType makeTensorType(Type elementType, ArrayRef<DimExpr> dims) {
  SmallVector<int64_t> shape;
  bool isStatic = true;
  for (const DimExpr &dim : dims) {
    shape.push_back(dim.getConstant().value_or(ShapedType::kDynamic));
    isStatic &= dim.isConstant();
  }
  if (isStatic)
    return RankedTensorType::get(shape, elementType);
  return RankedTensorType::get(shape, elementType, DimsAttr::get(elementType.getContext(), dims));
}

DimExpr getElementCount(ArrayRef<DimExpr> dims) {
  DimExpr count(1);
  for (const DimExpr &dim : dims)
    count = count * dim;
  return count;
}

DimExpr getElementCount(Value value) { return getElementCount(getDims(value)); }

DimExpr getByteCount(RankedTensorType type) {
  return getElementCount(getDims(type)) * DimExpr((type.getElementTypeBitWidth() + 7) / 8);
}

std::string describe(Type elementType) {
  if (elementType.isInteger(1))
    return "bool";
  std::string text;
  if (isa<BFloat16Type>(elementType))
    return "bfloat16";
  if (auto type = dyn_cast<FloatType>(elementType))
    return "float" + std::to_string(type.getWidth());
  if (auto type = dyn_cast<IntegerType>(elementType))
    return (type.isUnsigned() ? "uint" : "int") + std::to_string(type.getWidth());
  llvm::raw_string_ostream(text) << elementType;
  return text;
}

std::string describe(ArrayRef<DimExpr> dims) {
  std::string text = "[";
  for (auto [axis, dim] : llvm::enumerate(dims))
    text += (axis ? ", " : "") + dim.str();
  return text + "]";
}

std::string describe(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !hasDims(type)) {
    std::string text;
    llvm::raw_string_ostream(text) << value.getType();
    return text;
  }
  return describe(type.getElementType()) + describe(getDims(type));
}

} // namespace mlir::ferrule
