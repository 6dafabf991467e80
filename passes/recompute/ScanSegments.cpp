#include "passes/recompute/ScanSegments.h"

#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Nonzero.h"
#include "ir/graph/Shape.h"
#include "passes/recompute/Marks.h"
#include "passes/recompute/RowBlocks.h"
#include "passes/recompute/TimeEstimate.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <array>

using namespace mlir;
using namespace mlir::ferrule;

static RankedTensorType getTensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===------------------------------------------------------------------------------------------------------------===//
// Finding
//===------------------------------------------------------------------------------------------------------------===//

/// Whether a scan takes slices of the value.
static bool isSliced(OpOperand &use) {
  auto scan = dyn_cast<ScanOp>(use.getOwner());
  return scan && use.getOperandNumber() >= scan.getInits().size() && use.getOperandNumber() < getFirstCapture(scan);
}

/// The scan that reads the stacked value, and does nothing but take its slices; null if others read it too.
static ScanOp findOnlyScan(Value stacked, ScanOp forward) {
  ScanOp reader;
  for (OpOperand &use : stacked.getUses()) {
    if (!isSliced(use) || (reader && reader != use.getOwner()) || use.getOwner()->getBlock() != forward->getBlock())
      return {};
    reader = cast<ScanOp>(use.getOwner());
  }
  return reader;
}

/// The reader of most residual bytes, with its residuals.
static SegmentableScan findReader(ScanOp scan, const TimeEstimate &estimate) {
  llvm::MapVector<Operation *, SmallVector<unsigned>> readers;
  for (OpResult result : scan->getResults().drop_front(scan.getInits().size()))
    if (ScanOp reader = findOnlyScan(result, scan))
      readers[reader].push_back(result.getResultNumber());
  SegmentableScan best;
  double most = 0;
  for (auto &[reader, residuals] : readers) {
    double bytes = 0;
    for (unsigned residual : residuals)
      bytes += estimate.getBytes(scan.getResult(residual));
    if (bytes > most) {
      most = bytes;
      best = {scan, cast<ScanOp>(reader), residuals, 0, {}, 0};
    }
  }
  return best;
}

static bool countsDim(Operation *op) {
  return op
      ->walk(
          [](DispatchOp dispatch) { return getCountedDim(dispatch) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Sets the length with which fewest bytes are live, or leaves 0 if none saves anything. Steps besides whole segments
/// cost copies of what the scans stack, so a divisor is taken unless it needs much more.
static void chooseLength(SegmentableScan &scan, const TimeEstimate &estimate) {
  std::optional<int64_t> steps = scan.forward.getStepCount().getConstant();
  if (!steps)
    return;
  double residualBytes = 0, carryBytes = 0, copiedBytes = 0;
  for (unsigned residual : scan.residuals)
    residualBytes += estimate.getBytes(scan.forward.getResult(residual));
  for (Value init : scan.forward.getInits())
    carryBytes += estimate.getBytes(init);
  for (Value stacked : scan.backward.getResults().drop_front(scan.backward.getInits().size()))
    copiedBytes += estimate.getBytes(stacked);
  double least = residualBytes;
  for (int64_t length = 2; length <= *steps / 2; ++length) {
    bool isDivisor = *steps % length == 0;
    double bytes = carryBytes * double(*steps / length) + residualBytes * double(length) / double(*steps);
    // The steps behind the last whole segment keep what they make, too.
    if (!isDivisor)
      bytes += copiedBytes + residualBytes * double(*steps % length) / double(*steps);
    if (bytes >= least)
      continue;
    least = bytes;
    scan.segmentSteps = length;
    scan.savedBytes = uint64_t(residualBytes - bytes);
  }
}

std::optional<SegmentableScan> mlir::ferrule::findSegmentableScan(func::FuncOp entry,
                                                                  const ::ferrule::DimConstraints &constraints,
                                                                  uint64_t leastBytes, bool onlyMarked) {
  TimeEstimate estimate(constraints);
  std::optional<SegmentableScan> best;
  entry.walk([&](ScanOp scan) {
    if ((onlyMarked && !isInCheckpoint(scan.getLoc())) || scan->hasAttr(segmentAttributeName))
      return;
    SegmentableScan found = findReader(scan, estimate);
    if (!found.backward || found.backward.getStepCount() != scan.getStepCount() || countsDim(scan))
      return;
    chooseLength(found, estimate);
    if (found.segmentSteps != 0 && found.savedBytes >= std::max<uint64_t>(leastBytes, best ? best->savedBytes + 1 : 1))
      best = found;
  });
  return best;
}

SmallVector<unsigned> mlir::ferrule::findMadeInputs(const SegmentableScan &scan,
                                                    const ::ferrule::DimConstraints &constraints) {
  TimeEstimate estimate(constraints);
  SmallVector<unsigned> made;
  ScanOp forward = scan.forward, backward = scan.backward;
  std::optional<int64_t> steps = forward.getStepCount().getConstant();
  for (auto [number, x] : llvm::enumerate(forward.getXs())) {
    DispatchOp maker = steps ? findRowMaker(x, *steps) : DispatchOp();
    bool isReadByBoth = llvm::all_of(x.getUses(), [&](OpOperand &use) {
      return isSliced(use) && (use.getOwner() == forward || use.getOwner() == backward);
    });
    if (!maker || maker->getBlock() != forward->getBlock() || !isReadByBoth)
      continue;
    double bytes = 0;
    for (auto [input, isRow] : llvm::zip(maker.getInputs(), *findRowInputs(maker)))
      bytes += isRow ? estimate.getBytes(input) : 0;
    if (2 * bytes <= estimate.getBytes(x))
      made.push_back(number);
  }
  return made;
}

//===------------------------------------------------------------------------------------------------------------===//
// Cutting
//===------------------------------------------------------------------------------------------------------------===//

namespace {

/// What one of the two scans becomes: a scan over whole segments, and one over the steps behind them if there are any.
struct Cut {
  /// Of the original's results: their replacements, or null for residuals.
  SmallVector<Value> results;
  /// Of the forward scan: the carries with which the segments begin, stacked, and the residuals of the steps behind
  /// them.
  SmallVector<Value> begins;
  DenseMap<Value, Value> residualsOfRest;
};

/// In the body of a scan over segments: what stands for an operand.
struct BodyArguments {
  DenseMap<Value, Value> slices, captures;
};

/// What makes a stacked value of the forward scan, and its inputs: those that are read by rows as stacked values of as
/// many steps, the others as they are.
struct MadeInput {
  DispatchOp maker;
  SmallVector<bool> isStacked;
  SmallVector<Value> inputs;
};

/// Cuts one pair of scans. Steps are counted along the stacked axis, whichever way the scans run.
class SegmentCutter {
public:
  explicit SegmentCutter(const SegmentableScan &found)
      : found(found), forward(found.forward), backward(found.backward), builder(found.forward),
        steps(*forward.getStepCount().getConstant()), segmentSteps(found.segmentSteps),
        segmentCount(steps / segmentSteps), wholeSteps(segmentCount * segmentSteps) {}

  void run() {
    for (unsigned number : found.madeInputs)
      describeMadeInput(forward.getXs()[number]);
    Cut first = cut(
        forward, [&](SmallVector<Value> inits, Cut &parts) { return cutForward(inits, parts); },
        [&](SmallVector<Value> inits, Cut &parts) { return createRest(forward, inits, parts); });
    builder.setInsertionPoint(backward);
    Cut second = cut(
        backward, [&](SmallVector<Value> inits, Cut &) { return cutBackward(inits, first); },
        [&](SmallVector<Value> inits, Cut &) { return createRest(backward, inits, first); });
    replace(backward, second);
    replace(forward, first);
    for (auto &[x, input] : madeInputs)
      eraseUnread(x);
  }

private:
  /// Results of one part: the carries, then what it stacks, one for each stacked result of the original (null:
  /// residual).
  using CreatePart = llvm::function_ref<SmallVector<Value>(SmallVector<Value> inits, Cut &parts)>;

  bool isResidual(Value value) const {
    return value.getDefiningOp() == forward &&
           llvm::is_contained(found.residuals, cast<OpResult>(value).getResultNumber());
  }
  void describeMadeInput(Value x) {
    MadeInput &made = madeInputs[x];
    made.maker = findRowMaker(x, steps);
    made.isStacked = *findRowInputs(made.maker);
    for (auto [input, isStacked] : llvm::zip(made.maker.getInputs(), made.isStacked)) {
      Dims dims = getDims(input);
      GraphBuilder b(builder, input.getLoc());
      Dims stacked{DimExpr(steps), DimExpr::floorDiv(dims.front(), DimExpr(steps))};
      llvm::append_range(stacked, ArrayRef(dims).drop_front());
      made.inputs.push_back(isStacked ? b.reshape(input, stacked) : Value(input));
    }
  }

  /// The stacked value of `count` steps, made of inputs of as many steps.
  Value createInput(Value x, ValueRange inputs, int64_t count, bool isSecondRun = false) {
    MadeInput &made = madeInputs.find(x)->second;
    GraphBuilder b(builder, made.maker.getLoc());
    DimExpr rows = DimExpr::floorDiv(getDims(made.maker.getResult(0)).front(), DimExpr(steps)) * DimExpr(count);
    SmallVector<Value> operands;
    for (auto [input, isStacked] : llvm::zip(inputs, made.isStacked)) {
      Dims dims{rows};
      llvm::append_range(dims, ArrayRef(getDims(input)).drop_front(isStacked ? 2 : 1));
      operands.push_back(isStacked ? b.reshape(input, dims) : input);
    }
    DispatchOp block = createRowBlock(builder, made.maker, operands, rows);
    if (isSecondRun)
      block->setAttr(recomputedAttributeName, builder.getUnitAttr());
    return b.reshape(block.getResult(0), getDims(getStackedType(DimExpr(count), getSliceType(getTensorType(x)))));
  }

  static void eraseUnread(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !value.use_empty())
      return;
    Value x = isa<ReshapeOp>(op) ? op->getOperand(0) : Value();
    op->erase();
    if (x)
      eraseUnread(x);
  }

  bool hasRest() const { return wholeSteps != steps; }
  DimsAttr getLength(int64_t count) { return DimsAttr::get(builder.getContext(), {DimExpr(count)}); }
  /// Of one segment of a stacked value, and of all segments, stacked.
  RankedTensorType getSegmentType(Value stacked) const {
    return getStackedType(DimExpr(segmentSteps), getSliceType(getTensorType(stacked)));
  }
  RankedTensorType getCutType(Value stacked) const {
    return getStackedType(DimExpr(segmentCount), getSegmentType(stacked));
  }

  /// Both parts in the order in which the scan runs over them: a reverse one takes the steps behind the segments first.
  Cut cut(ScanOp scan, CreatePart createSegments, CreatePart createRestOfSteps) {
    Cut parts;
    unsigned carryCount = scan.getInits().size();
    SmallVector<Value> carries(scan.getInits()), whole, rest;
    auto advance = [&](SmallVector<Value> &results, CreatePart create) {
      results = create(carries, parts);
      carries.assign(results.begin(), results.begin() + carryCount);
    };
    if (hasRest() && scan.getReverse())
      advance(rest, createRestOfSteps);
    advance(whole, createSegments);
    if (hasRest() && !scan.getReverse())
      advance(rest, createRestOfSteps);
    parts.results = carries;
    for (unsigned index = carryCount; index < scan.getNumResults(); ++index) {
      Value original = scan.getResult(index);
      parts.results.push_back(isResidual(original) ? Value()
                                                   : join(original, whole[index], hasRest() ? rest[index] : Value()));
    }
    return parts;
  }

  void replace(ScanOp scan, const Cut &parts) {
    for (auto [old, result] : llvm::zip(scan.getResults(), parts.results))
      if (result)
        old.replaceAllUsesWith(result);
    scan.erase();
  }

  //===--- Pieces of stacked values ------------------------------------------------------------------------------===//

  /// The steps of a stacked value in whole segments, or those behind them. Made once for both scans.
  Value take(Value stacked, bool isRest) {
    if (!hasRest())
      return stacked;
    Value &taken = pieces[isRest][stacked];
    if (taken)
      return taken;
    Dims starts(getDims(stacked).size(), DimExpr(0)), stops = getDims(stacked);
    (isRest ? starts : stops).front() = DimExpr(wholeSteps);
    GraphBuilder b(builder, stacked.getLoc());
    return taken = b.slice(stacked, starts, stops, SmallVector<int64_t>(starts.size(), 1));
  }

  /// The whole of a stacked result: `segments` is one slice a segment, `rest` null or the steps behind them.
  Value join(Value original, Value segments, Value rest) {
    GraphBuilder b(builder, original.getLoc());
    RankedTensorType type = getTensorType(original);
    Value whole = b.reshape(segments, getDims(getStackedType(DimExpr(wholeSteps), getSliceType(type))));
    if (!rest)
      return whole;
    Location location = withoutCheckpoint(original.getLoc());
    auto copy = DispatchOp::create(builder, location, TypeRange(type), ValueRange{whole, rest});
    OpBuilder::InsertionGuard guard(builder);
    Block *body = builder.createBlock(&copy.getBody());
    body->addArguments(copy.getOperandTypes(), {location, location});
    YieldOp::create(builder, location, GraphBuilder(builder, location).concat(body->getArguments(), 0));
    return copy.getResult(0);
  }

  //===--- Scans -------------------------------------------------------------------------------------------------===//

  /// `original` over so many steps, with `xs` and `captures` for its own. Of the stacked results those that are wanted
  /// are left; the others are null in what comes back.
  SmallVector<Value> createSteps(ScanOp original, int64_t count, ValueRange inits, ValueRange xs, ValueRange captures,
                                 llvm::function_ref<bool(Value)> isWanted, bool isSecondRun = false) {
    unsigned carryCount = original.getInits().size();
    SmallVector<Type> types(original.getInits().getTypes());
    for (Value result : original.getResults().drop_front(carryCount))
      if (isWanted(result))
        types.push_back(getStackedType(DimExpr(count), getSliceType(getTensorType(result))));
    ScanOp created =
        ScanOp::create(builder, original.getLoc(), types, inits, xs, captures, getLength(count), original.getReverse());
    created->setAttr(segmentAttributeName, builder.getUnitAttr());
    if (isSecondRun)
      created->setAttr(recomputedAttributeName, builder.getUnitAttr());
    IRMapping mapping;
    original.getBody().cloneInto(&created.getBody(), mapping);
    auto yield = cast<YieldOp>(created.getBody().front().getTerminator());
    SmallVector<Value> yielded, results(created.getResults().take_front(carryCount));
    unsigned next = carryCount;
    for (auto [result, value] : llvm::zip(original.getResults(), yield.getValues())) {
      bool isCarry = result.getResultNumber() < carryCount;
      if (isCarry || isWanted(result))
        yielded.push_back(value);
      if (!isCarry)
        results.push_back(isWanted(result) ? Value(created.getResult(next++)) : Value());
    }
    yield.getValuesMutable().assign(yielded);
    return results;
  }

  /// The steps of a stacked value behind the segments.
  Value takeRest(Value x, bool isSecondRun) {
    auto made = madeInputs.find(x);
    if (made == madeInputs.end())
      return take(x, /*isRest=*/true);
    SmallVector<Value> inputs;
    for (auto [input, isStacked] : llvm::zip(made->second.inputs, made->second.isStacked))
      inputs.push_back(isStacked ? take(input, /*isRest=*/true) : input);
    return createInput(x, inputs, steps - wholeSteps, isSecondRun);
  }

  /// The steps behind the segments, which keep all they make.
  SmallVector<Value> createRest(ScanOp scan, ValueRange inits, Cut &ofForward) {
    SmallVector<Value> xs;
    for (Value x : scan.getXs())
      xs.push_back(isResidual(x) ? ofForward.residualsOfRest.lookup(x)
                                  : takeRest(x, /*isSecondRun=*/scan == backward));
    SmallVector<Value> results =
        createSteps(scan, steps - wholeSteps, inits, xs, scan.getCaptures(), [](Value) { return true; });
    if (scan == forward)
      for (unsigned residual : found.residuals)
        ofForward.residualsOfRest[forward.getResult(residual)] = results[residual];
    return results;
  }

  /// A scan over the segments, of which a body with its arguments stands so far. In the body `arguments` tells what
  /// stands for an operand; the slices of `begins` come last among the slices.
  ScanOp createOuter(ScanOp original, ArrayRef<ScanOp> inner, ValueRange inits, ValueRange begins, TypeRange types,
                     BodyArguments &arguments) {
    llvm::SetVector<Value> stacked, captures;
    for (ScanOp scan : inner) {
      for (Value x : scan.getXs()) {
        if (auto made = madeInputs.find(x); made != madeInputs.end())
          for (auto [input, isStacked] : llvm::zip(made->second.inputs, made->second.isStacked))
            (isStacked ? stacked : captures).insert(input);
        else if (!isResidual(x))
          stacked.insert(x);
      }
      captures.insert(scan.getCaptures().begin(), scan.getCaptures().end());
    }
    GraphBuilder b(builder, original.getLoc());
    SmallVector<Value> xs;
    for (Value x : stacked)
      xs.push_back(b.reshape(take(x, /*isRest=*/false), getDims(getCutType(x))));
    llvm::append_range(xs, begins);
    ScanOp outer = ScanOp::create(builder, original.getLoc(), types, inits, xs, captures.getArrayRef(),
                                  getLength(segmentCount), original.getReverse());
    outer->setAttr(segmentAttributeName, builder.getUnitAttr());
    Block &body = outer.getBody().emplaceBlock();
    for (Value init : inits)
      body.addArgument(init.getType(), original.getLoc());
    for (Value x : xs)
      body.addArgument(getSliceType(getTensorType(x)), original.getLoc());
    for (Value capture : captures)
      body.addArgument(capture.getType(), original.getLoc());
    for (auto [index, x] : llvm::enumerate(stacked))
      arguments.slices[x] = body.getArgument(inits.size() + index);
    for (auto [index, capture] : llvm::enumerate(captures))
      arguments.captures[capture] = body.getArgument(inits.size() + xs.size() + index);
    return outer;
  }

  /// In the body of a scan over segments: the slices of the forward scan's operands, those that a segment makes made.
  SmallVector<Value> getForwardSlices(const BodyArguments &arguments, bool isSecondRun) {
    SmallVector<Value> slices;
    for (Value x : forward.getXs()) {
      auto made = madeInputs.find(x);
      if (made == madeInputs.end()) {
        slices.push_back(arguments.slices.lookup(x));
        continue;
      }
      SmallVector<Value> inputs;
      for (auto [input, isStacked] : llvm::zip(made->second.inputs, made->second.isStacked))
        inputs.push_back((isStacked ? arguments.slices : arguments.captures).lookup(input));
      slices.push_back(createInput(x, inputs, segmentSteps, isSecondRun));
    }
    return slices;
  }

  static SmallVector<Value> lookupAll(ValueRange values, const DenseMap<Value, Value> &arguments) {
    return llvm::map_to_vector(values, [&](Value value) { return arguments.lookup(value); });
  }

  SmallVector<Value> cutForward(ValueRange inits, Cut &parts) {
    unsigned carryCount = inits.size();
    auto isKept = [&](Value result) { return !isResidual(result); };
    SmallVector<Type> types(inits.getTypes());
    for (Value result : forward.getResults().drop_front(carryCount))
      if (isKept(result))
        types.push_back(getCutType(result));
    for (Value init : inits)
      types.push_back(getStackedType(DimExpr(segmentCount), getTensorType(init)));
    BodyArguments arguments;
    ScanOp outer = createOuter(forward, forward, inits, {}, types, arguments);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&outer.getBody().front());
    ValueRange begin = outer.getBody().getArguments().take_front(carryCount);
    SmallVector<Value> inner =
        createSteps(forward, segmentSteps, begin, getForwardSlices(arguments, /*isSecondRun=*/false),
                    lookupAll(forward.getCaptures(), arguments.captures), isKept);
    SmallVector<Value> yielded, results;
    unsigned next = 0;
    for (Value value : inner) {
      if (value)
        yielded.push_back(value);
      results.push_back(value ? Value(outer.getResult(next++)) : Value());
    }
    llvm::append_range(yielded, begin);
    YieldOp::create(builder, forward.getLoc(), yielded);
    parts.begins.assign(outer.getResults().begin() + next, outer.getResults().end());
    return results;
  }

  SmallVector<Value> cutBackward(ValueRange inits, const Cut &ofForward) {
    unsigned carryCount = inits.size();
    SmallVector<Type> types(inits.getTypes());
    for (Value stacked : backward.getResults().drop_front(carryCount))
      types.push_back(getCutType(stacked));
    BodyArguments arguments;
    ScanOp outer = createOuter(backward, {backward, forward}, inits, ofForward.begins, types, arguments);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&outer.getBody().front());
    auto own = outer.getBody().getArguments();
    ValueRange begin = own.slice(getFirstCapture(outer) - ofForward.begins.size(), ofForward.begins.size());
    SmallVector<Value> slices = getForwardSlices(arguments, /*isSecondRun=*/true);
    for (auto [x, slice] : llvm::zip(forward.getXs(), slices))
      arguments.slices[x] = slice;
    SmallVector<Value> again = createSteps(
        forward, segmentSteps, begin, slices, lookupAll(forward.getCaptures(), arguments.captures),
        [&](Value result) { return isResidual(result); }, /*isSecondRun=*/true);
    for (unsigned residual : found.residuals)
      arguments.slices[forward.getResult(residual)] = again[residual];
    SmallVector<Value> inner =
        createSteps(backward, segmentSteps, own.take_front(carryCount), lookupAll(backward.getXs(), arguments.slices),
                    lookupAll(backward.getCaptures(), arguments.captures), [](Value) { return true; });
    YieldOp::create(builder, backward.getLoc(), inner);
    return llvm::to_vector_of<Value>(outer.getResults());
  }

  const SegmentableScan &found;
  ScanOp forward, backward;
  OpBuilder builder;
  int64_t steps, segmentSteps, segmentCount, wholeSteps;
  /// By stacked value of the forward scan.
  llvm::MapVector<Value, MadeInput> madeInputs;
  /// By whether it is the rest.
  std::array<DenseMap<Value, Value>, 2> pieces;
};

} // namespace

void mlir::ferrule::cutIntoSegments(const SegmentableScan &scan) { SegmentCutter(scan).run(); }
