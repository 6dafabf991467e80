//===- OpCall.h - One call of an op, before any transformation ------------===//
#ifndef FERRULE_FRONTEND_CORE_OPCALL_H
#define FERRULE_FRONTEND_CORE_OPCALL_H

#include "frontend/core/Tensor.h"

#include "llvm/ADT/SmallVector.h"

#include <string>
#include <variant>
#include <vector>

namespace ferrule::frontend {

/// A Python number: weak in promotion, broadcast to any shape. An integer is
/// uint64_t only where int64_t does not hold it.
using Scalar = std::variant<bool, int64_t, uint64_t, double>;

/// An optional operand that the caller leaves out.
struct Absent {};

/// What stands in an operand position. A DimExpr counts as a weak integer.
using Operand = std::variant<Absent, TensorRef, Scalar, DimExpr>;

/// Attribute values, and the attribute each becomes: bool, i64, ui64, f64, string,
/// an i64 array, #ferrule.dims, an element type, an array of element types, dense elements of a tensor.
using AttributeValue = std::variant<bool, int64_t, uint64_t, double, std::string, std::vector<int64_t>, Shape, DataType,
                                    std::vector<DataType>, TensorRef>;

struct OpAttribute {
  std::string name;
  AttributeValue value;
};

struct OpCall {
  std::string op; ///< Without the dialect prefix: "add".
  llvm::SmallVector<Operand, 4> operands;
  llvm::SmallVector<OpAttribute, 6> attributes;
  SourceLocation location;
  std::string modulePath; ///< "net.conv1", or empty outside any module.
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_OPCALL_H
