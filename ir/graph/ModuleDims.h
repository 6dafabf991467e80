// The dims that a module declares and the equalities that tracing recorded.
#ifndef FERRULE_IR_GRAPH_MODULEDIMS_H_
#define FERRULE_IR_GRAPH_MODULEDIMS_H_

#include "ir/dims/DimConstraints.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::ferrule {

/// Reads the module's attributes `ferrule.dims = {batch = {min = 1, max = 64, multiple_of = 1}}` (a missing max: no
/// bound) and `ferrule.equalities = [#ferrule.dims<[batch, rows]>]` (each a pair of equal expressions). Fails with an
/// error at the module if one of them is malformed.
FailureOr<::ferrule::DimConstraints> getDimConstraints(ModuleOp module);

/// The same for sizing memory: a dim without a max that has `plan_at = N` counts as if N were its max. A run beyond the
/// plan is refused at run time, for want of bytes, not of permission.
FailureOr<::ferrule::DimConstraints> getPlanningConstraints(ModuleOp module);

/// Sets `plan_at` of the dim `name`. Fails with a message in `error` if the module has no such dim, if the dim has a max
/// (its memory is planned for all of its range), or if it does not allow `size`.
LogicalResult setPlanAt(ModuleOp module, StringRef name, int64_t size, std::string &error);

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_MODULEDIMS_H_
