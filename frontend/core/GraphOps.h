//===- GraphOps.h - Making ops of the graph dialect -----------------------===//
#ifndef FERRULE_FRONTEND_CORE_GRAPHOPS_H
#define FERRULE_FRONTEND_CORE_GRAPHOPS_H

#include "frontend/core/GraphTypes.h"
#include "frontend/core/OpStream.h"

namespace ferrule::frontend {

/// The registered name of `ferrule.<name>`, if there is such an op.
std::optional<mlir::RegisteredOperationName> findOp(llvm::StringRef name, mlir::MLIRContext *context);

/// Makes `ferrule.<name>` at the end of `stream` with inferred result types; a
/// null operand stands for an absent optional one. A refusal of the op's type
/// rule becomes a ShapeError or DtypeError that names the op, its operands, the
/// user's line and the module path.
llvm::Expected<mlir::Operation *> createOp(OpStream &stream, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                           llvm::ArrayRef<mlir::NamedAttribute> attributes, const CallSite &site);

/// A constant of `stream`.
llvm::Expected<mlir::Value> createConstant(OpStream &stream, mlir::DenseElementsAttr value, const CallSite &site);

/// `value` in element type `type`; itself if it has that type.
llvm::Expected<mlir::Value> createCast(OpStream &stream, mlir::Value value, DataType type, const CallSite &site);

/// `value` broadcast to `shape` by NumPy's rule; itself if it has that shape.
llvm::Expected<mlir::Value> createBroadcast(OpStream &stream, mlir::Value value, llvm::ArrayRef<DimExpr> shape,
                                            const CallSite &site);

/// ", at net.py:12, in module net.conv1": how every message of a call ends.
std::string describeSite(const CallSite &site);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_GRAPHOPS_H
