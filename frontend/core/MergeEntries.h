//===- MergeEntries.h - One module out of several traces ------------------===//
#ifndef FERRULE_FRONTEND_CORE_MERGEENTRIES_H
#define FERRULE_FRONTEND_CORE_MERGEENTRIES_H

#include "frontend/core/Entry.h"

#include "llvm/Support/Error.h"

namespace ferrule::frontend {

/// Names in a program, in its order.
using NamedEntries = std::vector<std::pair<std::string, EntryRef>>;
using NamedVariables = std::vector<std::pair<std::string, VariableRef>>;

/// What several entries are compiled from.
struct MergedProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The variables' values by their names in the module, which has none itself.
  std::vector<std::pair<std::string, TensorRef>> initialValues;
};

/// A module with every entry and the variables that they use: those of `names`
/// first, in that order, then others by their own names. A variable that stands
/// in `names` several times takes the first name, and the others are aliases.
/// Every variable's value must be concrete.
///
/// Refuses a variable without a name, two variables of one name, and a dim that
/// two entries declare with different ranges.
llvm::Expected<MergedProgram> mergeEntries(const NamedEntries &entries, const NamedVariables &names,
                                           mlir::MLIRContext *context);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_MERGEENTRIES_H
