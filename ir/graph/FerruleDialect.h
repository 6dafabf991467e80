// The graph dialect and its `#ferrule.dims` attribute, without the ops.
#ifndef FERRULE_IR_GRAPH_FERRULEDIALECT_H_
#define FERRULE_IR_GRAPH_FERRULEDIALECT_H_

#include "ir/dims/DimExpr.h"

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/TensorEncoding.h"

namespace mlir::ferrule {
using ::ferrule::DimExpr;
namespace detail {
struct DimsAttrStorage;
} // namespace detail
} // namespace mlir::ferrule

#include "ir/graph/FerruleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/graph/FerruleAttributes.h.inc"

#endif // FERRULE_IR_GRAPH_FERRULEDIALECT_H_
