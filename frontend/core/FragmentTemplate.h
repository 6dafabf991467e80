//===- FragmentTemplate.h - One program for many shapes -------------------===//
//
// Dynamic mode records static shapes. When a fragment comes that differs from
// known ones only in sizes and scalars, they are compared, and what differs
// becomes a dim or an input: later shapes then compile nothing.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H
#define FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H

#include "frontend/core/CompiledProgram.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <set>

namespace ferrule::frontend {

class FragmentTemplate {
public:
  /// A module that serves all `fragments` (two or more, of one skeleton), or null
  /// if the type rules do not hold for what their sizes have in common.
  ///
  /// A size of an input that differs becomes a dim. Sizes and positions that
  /// attributes hold become expressions over the dims (SizeMatcher.h) or free
  /// dims. A scalar that differs becomes an input behind the others. A free dim is
  /// bound by an input behind those, of shape [dim, 0]: it has no elements, only
  /// its size.
  ///
  /// The upper bound of a dim, for which the program's memory is planned, lies far
  /// over what has been seen, so that growing lengths do not compile again. The
  /// runtime's arena is virtual memory: pages that no run has reached cost nothing.
  static std::unique_ptr<FragmentTemplate> create(llvm::ArrayRef<mlir::ModuleOp> fragments);

  /// The module to compile.
  mlir::ModuleOp getModule() const { return *module; }

  /// If the program serves `fragment`, of the same skeleton (sizes in range and
  /// related as the template says): the inputs that it takes behind the
  /// fragment's own.
  std::optional<std::vector<HostArray>> match(mlir::ModuleOp fragment) const;

private:
  friend class TemplateBuilder;

  using DimValues = std::map<std::string, int64_t>;

  // `op` is an op's place in the order of a walk over the function.

  /// A #ferrule.dims attribute and what its sizes must be.
  struct SizedAttribute {
    unsigned op;
    mlir::StringAttr name;
    llvm::SmallVector<DimExpr, 4> dims;
  };
  /// A rank-0 constant: an input, or what it must be.
  struct ScalarConstant {
    unsigned op;
    mlir::ElementsAttr value; ///< Null for an input.
  };

  class Matching;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Shape> argumentShapes;
  std::vector<SizedAttribute> sizedAttributes;
  std::vector<ScalarConstant> scalars;
  DimValues upperBounds;
  std::vector<std::string> freeDims; ///< In the order of their inputs.
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_FRAGMENTTEMPLATE_H
