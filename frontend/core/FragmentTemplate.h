//===- FragmentTemplate.h - One program for many shapes -------------------===//
//
// Dynamic mode records static shapes. When a second fragment comes that differs
// from a known one only in sizes and scalars, the two are compared, and what
// differs becomes a dim or an input: later shapes then compile nothing.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H
#define FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H

#include "frontend/core/CompiledProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>

namespace ferrule::frontend {

/// The structure of a module with one function: op names, attributes, types and
/// the wiring, as the addresses that the context gives them. Valid for one
/// MLIRContext, which never frees what it has uniqued.
using StructureKey = std::vector<uintptr_t>;
StructureKey getStructureKey(mlir::ModuleOp module);

/// The same without sizes and without the values of rank-0 constants: equal for
/// fragments that a template may serve.
StructureKey getSkeletonKey(mlir::ModuleOp module);

class FragmentTemplate {
public:
  /// A module that serves both `first` and `second`, which have one skeleton, or
  /// nothing if what differs between them is no function of the input sizes.
  ///
  /// A size that differs becomes a dim, one for each pair of values; sizes that
  /// shape attributes hold are matched as multiples of a dim or of a product of
  /// two; a scalar that is such a size is computed from the dims, and any other
  /// scalar that differs becomes an input behind the others. A dim's range goes
  /// from 1 to the next power of two, because its upper bound is what the
  /// program's memory is planned for.
  static std::unique_ptr<FragmentTemplate> create(mlir::ModuleOp first, mlir::ModuleOp second);

  /// The module to compile.
  mlir::ModuleOp getModule() const { return *module; }

  /// Whether the program serves `fragment`, of the same skeleton: sizes in
  /// range and related as the template says.
  bool accepts(mlir::ModuleOp fragment) const;

  /// The values of the scalars of `fragment` that are inputs here.
  std::vector<HostArray> getScalarInputs(mlir::ModuleOp fragment) const;

private:
  friend class TemplateBuilder;

  using DimValues = std::map<std::string, int64_t>;

  // `op` is an op's place in the function's body. All three are in that order.

  /// A #ferrule.dims attribute and what its sizes must be.
  struct SizedAttribute {
    unsigned op;
    mlir::StringAttr name;
    Shape dims;
  };
  /// A rank-0 constant that is a size, an input (neither given), or fixed.
  struct ScalarConstant {
    unsigned op;
    std::optional<DimExpr> size;
    mlir::ElementsAttr value;

    bool isInput() const { return !size && !value; }
  };

  std::optional<DimValues> bindDims(mlir::func::FuncOp function) const;
  bool acceptsSizes(mlir::Operation *op, const SizedAttribute &sized, const DimValues &values) const;
  bool acceptsScalar(mlir::Operation *op, const ScalarConstant &scalar, const DimValues &values) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Shape> argumentShapes;
  std::vector<SizedAttribute> sizedAttributes;
  std::vector<ScalarConstant> scalars;
  DimValues upperBounds;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H
