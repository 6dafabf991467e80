//===- Entry.h - A finished trace -----------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_ENTRY_H
#define FERRULE_FRONTEND_CORE_ENTRY_H

#include "frontend/core/Variable.h"
#include "ir/dims/DimConstraints.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace ferrule::frontend {

class CompiledProgram;

/// How an entry is called in dynamic mode. Nothing in it is looked up in the
/// entry's graph at a call, whose size a call must not cost.
struct EntryProgram {
  std::shared_ptr<CompiledProgram> program;
  unsigned inputCount = 0, outputCount = 0;
  /// Which of the entry's variables are arguments behind the inputs, and which
  /// are results behind the outputs.
  llvm::SmallVector<unsigned> reads, assigns;
};

/// A variable of an entry, and the symbol that stands for it there. The name in
/// a program is given when entries are merged.
struct EntryVariable {
  VariableRef variable;
  std::string symbol;
};

/// One entry point as it was traced: a module with one function, whose reads
/// and assigns name the module's `ferrule.variable`s (without values).
class Entry {
public:
  Entry(std::string name, mlir::OwningOpRef<mlir::ModuleOp> module, std::vector<EntryVariable> variables,
        DimConstraints constraints);
  ~Entry();

  const std::string &getName() const { return name; }
  mlir::ModuleOp getModule() const { return *module; }
  mlir::func::FuncOp getFunction() const;

  /// The most for the arena of the program that `runEntry` compiles: so many bytes,
  /// or if that is 0 a part of what it takes without a budget.
  void setMemoryBudget(int64_t bytes, double fraction);

  /// In the order of first use.
  llvm::ArrayRef<EntryVariable> getVariables() const { return variables; }

  /// Ranges of the dims and the equalities recorded while tracing.
  const DimConstraints &getConstraints() const { return constraints; }

  /// The module as MLIR text, locations left out.
  std::string getText() const;

  /// What `runEntry` compiled; null before the first run.
  std::unique_ptr<EntryProgram> program;

private:
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<EntryVariable> variables;
  DimConstraints constraints;
};

using EntryRef = std::shared_ptr<Entry>;

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_ENTRY_H
