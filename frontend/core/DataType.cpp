//===- DataType.cpp - Element types as the front end names them -----------===//

#include "frontend/core/DataType.h"

#include <array>

namespace ferrule::frontend {
namespace {

struct Facts {
  DataType type;
  llvm::StringLiteral name;
  Category category;
  unsigned byteSize;
  bool isSigned;
};

// In the order of the enum, so that the enum indexes it.
constexpr std::array<Facts, 13> facts = {{
    {DataType::Bool, "bool", Category::Bool, 1, false},
    {DataType::Int8, "int8", Category::Integer, 1, true},
    {DataType::Int16, "int16", Category::Integer, 2, true},
    {DataType::Int32, "int32", Category::Integer, 4, true},
    {DataType::Int64, "int64", Category::Integer, 8, true},
    {DataType::UInt8, "uint8", Category::Integer, 1, false},
    {DataType::UInt16, "uint16", Category::Integer, 2, false},
    {DataType::UInt32, "uint32", Category::Integer, 4, false},
    {DataType::UInt64, "uint64", Category::Integer, 8, false},
    {DataType::Float16, "float16", Category::Float, 2, true},
    {DataType::BFloat16, "bfloat16", Category::Float, 2, true},
    {DataType::Float32, "float32", Category::Float, 4, true},
    {DataType::Float64, "float64", Category::Float, 8, true},
}};

const Facts &factsOf(DataType type) { return facts[static_cast<size_t>(type)]; }

} // namespace

llvm::StringRef getName(DataType type) { return factsOf(type).name; }

std::optional<DataType> parseDataType(llvm::StringRef name) {
  for (const Facts &entry : facts)
    if (entry.name == name)
      return entry.type;
  return std::nullopt;
}

Category getCategory(DataType type) { return factsOf(type).category; }

unsigned getByteSize(DataType type) { return factsOf(type).byteSize; }

bool isSignedInteger(DataType type) { return getCategory(type) == Category::Integer && factsOf(type).isSigned; }

bool isUnsignedInteger(DataType type) { return getCategory(type) == Category::Integer && !factsOf(type).isSigned; }

} // namespace ferrule::frontend
