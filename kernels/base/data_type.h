// The element types that reference kernels are told about by value.
#ifndef FERRULE_KERNELS_BASE_DATA_TYPE_H_
#define FERRULE_KERNELS_BASE_DATA_TYPE_H_

#include <stdint.h>

namespace ferrule::kernels {

enum class DataType : uint8_t { kBool, kI8, kI16, kI32, kI64, kU8, kU16, kU32, kU64, kF16, kBF16, kF32, kF64 };

// Bytes an element; a boolean takes one byte that holds 0 or 1.
constexpr int64_t size_of(DataType type) {
  switch (type) {
    case DataType::kBool:
    case DataType::kI8:
    case DataType::kU8:
      return 1;
    case DataType::kI16:
    case DataType::kU16:
    case DataType::kF16:
    case DataType::kBF16:
      return 2;
    case DataType::kI32:
    case DataType::kU32:
    case DataType::kF32:
      return 4;
    case DataType::kI64:
    case DataType::kU64:
    case DataType::kF64:
      return 8;
  }
  return 0;
}

}  // namespace ferrule::kernels

#endif  // FERRULE_KERNELS_BASE_DATA_TYPE_H_
