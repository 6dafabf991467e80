#include "passes/recompute/TimeEstimate.h"

#include "ir/graph/Attention.h"
#include "ir/graph/ControlFlow.h"
#include "ir/graph/Shapes.h"

using namespace mlir;
using namespace mlir::ferrule;

// One core of a present x86-64 server with AVX-512 whose other cores do the same, in round numbers: what `ferrule
// profile` shows of a step of ResNet-50 on two cores. Only their proportions decide anything.
static constexpr double productFlopsPerNanosecond = 110;
static constexpr double onePassFlopsPerNanosecond = 30;
static constexpr double otherFlopsPerNanosecond = 11;
static constexpr double bytesPerNanosecond = 20;
static constexpr double nanosecondsPerCall = 1000;

static double getFlopsPerNanosecond(Operation *op) {
  switch (cast<FerruleOpInterface>(op).getLoweringKind()) {
  case LoweringKind::Contraction:
  case LoweringKind::Convolution:
  case LoweringKind::ConvolutionInputGradient:
  case LoweringKind::ConvolutionWeightGradient:
    return productFlopsPerNanosecond;
  case LoweringKind::Elementwise:
  case LoweringKind::Shape:
  case LoweringKind::Constant:
    return onePassFlopsPerNanosecond;
  default:
    return isa<AttentionOp, AttentionGradientOp>(op) ? productFlopsPerNanosecond : otherFlopsPerNanosecond;
  }
}

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

// The sum of both is nearer to what is measured than the larger of them: of a product that lies behind others in
// memory, as of a pass that does little but wait for memory.
double TimeEstimate::ofDispatch(DispatchOp dispatch) const {
  double nanoseconds = nanosecondsPerCall, bytes = 0;
  for (Operation &op : dispatch.getBodyBlock())
    nanoseconds += evaluate(cast<FerruleOpInterface>(op).getFlops()) / getFlopsPerNanosecond(&op);
  for (Value operand : dispatch.getInputs())
    bytes += getBytes(operand);
  for (Value result : dispatch.getResults())
    bytes += getBytes(result);
  return nanoseconds + bytes / bytesPerNanosecond;
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
