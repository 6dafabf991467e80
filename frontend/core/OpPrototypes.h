//===- OpPrototypes.h - Ops that were made before -------------------------===//
#ifndef FERRULE_FRONTEND_CORE_OPPROTOTYPES_H
#define FERRULE_FRONTEND_CORE_OPPROTOTYPES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/FoldingSet.h"

#include <memory>

namespace ferrule::frontend {

/// Everything that the type rule of an op reads: its name, its attributes and
/// the types of its operands. An absent operand is a null value.
class OpSignature {
public:
  OpSignature(mlir::OperationName name, llvm::ArrayRef<mlir::Value> operands,
              llvm::ArrayRef<mlir::NamedAttribute> attributes);

  const llvm::FoldingSetNodeID &getId() const { return id; }

private:
  llvm::FoldingSetNodeID id;
};

/// A copy of `op` in no block; its regions use no values from outside. Properties
/// are copied as they are; going through attributes would convert and check each
/// again.
mlir::Operation *copyOp(mlir::Operation *op, mlir::Location location, mlir::ValueRange operands);

/// One op of each signature that was recorded, so that the next one like it is
/// a copy: its attributes are not checked and its type rule does not run again,
/// which would be most of the time of a recording. What a type rule refuses is
/// never here.
///
/// Holds at most `maximumCount` signatures and then starts anew; a program whose
/// sizes change all the time would fill it for nothing.
class OpPrototypes {
public:
  static constexpr unsigned maximumCount = 1 << 14;

  OpPrototypes();
  ~OpPrototypes();

  /// A new op of the signature that is in no block yet; null if none was made
  /// before.
  mlir::Operation *create(const OpSignature &signature, mlir::Location location, llvm::ArrayRef<mlir::Value> operands);

  /// Makes `op`, which has no regions and was created for `signature`, the one
  /// to copy from now on.
  void add(const OpSignature &signature, mlir::Operation *op);

private:
  struct Prototype;
  std::unique_ptr<llvm::FoldingSet<Prototype>> prototypes;

  void clear();
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_OPPROTOTYPES_H
