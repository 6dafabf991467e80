//===- DataType.h - Element types as the front end names them -------------===//
//
// The element types a tensor can have, with the facts that promotion and host
// storage need. Free of MLIR, so that the Python binding stays light.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_DATATYPE_H
#define FERRULE_FRONTEND_CORE_DATATYPE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace ferrule::frontend {

enum class DataType : uint8_t {
  Bool,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float16,
  BFloat16,
  Float32,
  Float64
};

/// Promotion looks at the category first and at the width second.
enum class Category : uint8_t { Bool, Integer, Float };

/// The default types of values that carry none: a Python int, a Python float.
inline constexpr DataType defaultInteger = DataType::Int32;
inline constexpr DataType defaultFloat = DataType::Float32;

/// NumPy's name: "float32", "int8", "bool".
llvm::StringRef getName(DataType type);

/// The type of that NumPy name, or nothing if Ferrule has no such type.
std::optional<DataType> parseDataType(llvm::StringRef name);

Category getCategory(DataType type);

/// Bytes of one element in host memory; a bool takes one byte.
unsigned getByteSize(DataType type);

bool isSignedInteger(DataType type);
bool isUnsignedInteger(DataType type);
inline bool isFloat(DataType type) { return getCategory(type) == Category::Float; }

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_DATATYPE_H
