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

} // namespace mlir::ferrule

#endif // FERRULE_IR_GRAPH_MODULEDIMS_H_
