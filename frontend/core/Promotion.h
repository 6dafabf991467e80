//===- Promotion.h - Which element type an op computes in -----------------===//
//
// By category first (bool < integer < float), then by width, as PyTorch has it.
// A Python scalar is weak: it can raise the category, never the width. No MLIR
// here: the casts that follow from the answer are made in PromoteOperands.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_PROMOTION_H
#define FERRULE_FRONTEND_CORE_PROMOTION_H

#include "frontend/core/DataType.h"

#include "llvm/ADT/ArrayRef.h"

namespace ferrule::frontend {

/// What one operand contributes. A weak one is a Python scalar or a dim.
struct OperandType {
  DataType type = DataType::Float32;
  bool isWeak = false;
};

/// The common type of two tensors. Signed with unsigned gives the signed type
/// that holds both, at most int64; float16 with bfloat16 gives float32.
DataType promoteTypes(DataType lhs, DataType rhs);

/// The common type of all `operands`, of which there is at least one. If only
/// weak operands have the highest category, its default type is the answer.
DataType commonType(llvm::ArrayRef<OperandType> operands);

/// How an op treats the element types of its operands.
enum class PromotionRule {
  Keep,         ///< Operands are taken as they are.
  Common,       ///< All operands in their common type.
  Arithmetic,   ///< As Common, but bools count as int32.
  Float,        ///< As Common, but integers and bools become float32.
  Logical,      ///< All operands as bool: nonzero is true.
  Select,       ///< The first operand as bool, the others in their common type.
  LabelledRows, ///< Operand 0 as Float, operand 1 (labels) as int32, the rest
                ///< in the type of operand 0.
};

/// The rule of the graph op `name` (without the dialect prefix).
PromotionRule getPromotionRule(llvm::StringRef name);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_PROMOTION_H
