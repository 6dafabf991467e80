//===- TemplateBuilder.h - Writing what several fragments share -----------===//
#ifndef FERRULE_FRONTEND_CORE_TEMPLATEBUILDER_H
#define FERRULE_FRONTEND_CORE_TEMPLATEBUILDER_H

#include "frontend/core/FragmentTemplate.h"
#include "frontend/core/SizeMatcher.h"
#include "ir/graph/Shape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace ferrule::frontend {

/// `op` if it is a constant of rank 0.
mlir::ferrule::ConstantOp getScalarConstant(mlir::Operation *op);

/// Walks fragments side by side and writes their template. Used once.
class TemplateBuilder {
public:
  /// Memory that the values of a template may take at the upper bounds of its
  /// dims, unless the fragments themselves need more.
  static constexpr uint64_t memoryBudget = uint64_t(256) << 20;

  /// How a size of an input becomes a dim: as it is, or as a multiple of a free
  /// dim where the fragments' sizes have a common factor (of which a half can be
  /// taken that the type rules know to be one).
  enum class Factors { Ignore, Split };

  TemplateBuilder(llvm::ArrayRef<mlir::ModuleOp> fragments, Factors factors);

  /// Null if there is no template.
  std::unique_ptr<FragmentTemplate> build();

private:
  /// The same place in each fragment.
  using Operations = llvm::SmallVector<mlir::Operation *, 4>;

  bool addArguments();
  SizeValues getArgumentSizes(mlir::BlockArgument argument, unsigned axis);
  void addDims(const std::set<SizeValues> &different);
  bool addBlock(llvm::ArrayRef<mlir::Block *> blocks);
  bool addOp(const Operations &ops);
  bool addRegions(const Operations &ops, mlir::Operation *clone);
  void setRegionResults(mlir::Operation *clone);
  bool addSizes(const Operations &ops, mlir::StringAttr name, mlir::Operation *clone, unsigned place);
  bool addScalar(const Operations &ops, unsigned place);
  bool inferTypes(mlir::Operation *clone, const Operations &ops);
  bool describesAll(mlir::Operation *clone, const Operations &ops) const;
  bool describes(mlir::Value value, mlir::Value instance, unsigned fragment) const;
  void addFreeInputs();
  void finish();
  void setUpperBounds();
  /// Bytes of all values with each dim at its upper bound.
  uint64_t getPlannedBytes();
  mlir::Block *getBody() { return builder.getBlock(); }

  llvm::SmallVector<mlir::func::FuncOp, 4> functions;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::IRMapping mapping; ///< From the last fragment's values.
  std::unique_ptr<FragmentTemplate> result;
  SizeMatcher sizes;
  Factors factors;
  unsigned placeCount = 0; ///< Ops so far, those in regions behind the op that has them.
  unsigned depth = 0;      ///< Regions around the op being added.
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_TEMPLATEBUILDER_H
