//===- GraphTypes.h - Types and attributes of the graph dialect -----------===//
//
// The only file of the front end that knows how dtypes, shapes, constants and
// dim declarations are spelled in the graph.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_GRAPHTYPES_H
#define FERRULE_FRONTEND_CORE_GRAPHTYPES_H

#include "frontend/core/OpCall.h"
#include "frontend/core/Tensor.h"
#include "ir/dims/DimConstraints.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ferrule::frontend {

/// The element type in the graph: signed integers are signless there, unsigned
/// ones are `ui`, a bool is i1.
mlir::Type toElementType(DataType type, mlir::MLIRContext *context);

/// The reverse, of an element type that a tensor of the graph can have.
DataType fromElementType(mlir::Type type);

/// A tensor type; the dims stand in its encoding unless all are constant.
mlir::RankedTensorType toTensorType(DataType type, llvm::ArrayRef<DimExpr> shape, mlir::MLIRContext *context);

Shape getShape(mlir::Value value);
DataType getType(mlir::Value value);

/// #ferrule.dims<[...]>
mlir::Attribute toDimsAttribute(llvm::ArrayRef<DimExpr> dims, mlir::MLIRContext *context);

/// Row-major elements in host memory (a bool a byte) as an attribute. They are
/// copied, and uniqued for the life of the context.
mlir::DenseElementsAttr toElements(const Tensor &tensor, mlir::MLIRContext *context);

/// `number` as a rank-0 constant of `type`. A DtypeError if an integer type
/// cannot hold it: a Python scalar never widens a tensor.
llvm::Expected<mlir::DenseElementsAttr> toElements(const Scalar &number, DataType type, mlir::MLIRContext *context);

/// The attribute each kind of value becomes; see AttributeValue.
llvm::Expected<mlir::Attribute> toAttribute(const AttributeValue &value, mlir::MLIRContext *context);

/// Writes onto `module` the ranges of `usedDims` (`ferrule.dims`) and the
/// recorded equalities (`ferrule.equalities`, pairs as #ferrule.dims).
void setDimAttributes(mlir::ModuleOp module, const DimConstraints &constraints, const std::set<std::string> &usedDims);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_GRAPHTYPES_H
