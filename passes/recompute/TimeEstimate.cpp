#include "passes/recompute/TimeEstimate.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Shapes.h"

using namespace mlir;
using namespace mlir::ferrule;

// One core of a present x86-64 server, in round numbers; docs/performance.md has measured ones. Only their proportions
// decide anything.
static constexpr double contractionFlopsPerNanosecond = 90;
static constexpr double otherFlopsPerNanosecond = 8;
static constexpr double bytesPerNanosecond = 8;
static constexpr double nanosecondsPerCall = 1000;

double TimeEstimate::evaluate(const DimExpr &expression) const {
  auto valueOf = [&](const std::string &name) -> std::optional<int64_t> {
    int64_t max = constraints.getRange(name).max;
    return max == ::ferrule::DimRange::unbounded ? 1 : max;
  };
  return double(std::max<int64_t>(0, expression.evaluate(valueOf).value_or(0)));
}

double TimeEstimate::getBytes(Value value) const {
  return evaluate(getByteCount(cast<RankedTensorType>(value.getType())));
}

double TimeEstimate::ofDispatch(DispatchOp dispatch) const {
  double compute = 0, bytes = 0;
  for (Operation &op : dispatch.getBodyBlock()) {
    switch (cast<FerruleOpInterface>(op).getLoweringKind()) {
    case LoweringKind::Contraction:
    case LoweringKind::Convolution:
    case LoweringKind::ConvolutionInputGradient:
    case LoweringKind::ConvolutionWeightGradient:
      compute += evaluate(cast<FerruleOpInterface>(op).getFlops()) / contractionFlopsPerNanosecond;
      break;
    default:
      compute += evaluate(cast<FerruleOpInterface>(op).getFlops()) / otherFlopsPerNanosecond;
    }
  }
  for (Value operand : dispatch.getInputs())
    bytes += getBytes(operand);
  for (Value result : dispatch.getResults())
    bytes += getBytes(result);
  return nanosecondsPerCall + std::max(compute, bytes / bytesPerNanosecond);
}

double TimeEstimate::ofBlock(Block &block) const {
  double sum = 0;
  for (Operation &op : block) {
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      sum += ofDispatch(dispatch);
    else if (isControlFlow(&op))
      sum += ofControlFlow(&op);
  }
  return sum;
}

double TimeEstimate::ofControlFlow(Operation *op) const {
  double longest = 0;
  for (Region &region : op->getRegions())
    longest = std::max(longest, ofBlock(region.front()));
  if (auto scan = dyn_cast<ScanOp>(op))
    longest *= evaluate(scan.getStepCount());
  return nanosecondsPerCall + longest;
}
