//===- DimComparison.h - Comparing sizes in the user's program ------------===//
#ifndef FERRULE_FRONTEND_CORE_DIMCOMPARISON_H
#define FERRULE_FRONTEND_CORE_DIMCOMPARISON_H

#include "ir/dims/DimConstraints.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace ferrule::frontend {

enum class DimComparison { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };

/// `lhs comparison rhs` if the constraints decide it for every allowed value;
/// else a TraceError that names the expression, the ranges of its dims, the
/// user's line (`location`, "file.py:12") and the repair.
llvm::Expected<bool> compareDims(const DimConstraints &constraints, DimComparison comparison, const DimExpr &lhs,
                                 const DimExpr &rhs, llvm::StringRef location);

/// The value of `expression` if the constraints leave only one; else a
/// TraceError as above. This is what `int(dim)` asks.
llvm::Expected<int64_t> toInteger(const DimConstraints &constraints, const DimExpr &expression,
                                  llvm::StringRef location);

/// "1 <= batch <= 64, batch a multiple of 8", for messages.
std::string describeDims(const DimConstraints &constraints, llvm::ArrayRef<DimExpr> expressions);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_DIMCOMPARISON_H
