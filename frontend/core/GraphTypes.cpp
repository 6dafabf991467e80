//===- GraphTypes.cpp - Types and attributes of the graph dialect ---------===//

#include "frontend/core/GraphTypes.h"

#include "frontend/core/Error.h"
#include "ir/graph/Shapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <optional>

namespace ferrule::frontend {

mlir::Type toElementType(DataType type, mlir::MLIRContext *context) {
  switch (type) {
  case DataType::Bool:
    return mlir::IntegerType::get(context, 1);
  case DataType::Float16:
    return mlir::Float16Type::get(context);
  case DataType::BFloat16:
    return mlir::BFloat16Type::get(context);
  case DataType::Float32:
    return mlir::Float32Type::get(context);
  case DataType::Float64:
    return mlir::Float64Type::get(context);
  default:
    return mlir::IntegerType::get(context, 8 * getByteSize(type),
                                  isUnsignedInteger(type) ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
  }
}

DataType fromElementType(mlir::Type type) {
  if (type.isF32())
    return DataType::Float32;
  if (type.isF64())
    return DataType::Float64;
  if (type.isF16())
    return DataType::Float16;
  if (type.isBF16())
    return DataType::BFloat16;
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DataType::Bool;
  case 8:
    return isUnsigned ? DataType::UInt8 : DataType::Int8;
  case 16:
    return isUnsigned ? DataType::UInt16 : DataType::Int16;
  case 32:
    return isUnsigned ? DataType::UInt32 : DataType::Int32;
  case 64:
    return isUnsigned ? DataType::UInt64 : DataType::Int64;
  default:
    llvm_unreachable("the graph's type rules allow no other element type");
  }
}

mlir::RankedTensorType toTensorType(DataType type, llvm::ArrayRef<DimExpr> shape, mlir::MLIRContext *context) {
  return mlir::ferrule::makeTensorType(toElementType(type, context), shape);
}

Shape getShape(mlir::Value value) { return mlir::ferrule::getDims(value); }

DataType getType(mlir::Value value) { return fromElementType(mlir::getElementTypeOrSelf(value.getType())); }

mlir::Attribute toDimsAttribute(llvm::ArrayRef<DimExpr> dims, mlir::MLIRContext *context) {
  return mlir::ferrule::DimsAttr::get(context, dims);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

mlir::DenseElementsAttr toElements(const Tensor &tensor, mlir::MLIRContext *context) {
  mlir::RankedTensorType type = toTensorType(tensor.getType(), tensor.getShape(), context);
  const HostBuffer &buffer = *tensor.getBuffer();
  // Bools go one by one: their raw form depends on the number of elements.
  if (tensor.getType() == DataType::Bool)
    return mlir::DenseElementsAttr::get(type,
                                        llvm::ArrayRef<bool>(static_cast<const bool *>(buffer.data()), buffer.size()));
  return mlir::DenseElementsAttr::getFromRawBuffer(
      type, llvm::ArrayRef<char>(static_cast<const char *>(buffer.data()), buffer.size()));
}

namespace {

double toDouble(const Scalar &number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

/// As a cast does it: towards zero, saturated, and 0 for NaN.
int64_t toInt(const Scalar &number) {
  auto *real = std::get_if<double>(&number);
  if (!real)
    return std::visit([](auto value) { return static_cast<int64_t>(value); }, number);
  constexpr double limit = 9223372036854775808.0; // 2^63
  if (*real >= limit)
    return std::numeric_limits<int64_t>::max();
  return *real >= -limit ? static_cast<int64_t>(*real) : std::isnan(*real) ? 0 : std::numeric_limits<int64_t>::min();
}

std::string toText(const Scalar &number) {
  auto *large = std::get_if<uint64_t>(&number);
  return large ? std::to_string(*large) : std::to_string(toInt(number));
}

/// The number in `type`, an integer type; no value if it does not fit.
std::optional<llvm::APInt> toInteger(const Scalar &number, DataType type) {
  unsigned bits = 8 * getByteSize(type);
  bool isSigned = isSignedInteger(type);
  if (auto *large = std::get_if<uint64_t>(&number)) {
    if (isSigned || !llvm::isUIntN(bits, *large))
      return std::nullopt;
    return llvm::APInt(bits, *large);
  }
  int64_t value = toInt(number);
  if (isSigned ? !llvm::isIntN(bits, value) : value < 0 || !llvm::isUIntN(bits, value))
    return std::nullopt;
  return llvm::APInt(bits, static_cast<uint64_t>(value), isSigned);
}

} // namespace

llvm::Expected<mlir::DenseElementsAttr> toElements(const Scalar &number, DataType type, mlir::MLIRContext *context) {
  mlir::RankedTensorType tensorType = toTensorType(type, {}, context);
  mlir::Type elementType = tensorType.getElementType();
  mlir::Attribute value;
  if (type == DataType::Bool) {
    value = mlir::IntegerAttr::get(elementType, toDouble(number) != 0);
  } else if (isFloat(type)) {
    // One rounding, from the exact double or integer, to the element type.
    value = mlir::FloatAttr::get(elementType, toDouble(number));
  } else {
    // Promotion has made sure that an integer type means an integer scalar,
    // except where the caller asked for a conversion (`full`).
    std::optional<llvm::APInt> integer = toInteger(number, type);
    if (!integer)
      return makeError(ErrorKind::DType, "the number " + toText(number) + " does not fit in " + getName(type));
    value = mlir::IntegerAttr::get(elementType, *integer);
  }
  return mlir::DenseElementsAttr::get(tensorType, value);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

llvm::Expected<mlir::Attribute> toAttribute(const AttributeValue &value, mlir::MLIRContext *context) {
  mlir::Builder builder(context);
  if (auto *flag = std::get_if<bool>(&value))
    return builder.getBoolAttr(*flag);
  if (auto *integer = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*integer);
  if (auto *integer = std::get_if<uint64_t>(&value))
    return builder.getIntegerAttr(builder.getIntegerType(64, /*isSigned=*/false), llvm::APInt(64, *integer));
  if (auto *real = std::get_if<double>(&value))
    return builder.getF64FloatAttr(*real);
  if (auto *text = std::get_if<std::string>(&value))
    return builder.getStringAttr(*text);
  if (auto *integers = std::get_if<std::vector<int64_t>>(&value))
    return builder.getDenseI64ArrayAttr(*integers);
  if (auto *dims = std::get_if<Shape>(&value)) {
    for (const DimExpr &dim : *dims)
      if (!dim.isValid())
        return makeError(ErrorKind::Shape, "a size divides by zero or leaves "
                                           "64-bit integers");
    return toDimsAttribute(*dims, context);
  }
  if (auto *type = std::get_if<DataType>(&value))
    return mlir::TypeAttr::get(toElementType(*type, context));
  if (auto *types = std::get_if<std::vector<DataType>>(&value)) {
    llvm::SmallVector<mlir::Type> elements;
    for (DataType type : *types)
      elements.push_back(toElementType(type, context));
    return builder.getTypeArrayAttr(elements);
  }
  const Tensor &tensor = *std::get<TensorRef>(value);
  if (!tensor.isConcrete())
    return makeError(ErrorKind::Value, "a constant needs an array");
  return toElements(tensor, context);
}

void setDimAttributes(mlir::ModuleOp module, const DimConstraints &constraints, const std::set<std::string> &usedDims) {
  mlir::Builder builder(module.getContext());
  auto number = [&](llvm::StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  llvm::SmallVector<mlir::NamedAttribute> dims;
  for (const std::string &name : usedDims) {
    DimRange range = constraints.getRange(name);
    dims.push_back(
        builder.getNamedAttr(name, builder.getDictionaryAttr({number("min", range.min), number("max", range.max),
                                                              number("multiple_of", range.multipleOf)})));
  }
  if (!dims.empty())
    module->setAttr("ferrule.dims", builder.getDictionaryAttr(dims));
  llvm::SmallVector<mlir::Attribute> equalities;
  for (const auto &[left, right] : constraints.getEqualities())
    equalities.push_back(toDimsAttribute({left, right}, module.getContext()));
  if (!equalities.empty())
    module->setAttr("ferrule.equalities", builder.getArrayAttr(equalities));
}

} // namespace ferrule::frontend
