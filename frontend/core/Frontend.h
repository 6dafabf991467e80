//===- Frontend.h - Everything a host language needs ----------------------===//
//
// Owns the context, the lazy recorder and the open trace, and sends each call to
// the right one. The Python binding is a translation of this class; a C++
// program can use it directly. One thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_FRONTEND_H
#define FERRULE_FRONTEND_CORE_FRONTEND_H

#include "frontend/core/DimComparison.h"
#include "frontend/core/Gradient.h"
#include "frontend/core/LazyRecorder.h"
#include "frontend/core/MergeEntries.h"
#include "frontend/core/OpCall.h"
#include "frontend/core/RegionRecording.h"
#include "frontend/core/Trace.h"

namespace ferrule::frontend {

using TensorRefs = llvm::SmallVector<TensorRef, 2>;

class Frontend {
public:
  /// `compile` makes the artifacts of dynamic mode.
  explicit Frontend(CompileFunction compile);
  ~Frontend();

  mlir::MLIRContext *getContext() { return context.get(); }
  LazyRecorder &getRecorder() { return recorder; }
  ProgramCache &getCache() { return cache; }

  //===--- Dims -----------------------------------------------------------===//

  /// Declares a dim, or gives it another range from here on. min >= 0,
  /// max >= min, multipleOf >= 1.
  llvm::Expected<DimExpr> declareDim(const std::string &name, DimRange range);

  /// What is known of dims at this moment: in a trace with its equalities.
  const DimConstraints &getConstraints() const;

  //===--- Ops ------------------------------------------------------------===//

  llvm::Expected<TensorRefs> apply(const OpCall &call);
  llvm::Expected<llvm::SmallVector<TensorRef, 8>> gradient(const GradientCall &call);
  llvm::Expected<std::vector<GradientProblem>> explainGradient(const GradientCall &call);

  /// What lies on the ways from `inputs` to `outputs` is not kept for gradients but
  /// computed again (MarkCheckpoint.h). Dynamic mode, which runs what it has
  /// recorded at any time, pays no heed.
  llvm::Error markCheckpoint(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs);

  /// Makes `tensor` concrete by a flush. A TraceError for a traced tensor that
  /// names the user's line and what to write instead; `request` is the call that
  /// needs the value, "numpy()" or "bool()".
  llvm::Error materialize(const TensorRef &tensor, llvm::StringRef request, llvm::StringRef location);

  //===--- Branches and loops ----------------------------------------------===//

  std::vector<TensorRef> beginRegion(std::string name, llvm::ArrayRef<RegionArgument> arguments,
                                     const SourceLocation &location);
  llvm::Expected<std::unique_ptr<RegionRecording>> finishRegion(llvm::ArrayRef<TensorRef> yielded,
                                                                const CallSite &site);
  void dropRegion();
  /// Where the recorder stands, if that is a region: "the body of F.scan".
  std::optional<std::string> getRegionName();
  llvm::Expected<std::vector<TensorRef>> controlFlow(const ControlFlowCall &call);

  //===--- Variables ------------------------------------------------------===//

  llvm::Expected<TensorRef> readVariable(const VariableRef &variable, const SourceLocation &location);
  llvm::Error assignVariable(const VariableRef &variable, const TensorRef &value, const CallSite &site);

  //===--- Traces and programs ----------------------------------------------//

  llvm::Expected<std::shared_ptr<Trace>> beginTrace(std::string entryName);
  /// Ends the recording into `trace`, finished or not.
  void endTrace(const Trace *trace);
  Trace *getTrace() const { return trace.get(); }

  /// Runs an entry in dynamic mode; see EntryCall.h.
  llvm::Expected<std::vector<TensorRef>> callEntry(Entry &entry, llvm::ArrayRef<TensorRef> inputs,
                                                   const SourceLocation &location);

  /// One module of all `entries`, with the current values of their variables.
  llvm::Expected<MergedProgram> buildProgram(const NamedEntries &entries, const NamedVariables &variables);

private:
  OpStream &getStream();

  std::unique_ptr<mlir::MLIRContext> context;
  ProgramCache cache;
  LazyRecorder recorder;
  DimConstraints dims;
  std::shared_ptr<Trace> trace;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_FRONTEND_H
