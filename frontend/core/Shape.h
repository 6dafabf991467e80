//===- Shape.h - Shapes of ints and dim expressions -----------------------===//
#ifndef FERRULE_FRONTEND_CORE_SHAPE_H
#define FERRULE_FRONTEND_CORE_SHAPE_H

#include "ir/dims/DimExpr.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace ferrule::frontend {

/// One size per axis, in elements; a DimExpr may be a constant.
using Shape = llvm::SmallVector<DimExpr>;

/// "[batch, 3]", as all messages write shapes.
std::string toString(llvm::ArrayRef<DimExpr> shape);

/// The sizes, if every one is a constant.
std::optional<llvm::SmallVector<int64_t, 4>> getStaticSizes(llvm::ArrayRef<DimExpr> shape);

Shape toShape(llvm::ArrayRef<int64_t> sizes);

/// The number of elements; empty if it leaves int64.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> sizes);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_SHAPE_H
