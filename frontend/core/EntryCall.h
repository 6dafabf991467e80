//===- EntryCall.h - Calling a traced function in dynamic mode ------------===//
#ifndef FERRULE_FRONTEND_CORE_ENTRYCALL_H
#define FERRULE_FRONTEND_CORE_ENTRYCALL_H

#include "frontend/core/Entry.h"
#include "frontend/core/ProgramCache.h"

namespace ferrule::frontend {

/// Runs `entry` on concrete `inputs`, with the current values of its variables,
/// which must be concrete too; what it assigns becomes their value. Compiled on
/// the first call, through `cache`. Returns the outputs, concrete.
llvm::Expected<std::vector<TensorRef>> runEntry(Entry &entry, llvm::ArrayRef<TensorRef> inputs, ProgramCache &cache,
                                                const SourceLocation &location);

/// A copy of the entry's module as a function without state, called "main":
/// variables that it reads become arguments behind its own, in the order of
/// `entry.getVariables()`, and the values that it assigns become results behind
/// its own, in the same order. Dynamic mode owns the variables, so its programs
/// hold none.
mlir::OwningOpRef<mlir::ModuleOp> makeStateless(const Entry &entry);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_ENTRYCALL_H
