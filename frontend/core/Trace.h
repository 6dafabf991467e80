//===- Trace.h - Recording an entry point ---------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_TRACE_H
#define FERRULE_FRONTEND_CORE_TRACE_H

#include "frontend/core/Entry.h"
#include "frontend/core/OpStream.h"

#include "llvm/ADT/MapVector.h"

#include <functional>

namespace ferrule::frontend {

/// A stream whose ops become the body of one entry. Values have no elements
/// here; a concrete tensor of the surrounding program becomes a constant.
class Trace : public OpStream {
public:
  /// `dims` are the ranges declared so far. `materialize` gives a pending tensor
  /// of dynamic mode its elements.
  Trace(mlir::MLIRContext *context, std::string entryName, DimConstraints dims,
        std::function<llvm::Error(const TensorRef &)> materialize);

  const std::string &getEntryName() const { return entryName; }

  /// Appends an input called `name` ("image", "batch.label"). Its dims may be
  /// expressions; each dim must stand alone in some input, where it is bound.
  llvm::Expected<TensorRef> addInput(llvm::StringRef name, DataType type, Shape shape, const SourceLocation &location);

  /// The value of `variable` here: that of the program at entry, or what was
  /// last assigned.
  llvm::Expected<TensorRef> read(const VariableRef &variable, const SourceLocation &location);

  /// Rebinds `variable`; the entry assigns its last value when it ends. Shape
  /// and dtype must be those of the variable.
  llvm::Error assign(const VariableRef &variable, const TensorRef &value, const CallSite &site);

  /// In the order of first use.
  std::vector<VariableRef> getVariables() const;

  /// Ends the trace. `outputs` are named "out.0" or by their path; `signature`
  /// is JSON that goes into the artifact unread.
  llvm::Expected<EntryRef> finish(llvm::ArrayRef<std::pair<std::string, TensorRef>> outputs, llvm::StringRef signature);

  bool isFinished() const { return !module; }

  /// A dim declared while the trace is open.
  void declareDim(const std::string &name, const DimRange &range) { constraints.declare(name, range); }

  llvm::Expected<mlir::Value> getValue(const TensorRef &tensor, const CallSite &site) override;
  TensorRef wrap(mlir::Value value, const SourceLocation &location) override;
  const DimConstraints &getConstraints() const override { return constraints; }
  void recordEquality(const DimExpr &lhs, const DimExpr &rhs, const SourceLocation &location) override;

private:
  struct VariableState {
    VariableRef variable;
    std::string symbol;
    TensorRef initial; ///< What was read; null if never read.
    TensorRef current; ///< Never null.
    SourceLocation assignedAt;
  };

  llvm::Expected<TensorRef> createRead(const VariableRef &variable, llvm::StringRef symbol,
                                       const SourceLocation &location);
  std::string chooseSymbol(const Variable &variable) const;
  llvm::Error createAssigns();
  void declareVariables();

  std::string entryName;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function; ///< Gets its type and names when finished.
  std::vector<std::string> inputNames;
  llvm::MapVector<Variable *, VariableState> variables;
  /// Constants by the handle they came from, which is kept alive.
  llvm::DenseMap<Tensor *, std::pair<TensorRef, mlir::Value>> constants;
  DimConstraints constraints;
  std::function<llvm::Error(const TensorRef &)> materialize;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_TRACE_H
