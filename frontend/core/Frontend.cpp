//===- Frontend.cpp - Everything a host language needs --------------------===//

#include "frontend/core/Frontend.h"

#include "frontend/core/Apply.h"
#include "frontend/core/EntryCall.h"
#include "frontend/core/Error.h"
#include "frontend/core/GraphOps.h"
#include "frontend/core/MarkCheckpoint.h"
#include "ir/graph/FerruleDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"

namespace ferrule::frontend {
namespace {

/// Fragments are small and many: a thread pool would cost more than it gives.
std::unique_ptr<mlir::MLIRContext> makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<mlir::ferrule::FerruleDialect, mlir::func::FuncDialect>();
  return context;
}

} // namespace

Frontend::Frontend(CompileFunction compile)
    : context(makeContext()), cache(std::move(compile)), recorder(context.get(), cache) {}

Frontend::~Frontend() = default;

OpStream &Frontend::getStream() { return trace ? static_cast<OpStream &>(*trace) : recorder; }

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

llvm::Expected<DimExpr> Frontend::declareDim(const std::string &name, DimRange range) {
  DimExpr dim = DimExpr::dim(name);
  if (!dim.isValid())
    return makeError(ErrorKind::Value, "`" + name +
                                           "` cannot name a dim: letters, digits, `_` "
                                           "and `.` are allowed, and it does not begin with a digit");
  if (range.min < 0 || range.max < range.min || range.multipleOf < 1)
    return makeError(ErrorKind::Value, "dim `" + name + "` has min " + llvm::Twine(range.min) + ", max " +
                                           llvm::Twine(range.max) + ", multiple_of " + llvm::Twine(range.multipleOf) +
                                           "; needed are 0 <= min <= max and multiple_of >= 1");
  dims.declare(name, range);
  if (trace)
    trace->declareDim(name, range);
  return dim;
}

const DimConstraints &Frontend::getConstraints() const { return trace ? trace->getConstraints() : dims; }

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

llvm::Error Frontend::markCheckpoint(llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> outputs) {
  if (!trace)
    return llvm::Error::success();
  llvm::SmallVector<mlir::Value> begins, ends;
  for (auto [tensors, values] : {std::make_pair(inputs, &begins), std::make_pair(outputs, &ends)})
    for (const TensorRef &tensor : tensors) {
      llvm::Expected<mlir::Value> value = trace->getValue(tensor, {tensor->getLocation(), {}});
      if (!value)
        return value.takeError();
      values->push_back(*value);
    }
  frontend::markCheckpoint(begins, ends);
  return llvm::Error::success();
}

llvm::Expected<TensorRefs> Frontend::apply(const OpCall &call) { return frontend::apply(getStream(), call); }

llvm::Expected<llvm::SmallVector<TensorRef, 8>> Frontend::gradient(const GradientCall &call) {
  return recordGradient(getStream(), call);
}

llvm::Expected<std::vector<GradientProblem>> Frontend::explainGradient(const GradientCall &call) {
  return frontend::explainGradient(getStream(), call);
}

llvm::Error Frontend::materialize(const TensorRef &tensor, llvm::StringRef request, llvm::StringRef location) {
  if (tensor->isTraced())
    return makeError(ErrorKind::Trace, request + " at " + location + " needs the value of a tensor made at " +
                                           tensor->getLocation().str() + " while tracing" +
                                           (trace              ? " the entry `" + trace->getEntryName() + "`"
                                            : getRegionName() ? " " + *getRegionName()
                                                              : "") +
                                           ": it has one only when the program runs. Repair: F.cond or F.where "
                                           "for a branch, F.while_loop or F.scan for a loop; return the tensor "
                                           "to look at it");
  if (tensor->isPending())
    recorder.flush();
  if (tensor->hasFailed())
    return makeError(tensor->getFailure()->kind, tensor->getFailure()->message);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

std::vector<TensorRef> Frontend::beginRegion(std::string name, llvm::ArrayRef<RegionArgument> arguments,
                                             const SourceLocation &location) {
  return frontend::beginRegion(getStream(), std::move(name), arguments, location);
}

llvm::Expected<std::unique_ptr<RegionRecording>> Frontend::finishRegion(llvm::ArrayRef<TensorRef> yielded,
                                                                        const CallSite &site) {
  return frontend::finishRegion(getStream(), yielded, site);
}

void Frontend::dropRegion() { frontend::dropRegion(getStream()); }

std::optional<std::string> Frontend::getRegionName() {
  OpStream &stream = getStream();
  return stream.isInRegion() ? std::optional(stream.getRegion().name) : std::nullopt;
}

llvm::Expected<std::vector<TensorRef>> Frontend::controlFlow(const ControlFlowCall &call) {
  auto read = [&](const VariableRef &variable) { return readVariable(variable, call.site.location); };
  auto assign = [&](const VariableRef &variable, const TensorRef &value) {
    return assignVariable(variable, value, call.site);
  };
  return recordControlFlow(getStream(), call, {read, assign});
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

llvm::Expected<TensorRef> Frontend::readVariable(const VariableRef &variable, const SourceLocation &location) {
  if (getStream().isInRegion())
    return readInRegion(getStream(), variable, location);
  if (trace)
    return trace->read(variable, location);
  return variable->getValue();
}

llvm::Error Frontend::assignVariable(const VariableRef &variable, const TensorRef &value, const CallSite &site) {
  auto refuse = [&](ErrorKind kind, llvm::StringRef what, std::string given, std::string own) {
    return makeError(kind, variable->describe() + " has the " + what + " " + own + " and is assigned a value of " +
                               what + " " + given + describeSite(site));
  };
  if (value->getType() != variable->getType())
    return refuse(ErrorKind::DType, "dtype", getName(value->getType()).str(), getName(variable->getType()).str());
  if (value->getShape() != variable->getShape())
    return refuse(ErrorKind::Shape, "shape", toString(value->getShape()), toString(variable->getShape()));
  if (getStream().isInRegion())
    return assignInRegion(getStream(), variable, value, site);
  if (trace)
    return trace->assign(variable, value, site);
  if (value->isTraced())
    return makeError(ErrorKind::Trace, variable->describe() + " is assigned a tensor made at " +
                                           value->getLocation().str() + " in a trace that has ended" +
                                           describeSite(site));
  variable->setValue(value);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Traces and programs
//===----------------------------------------------------------------------===//

llvm::Expected<std::shared_ptr<Trace>> Frontend::beginTrace(std::string entryName) {
  if (trace)
    return makeError(ErrorKind::Trace, "the trace of `" + entryName + "` begins inside that of `" +
                                           trace->getEntryName() + "`; traces do not nest");
  trace = std::make_shared<Trace>(context.get(), std::move(entryName), dims,
                                  [this](const TensorRef &tensor) { return materialize(tensor, "a constant", {}); });
  return trace;
}

void Frontend::endTrace(const Trace *ending) {
  if (trace.get() == ending)
    trace.reset();
}

llvm::Expected<std::vector<TensorRef>> Frontend::callEntry(Entry &entry, llvm::ArrayRef<TensorRef> inputs,
                                                           const SourceLocation &location) {
  for (const TensorRef &input : inputs)
    if (llvm::Error error = materialize(input, "a call of a traced function", location.str()))
      return error;
  for (const EntryVariable &use : entry.getVariables())
    if (llvm::Error error = materialize(use.variable->getValue(), "a variable", {}))
      return error;
  return runEntry(entry, inputs, cache, location);
}

llvm::Expected<MergedProgram> Frontend::buildProgram(const NamedEntries &entries, const NamedVariables &variables) {
  for (const auto &[name, entry] : entries)
    for (const EntryVariable &use : entry->getVariables())
      if (llvm::Error error = materialize(use.variable->getValue(), "a variable", {}))
        return error;
  return mergeEntries(entries, variables, context.get());
}

} // namespace ferrule::frontend
