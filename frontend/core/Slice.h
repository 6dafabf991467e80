//===- Slice.h - The part of a record that a flush runs -------------------===//
#ifndef FERRULE_FRONTEND_CORE_SLICE_H
#define FERRULE_FRONTEND_CORE_SLICE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace ferrule::frontend {

/// A module with one entry, "main", and how it hangs together with the record
/// that it was cut out of.
struct Slice {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// For each argument of the entry, the value of the record whose elements it
  /// takes.
  mlir::SmallVector<mlir::Value> inputs;
};

/// Copies what computes `outputs` out of `record` into a fresh module. A value
/// for which `isConcrete` holds becomes an argument, and what computed it is
/// not copied.
///
/// The exception are the ops between the inputs and the cost of a
/// `ferrule.gradient` that is copied: autodiff needs to see them. Such an op is
/// copied even if its results are concrete, and carries `ferrule.materialized`
/// (an i64 array, one a result: the number of the argument that holds its
/// elements, or -1), by which the pass after autodiff lets the backward ops read
/// the argument, so that nothing of the forward runs again.
Slice cutSlice(mlir::Block &record, mlir::ValueRange outputs, llvm::function_ref<bool(mlir::Value)> isConcrete);

/// The attribute's name, which cutSlice and that pass share.
inline constexpr llvm::StringLiteral materializedAttributeName = "ferrule.materialized";

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_SLICE_H
