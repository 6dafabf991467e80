//===- Gradient.cpp - Recording ferrule.gradient --------------------------===//

#include "frontend/core/Gradient.h"

#include "frontend/core/Diagnostics.h"
#include "frontend/core/Error.h"
#include "frontend/core/GradientOperands.h"
#include "frontend/core/GraphOps.h"
#include "frontend/core/RegionRecording.h"
#include "ir/graph/Gradient.h"
#include "passes/autodiff/Differentiability.h"

#include "llvm/ADT/SetVector.h"

namespace ferrule::frontend {

std::optional<GradientOperands> getGradientOperands(mlir::Operation *op) {
  auto gradient = llvm::dyn_cast<mlir::ferrule::GradientOp>(op);
  if (!gradient)
    return std::nullopt;
  return GradientOperands{gradient.getCost(), gradient.getWrt()};
}

namespace {

/// The values that `call` speaks of, checked one by one.
struct GradientValues {
  mlir::Value cost;
  mlir::Value cotangent;
  mlir::SmallVector<mlir::Value> inputs;
};

llvm::Error checkCost(const GradientCall &call) {
  if (!isFloat(call.cost->getType()))
    return makeError(ErrorKind::Gradient, "gradient: the cost is of dtype " + getName(call.cost->getType()) +
                                              "; only a float has a gradient" + describeSite(call.site));
  std::optional<llvm::SmallVector<int64_t, 4>> sizes = getStaticSizes(call.cost->getShape());
  bool isOneElement = sizes && countElements(*sizes) == 1;
  if (!call.cotangent && !isOneElement)
    return makeError(ErrorKind::Gradient, "gradient: the cost has the shape " + toString(call.cost->getShape()) +
                                              "; it must have one element, or a cotangent of its "
                                              "shape must be given" +
                                              describeSite(call.site));
  return llvm::Error::success();
}

/// In dynamic mode a cost that was run outside any gradient scope has left the
/// record, and with it everything that it was computed from.
llvm::Error checkRecorded(const GradientCall &call, mlir::Value cost) {
  bool isInput = llvm::any_of(call.inputs, [&](const TensorRef &input) { return input == call.cost; });
  if (cost.getDefiningOp() || isInput || call.cost->isTraced())
    return llvm::Error::success();
  return makeError(ErrorKind::Gradient, "gradient: the cost made at " + call.cost->getLocation().str() +
                                            " was computed outside a gradient scope, so how it was "
                                            "computed is not known any more; compute it inside "
                                            "`with gm:` (or inside the function given to fer.grad)" +
                                            describeSite(call.site));
}

/// The names that messages give to the inputs.
std::vector<std::string> getInputNames(const GradientCall &call) {
  std::vector<std::string> names(call.inputNames.begin(), call.inputNames.end());
  for (const TensorRef &input : llvm::drop_begin(call.inputs, names.size()))
    names.push_back("the tensor made at " + input->getLocation().str());
  return names;
}

/// "file.py:12", or nothing.
std::string describeLine(mlir::Location location) {
  auto line = location->findInstanceOf<mlir::FileLineColLoc>();
  return line ? (line.getFilename().getValue() + ":" + llvm::Twine(line.getLine())).str() : std::string();
}

llvm::Error checkDifferentiable(mlir::MLIRContext *context, const GradientValues &values, const GradientCall &call) {
  DiagnosticText diagnostics(context);
  if (mlir::succeeded(mlir::ferrule::checkDifferentiable(values.cost, values.inputs, getInputNames(call))))
    return llvm::Error::success();
  std::string text = "gradient: " + diagnostics.text;
  if (std::string line = describeLine(diagnostics.location); !line.empty())
    text += " (" + line + ")";
  return makeError(ErrorKind::Gradient, text + describeSite(call.site));
}

llvm::Expected<GradientValues> resolve(OpStream &stream, const GradientCall &call) {
  GradientValues values;
  llvm::Expected<mlir::Value> cost = stream.getValue(call.cost, call.site);
  if (!cost)
    return cost.takeError();
  values.cost = *cost;
  if (call.cotangent) {
    llvm::Expected<mlir::Value> cotangent = stream.getValue(call.cotangent, call.site);
    if (!cotangent)
      return cotangent.takeError();
    values.cotangent = *cotangent;
  }
  for (const TensorRef &input : call.inputs) {
    llvm::Expected<mlir::Value> value = stream.getValue(input, call.site);
    if (!value)
      return value.takeError();
    values.inputs.push_back(*value);
  }
  return values;
}

/// The values of the blocks around from which `cost` is computed, in the order of first use.
llvm::SetVector<mlir::Value> collectOutside(mlir::Value cost, mlir::Block &block) {
  llvm::SetVector<mlir::Value> outside;
  llvm::DenseSet<mlir::Operation *> seen;
  mlir::SmallVector<mlir::Value> open{cost};
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    if (value.getParentBlock() != &block)
      outside.insert(value);
    else if (mlir::Operation *op = value.getDefiningOp(); op && seen.insert(op).second)
      open.append(op->operand_begin(), op->operand_end());
  }
  return outside;
}

/// Whether one of `values`, or what it is computed from, is `input`.
bool dependsOn(llvm::ArrayRef<mlir::Value> values, mlir::Value input) {
  llvm::DenseSet<mlir::Operation *> seen;
  mlir::SmallVector<mlir::Value> open(values);
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    if (value == input)
      return true;
    if (mlir::Operation *op = value.getDefiningOp(); op && seen.insert(op).second)
      open.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

/// In a branch or loop body a gradient sees what is computed there: what comes
/// from outside counts as given.
llvm::Error checkInRegion(OpStream &stream, const GradientCall &call, GradientValues values) {
  if (!stream.isInRegion())
    return llvm::Error::success();
  RegionRecording &region = stream.getRegion();
  auto refuse = [&](const std::string &what) {
    return makeError(ErrorKind::Gradient, "gradient: " + what + " " + region.name +
                                              "; take the gradient outside, of what it returns" +
                                              describeSite(call.site));
  };
  if (values.cost.getParentBlock() != &region.getBlock())
    return refuse("the cost made at " + call.cost->getLocation().str() + " was computed outside of");
  llvm::SetVector<mlir::Value> outside = collectOutside(values.cost, region.getBlock());
  std::vector<std::string> names = getInputNames(call);
  for (auto [input, name] : llvm::zip_equal(values.inputs, names)) {
    if (input.getParentBlock() == &region.getBlock())
      continue;
    mlir::SmallVector<mlir::Value> others;
    llvm::copy_if(outside, std::back_inserter(others),
                  [&](mlir::Value value) { return !llvm::is_contained(values.inputs, value); });
    if (dependsOn(others, input))
      return refuse("the cost depends on " + name + " by values that were computed outside of");
  }
  return llvm::Error::success();
}

/// Everything but whether there are gradients.
llvm::Expected<GradientValues> check(OpStream &stream, const GradientCall &call) {
  if (llvm::Error error = checkCost(call))
    return error;
  llvm::Expected<GradientValues> values = resolve(stream, call);
  if (!values)
    return values.takeError();
  if (llvm::Error error = checkRecorded(call, values->cost))
    return error;
  if (llvm::Error error = checkInRegion(stream, call, *values))
    return error;
  return values;
}

} // namespace

llvm::Expected<std::vector<GradientProblem>> explainGradient(OpStream &stream, const GradientCall &call) {
  llvm::Expected<GradientValues> values = check(stream, call);
  if (!values)
    return values.takeError();
  std::vector<std::string> names = getInputNames(call);
  std::vector<GradientProblem> problems;
  for (const mlir::ferrule::GradientObstacle &obstacle :
       mlir::ferrule::findGradientObstacles(values->cost, values->inputs))
    problems.push_back({obstacle.op->getName().stripDialect().str(), describeLine(obstacle.op->getLoc()),
                        obstacle.reason, names[obstacle.wrt]});
  return problems;
}

llvm::Expected<llvm::SmallVector<TensorRef, 8>> recordGradient(OpStream &stream, const GradientCall &call) {
  llvm::Expected<GradientValues> values = check(stream, call);
  if (!values)
    return values.takeError();
  if (llvm::Error error = checkDifferentiable(stream.getContext(), *values, call))
    return error;

  mlir::SmallVector<mlir::Value> operands{values->cost, values->cotangent};
  operands.append(values->inputs);
  llvm::Expected<mlir::Operation *> op = createOp(stream, "gradient", operands, {}, call.site);
  if (!op)
    return op.takeError();
  llvm::SmallVector<TensorRef, 8> handles;
  for (mlir::Value result : (*op)->getResults())
    handles.push_back(stream.wrap(result, call.site.location));
  if (llvm::Error error = stream.didRecord())
    return error;
  return handles;
}

} // namespace ferrule::frontend
