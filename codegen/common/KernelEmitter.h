//===- KernelEmitter.h - One dispatch to one kernel -----------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_COMMON_KERNELEMITTER_H
#define FERRULE_CODEGEN_COMMON_KERNELEMITTER_H

#include "ir/graph/Dispatch.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::ferrule {

/// What a caller must know about a generated kernel.
struct KernelSpec {
  std::string name;
  /// Operands are the dispatch's results, then its inputs.
  unsigned outputCount = 0, operandCount = 0;
  /// Values that the caller passes in `dims`, in order.
  SmallVector<DimExpr> dims;
  /// The kernel computes tiles [0, tiles); any split over threads gives the same bits.
  DimExpr tiles = 1;
  /// Per thread.
  DimExpr scratchBytes = 0;
  /// How many tiles there are to choose from, and the one taken; see TileChoice.h.
  unsigned candidates = 1, chosen = 0;
  /// Not empty: there is no code, whoever runs the program registers a function under this name. Its operands are the
  /// results and the op's operands, its dims what runtime/api/external_tensor.h reads.
  std::string symbol;
};

/// Emits `int32 name(const FerruleKernelArgs *)` into `kernels`, a module of LLVM dialect functions: a call of a
/// skeleton of the kernel families, and the callbacks through which it loads and stores. Fails with an error at the op
/// that has no kernel. `choice` names a candidate in place of the cost model; no result depends on it.
FailureOr<KernelSpec> emitKernel(ModuleOp kernels, DispatchOp dispatch, StringRef name,
                                 std::optional<unsigned> choice = std::nullopt);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_COMMON_KERNELEMITTER_H
