#include "passes/memory/BlockPlanner.h"

#include "ir/graph/Nonzero.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "runtime/memory/planner/planner.h"
#include "runtime/memory/planner/validator.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::ferrule;

using plan::Storage;

Value mlir::ferrule::getStoredValue(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

bool mlir::ferrule::isMemoryView(Operation *op) { return isa_and_nonnull<ReshapeOp, SliceOp>(op); }

Value mlir::ferrule::getSource(Value value) {
  while (isMemoryView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

static RankedTensorType getTensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===------------------------------------------------------------------------------------------------------------===//
// What the blocks share
//===------------------------------------------------------------------------------------------------------------===//

unsigned PlanningContext::addBuffer(PlannedBlock &block, Storage storage, unsigned index, RankedTensorType type,
                                    StringRef name) {
  PlannedBuffer buffer;
  buffer.storage = storage;
  buffer.index = index;
  buffer.bytes = getByteCount(type);
  buffer.name = name.str();
  buffer.element = type.getElementType();
  ::ferrule::DimInterval bounds = constraints.getBounds(buffer.bytes);
  if (!bounds.upper && !hasError)
    entry.emitError() << "entry " << entry.getName() << ": a buffer of " << buffer.bytes.str()
                      << " bytes has no upper bound; give every Dim in it a max, or plan_at a size";
  hasError |= !bounds.upper;
  buffer.plannedBytes = std::max<int64_t>(0, bounds.upper.value_or(0));
  plan.buffers.push_back(buffer);
  block.buffers.push_back(plan.buffers.size() - 1);
  return plan.buffers.size() - 1;
}

unsigned PlanningContext::addArenaBuffer(PlannedBlock &block, OpResult result, StringRef name) {
  unsigned buffer = addBuffer(block, Storage::Arena, 0, getTensorType(result), name);
  plan.buffers[buffer].kind = kinds.get(result);
  return buffer;
}

unsigned PlanningContext::addWorkspace(PlannedBlock &block, RankedTensorType type, StringRef name) {
  unsigned buffer = addBuffer(block, Storage::Arena, 0, type, name);
  plan.buffers[buffer].kind = plan::BufferKind::Workspace;
  return buffer;
}

std::string PlanningContext::takeLoopDim() {
  std::string name;
  do
    name = "loop" + std::to_string(loopCount++);
  while (constraints.getRanges().count(name));
  return name;
}

/// A slice of a place whose whole is `count` slices of that many bytes.
static Place getSlice(const Place &whole, const DimExpr &number, const DimExpr &bytes) {
  return {whole.buffer, true, whole.offset + number * bytes, bytes};
}

//===------------------------------------------------------------------------------------------------------------===//
// Destinations
//===------------------------------------------------------------------------------------------------------------===//

void BlockPlanner::addConstants() {
  for (auto constant : block.getOps<mlir::ferrule::ConstantOp>()) {
    unsigned buffer =
        context.addBuffer(*planned, Storage::Constant, 0, getTensorType(constant.getResult()), "constant");
    buffers[buffer].constant = constant.getValue();
    places[constant.getResult()] = context.getWhole(buffer);
  }
}

Place BlockPlanner::getPlace(Value value) const {
  value = getStoredValue(value);
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return places.at(value);
  Place whole = getPlace(slice.getX());
  DimExpr bytes = getByteCount(getTensorType(value)), start = slice.getStarts().getDims().front();
  return {whole.buffer, true, whole.offset + start * DimExpr::floorDiv(bytes, getDims(value).front()), bytes};
}

bool BlockPlanner::isMadeHere(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == &block && (isa<DispatchOp>(op) || isControlFlow(op));
}

/// The old value is read as nothing but the init of the loop's carry of that number.
static bool isOnlyInit(OpOperand &use, OpResult result) {
  Operation *op = result.getOwner();
  return result.getResultNumber() < getCarryCount(op) &&
         &use == &getRegionOperands(op)[result.getResultNumber()];
}

/// Whether the producer of the new value may write straight into the place: the old value is not read later, and by
/// the producer only element for element, or as the init of a loop that carries it in this place.
bool BlockPlanner::canUpdateInPlace(const PlaceUpdate &update, OpResult producer) const {
  Operation *writer = producer.getOwner();
  SmallVector<Value> work(update.oldValues);
  while (!work.empty()) {
    for (OpOperand &use : work.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isMemoryView(user)) {
        work.push_back(user->getResult(0));
      } else if (user == writer) {
        auto dispatch = dyn_cast<DispatchOp>(writer);
        if (!context.options.inPlace ||
            (dispatch ? !canShareStorage(dispatch, producer.getResultNumber(), use.getOperandNumber())
                      : !isOnlyInit(use, producer)))
          return false;
      } else if ((isa<DispatchOp>(user) || isControlFlow(user)) && writer->isBeforeInBlock(user)) {
        // Yields and other assigns of the old value are served by copies made before anything is written.
        return false;
      }
    }
  }
  return true;
}

void BlockPlanner::bindUpdates() {
  for (const PlaceUpdate &update : updates) {
    Value root = getStoredValue(update.newValue);
    if (llvm::is_contained(update.oldValues, root))
      continue; // Keeps its own old value.
    if (isMadeHere(root) && !destinations.contains(root) && canUpdateInPlace(update, cast<OpResult>(root)))
      destinations[root] = update.place;
    else
      lateUpdates.push_back({update.place, root});
  }
}

PlannedInstruction BlockPlanner::createCopy(Place target, Value value, Location location) const {
  PlannedInstruction copy{nullptr, {target, getPlace(value)}, target.bytes, getStoredValue(value), location, {}, {}};
  return copy;
}

/// A result that is a leaf, or a part of one, is copied before the first write.
void BlockPlanner::bindResults() {
  for (const PlaceResult &result : results) {
    Value root = getStoredValue(result.value), source = getSource(root);
    if (!isMadeHere(source))
      earlyCopies.push_back(createCopy(result.place, root, result.location));
    else if (root != source || !destinations.try_emplace(root, result.place).second)
      lateResults.push_back({result.place, root});
  }
}

/// Whether a loop's carry can lie where its init is made: nobody else reads the init.
bool BlockPlanner::canComputeInit(OpOperand &init) const {
  Value root = init.get();
  while (auto reshape = root.getDefiningOp<ReshapeOp>()) {
    if (!root.hasOneUse())
      return false;
    root = reshape.getX();
  }
  return context.options.inPlace && isMadeHere(root) && root.hasOneUse() && !destinations.contains(root);
}

/// Gives the results of branches and loops their places, last op first: a result that is an init of a later loop lies
/// where that loop carries it.
void BlockPlanner::bindControlFlow() {
  for (Operation &op : llvm::reverse(block)) {
    if (!isControlFlow(&op))
      continue;
    for (OpResult result : op.getResults()) {
      auto bound = destinations.find(result);
      bool isUpdate = bound != destinations.end() && llvm::any_of(updates, [&](const PlaceUpdate &update) {
                        return update.place == bound->second;
                      });
      if (bound == destinations.end()) {
        unsigned buffer = context.addArenaBuffer(*planned, result, op.getName().stripDialect());
        destinations[result] = context.getWhole(buffer);
      }
      places[result] = destinations[result];
      if (result.getResultNumber() >= getCarryCount(&op) || isUpdate)
        continue;
      OpOperand &init = getRegionOperands(&op)[result.getResultNumber()];
      // A copy: the map may move what it holds for the new key.
      if (canComputeInit(init))
        destinations[getStoredValue(init.get())] = Place(destinations.at(result));
    }
  }
}

const PlaceUpdate *BlockPlanner::findUpdate(Value oldValue) const {
  const PlaceUpdate *found =
      llvm::find_if(updates, [&](const PlaceUpdate &update) { return llvm::is_contained(update.oldValues, oldValue); });
  return found == updates.end() ? nullptr : found;
}

//===------------------------------------------------------------------------------------------------------------===//
// Instructions
//===------------------------------------------------------------------------------------------------------------===//

void BlockPlanner::createCall(DispatchOp dispatch) {
  PlannedInstruction instruction{dispatch, {}, {}, {}, dispatch.getLoc(), {}, {}};
  StringRef name = dispatch.getBodyBlock().getOperations().front().getName().stripDialect();
  for (OpResult result : dispatch->getResults()) {
    auto bound = destinations.find(result);
    Place place = bound != destinations.end()
                      ? bound->second
                      : context.getWhole(context.addArenaBuffer(*planned, result, name));
    places[result] = place;
    instruction.operands.push_back(place);
  }
  for (Value input : dispatch.getInputs())
    instruction.operands.push_back(getPlace(input));
  planned->instructions.push_back(instruction);
  if (std::optional<CountedDim> counted = getCountedDim(dispatch))
    planned->instructions.push_back(
        {nullptr, {getPlace(counted->count)}, counted->most, counted->count, dispatch.getLoc(), {}, counted->name});
}

/// Brings the inits to the places of the carries, unless they are there.
void BlockPlanner::createInits(Operation *op, ValueRange inits) {
  for (auto [init, result] : llvm::zip(inits, op->getResults()))
    if (!(getPlace(init) == places.at(result)))
      planned->instructions.push_back(createCopy(places.at(result), init, op->getLoc()));
}

void BlockPlanner::bindCaptures(Operation *op, Block &region) {
  MutableArrayRef<OpOperand> operands = getRegionOperands(op);
  for (unsigned index = getFirstCapture(op); index < operands.size(); ++index) {
    Place place = getPlace(operands[index].get());
    places[region.getArgument(index)] = place;
  }
}

/// Every region of a loop finds the carries where its results lie.
void BlockPlanner::bindCarries(Operation *op, Block &region) {
  for (unsigned index = 0; index < getCarryCount(op); ++index) {
    Place place = places.at(op->getResult(index));
    places[region.getArgument(index)] = place;
  }
}

/// What the body of a loop does to the carries.
SmallVector<PlaceUpdate> BlockPlanner::getCarryUpdates(Operation *op, Block &body) const {
  SmallVector<PlaceUpdate> carries;
  for (unsigned index = 0; index < getCarryCount(op); ++index)
    carries.push_back({places.at(op->getResult(index)), {body.getArgument(index)},
                       body.getTerminator()->getOperand(index), op->getLoc()});
  return carries;
}

void BlockPlanner::planRegion(PlannedInstruction &instruction, Region &region, ArrayRef<PlaceUpdate> regionUpdates,
                              ArrayRef<PlaceResult> regionResults) {
  PlannedBlock &inner = instruction.blocks.emplace_back();
  FailureOr<MemoryUse> use = BlockPlanner(context, region.front(), regionUpdates, regionResults).run(inner);
  if (failed(use)) {
    context.hasError = true;
    return;
  }
  // The blocks of one instruction never run together.
  MemoryUse &workspace = workspaces[planned->instructions.size()];
  workspace.peakBytes = std::max(workspace.peakBytes, use->peakBytes);
  workspace.lowerBoundBytes = std::max(workspace.lowerBoundBytes, use->lowerBoundBytes);
  workspace.naiveBytes += use->naiveBytes;
}

void BlockPlanner::createScan(ScanOp scan) {
  createInits(scan, scan.getInits());
  PlannedInstruction loop{scan, {}, scan.getStepCount(), {}, scan.getLoc(), {}, context.takeLoopDim()};
  DimExpr step = DimExpr::dim(loop.dim);
  DimExpr number = scan.getReverse() ? scan.getStepCount() - DimExpr(1) - step : step;
  Block &body = scan.getBody().front();
  bindCarries(scan, body);
  SmallVector<PlaceUpdate> carries = getCarryUpdates(scan, body);
  for (auto [index, x] : llvm::enumerate(scan.getXs())) {
    BlockArgument slice = body.getArgument(carries.size() + index);
    Place whole = getPlace(x);
    places[slice] = getSlice(whole, number, getByteCount(getTensorType(slice)));
  }
  bindCaptures(scan, body);
  SmallVector<PlaceResult> slices;
  for (unsigned index = carries.size(); index < scan.getNumResults(); ++index) {
    Value slice = getYielded(scan.getBody())[index];
    slices.push_back({getSlice(places.at(scan.getResult(index)), number, getByteCount(getTensorType(slice))), slice,
                      scan.getLoc()});
  }
  planRegion(loop, scan.getBody(), carries, slices);
  planned->instructions.push_back(std::move(loop));
}

void BlockPlanner::createWhile(WhileOp loop) {
  createInits(loop, loop.getInits());
  Value flag = getYielded(loop.getCondition()).front();
  Place condition =
      context.getWhole(context.addWorkspace(*planned, getTensorType(flag), "condition"));
  PlannedInstruction instruction{loop, {condition}, {}, {}, loop.getLoc(), {}, {}};
  for (Region &region : loop->getRegions()) {
    bindCarries(loop, region.front());
    bindCaptures(loop, region.front());
  }
  planRegion(instruction, loop.getCondition(), {}, PlaceResult{condition, flag, loop.getLoc()});
  planRegion(instruction, loop.getBody(), getCarryUpdates(loop, loop.getBody().front()), {});
  planned->instructions.push_back(std::move(instruction));
}

void BlockPlanner::createIf(IfOp branch) {
  PlannedInstruction instruction{branch, {getPlace(branch.getPredicate())}, {}, {}, branch.getLoc(), {}, {}};
  for (Region &region : branch->getRegions()) {
    bindCaptures(branch, region.front());
    SmallVector<PlaceResult> yielded;
    for (auto [result, value] : llvm::zip(branch.getResults(), getYielded(region)))
      yielded.push_back({places.at(result), value, branch.getLoc()});
    planRegion(instruction, region, {}, yielded);
  }
  planned->instructions.push_back(std::move(instruction));
}

void BlockPlanner::createInstructions() {
  llvm::append_range(planned->instructions, earlyCopies);
  for (Operation &op : block) {
    if (auto dispatch = dyn_cast<DispatchOp>(op))
      createCall(dispatch);
    else if (auto scan = dyn_cast<ScanOp>(op))
      createScan(scan);
    else if (auto loop = dyn_cast<WhileOp>(op))
      createWhile(loop);
    else if (auto branch = dyn_cast<IfOp>(op))
      createIf(branch);
    else if (auto slice = dyn_cast<SliceOp>(op))
      places[slice.getResult()] = getPlace(slice.getResult());
  }
}

/// The sources of updates by copy. A source that another update overwrites is saved in the arena at the start.
void BlockPlanner::createFinalCopies() {
  std::vector<PlannedInstruction> saves;
  Location location = block.getParentOp()->getLoc();
  for (auto &[target, value] : lateUpdates) {
    PlannedInstruction copy = createCopy(target, value, location);
    if (findUpdate(getSource(value))) {
      std::string name = buffers[copy.operands[1].buffer].name;
      unsigned saved = context.addWorkspace(*planned, getTensorType(value), name);
      saves.push_back(createCopy(context.getWhole(saved), value, location));
      copy.operands[1] = context.getWhole(saved);
    }
    planned->instructions.push_back(copy);
  }
  for (auto &[target, value] : lateResults)
    planned->instructions.push_back(createCopy(target, value, location));
  if (saves.empty())
    return;
  planned->instructions.insert(planned->instructions.begin(), saves.begin(), saves.end());
  DenseMap<unsigned, MemoryUse> shifted;
  for (auto &[time, use] : workspaces)
    shifted[time + saves.size()] = use;
  workspaces = std::move(shifted);
}

//===------------------------------------------------------------------------------------------------------------===//
// Lifetimes and placement
//===------------------------------------------------------------------------------------------------------------===//

static void collectBuffers(const PlannedInstruction &instruction, std::set<unsigned> &used) {
  for (const Place &operand : instruction.operands)
    used.insert(operand.buffer);
  for (const PlannedBlock &inner : instruction.blocks)
    for (const PlannedInstruction &nested : inner.instructions)
      collectBuffers(nested, used);
}

void BlockPlanner::setLifetimes() {
  std::set<unsigned> own(planned->buffers.begin(), planned->buffers.end()), seen;
  for (auto [time, instruction] : llvm::enumerate(planned->instructions)) {
    std::set<unsigned> used;
    collectBuffers(instruction, used);
    for (unsigned number : used) {
      if (!own.count(number))
        continue;
      if (seen.insert(number).second)
        buffers[number].begin = time;
      buffers[number].end = time;
    }
  }
}

/// Lets results take the bytes of the block's own arena operands that die at the same instruction.
void BlockPlanner::shareStorage() {
  if (!context.options.inPlace)
    return;
  std::set<unsigned> own(planned->buffers.begin(), planned->buffers.end());
  auto isOwn = [&](const Place &place) {
    return !place.isPart && buffers[place.buffer].storage == Storage::Arena && own.count(place.buffer);
  };
  for (auto [time, instruction] : llvm::enumerate(planned->instructions)) {
    DispatchOp dispatch = instruction.getDispatch();
    if (!dispatch)
      continue;
    ArrayRef<Place> targets = ArrayRef<Place>(instruction.operands).take_front(dispatch.getNumResults());
    ArrayRef<Place> sources = ArrayRef<Place>(instruction.operands).drop_front(dispatch.getNumResults());
    DenseSet<unsigned> taken;
    for (auto [result, targetPlace] : llvm::enumerate(targets)) {
      PlannedBuffer &target = buffers[targetPlace.buffer];
      // One that holds something before, as the carry of a loop does, is not free to move.
      if (!isOwn(targetPlace) || target.begin != time)
        continue;
      for (auto [input, sourcePlace] : llvm::enumerate(sources)) {
        PlannedBuffer &source = buffers[sourcePlace.buffer];
        bool onlyUse =
            llvm::count_if(sources, [&](const Place &use) { return use.buffer == sourcePlace.buffer; }) == 1;
        if (!isOwn(sourcePlace) || source.end != time || source.bytes != target.bytes || !onlyUse ||
            taken.contains(sourcePlace.buffer) || !canShareStorage(dispatch, result, input))
          continue;
        taken.insert(sourcePlace.buffer);
        if (source.aliasGroup == 0)
          source.aliasGroup = ++context.aliasGroupCount;
        target.aliasGroup = source.aliasGroup;
        break;
      }
    }
  }
}

static void moveBlocks(PlannedInstruction &instruction, uint64_t distance, std::vector<PlannedBuffer> &buffers) {
  for (PlannedBlock &inner : instruction.blocks) {
    for (unsigned number : inner.buffers)
      if (buffers[number].storage == Storage::Arena)
        buffers[number].offset += distance;
    for (PlannedInstruction &nested : inner.instructions)
      moveBlocks(nested, distance, buffers);
  }
}

/// The most bytes that are live at one instruction.
static uint64_t getLowerBound(ArrayRef<::ferrule::memory::Interval> intervals) {
  std::map<int64_t, int64_t> changes;
  for (const ::ferrule::memory::Interval &interval : intervals) {
    int64_t size = llvm::alignTo(interval.size, interval.alignment);
    changes[interval.begin] += size;
    changes[interval.end + 1] -= size;
  }
  int64_t live = 0, most = 0;
  for (auto &[time, change] : changes)
    most = std::max(most, live += change);
  return most;
}

/// One interval a group of buffers that share storage, and one for all blocks of an instruction, which are placed
/// already, from byte 0 on.
LogicalResult BlockPlanner::place(MemoryUse &use) {
  std::vector<::ferrule::memory::Interval> intervals;
  std::vector<SmallVector<unsigned>> members;
  DenseMap<unsigned, unsigned> intervalOfGroup;
  for (unsigned number : planned->buffers) {
    const PlannedBuffer &buffer = buffers[number];
    if (buffer.storage != Storage::Arena)
      continue;
    if (buffer.aliasGroup != 0) {
      auto [it, inserted] = intervalOfGroup.try_emplace(buffer.aliasGroup, intervals.size());
      if (!inserted) {
        ::ferrule::memory::Interval &interval = intervals[it->second];
        interval.begin = std::min<int64_t>(interval.begin, buffer.begin);
        interval.end = std::max<int64_t>(interval.end, buffer.end);
        members[it->second].push_back(number);
        continue;
      }
    }
    intervals.push_back({buffer.begin, buffer.end, buffer.plannedBytes, 64});
    members.push_back({number});
    use.naiveBytes += llvm::alignTo(buffer.plannedBytes, 64);
  }
  std::vector<::ferrule::memory::Interval> least(intervals);
  SmallVector<unsigned> times;
  for (unsigned time = 0; time < planned->instructions.size(); ++time) {
    auto workspace = workspaces.find(time);
    if (workspace == workspaces.end())
      continue;
    times.push_back(time);
    intervals.push_back({time, time, workspace->second.peakBytes, 64});
    least.push_back({time, time, workspace->second.lowerBoundBytes, 64});
    use.naiveBytes += workspace->second.naiveBytes;
  }
  ::ferrule::memory::PlannerOptions plannerOptions;
  plannerOptions.search_steps = context.options.searchSteps;
  ::ferrule::memory::Plan placement = ::ferrule::memory::plan(intervals, plannerOptions);
  func::FuncOp entry = context.entry;
  if (placement.status != ::ferrule::memory::PlanStatus::kOk)
    return entry.emitError() << "entry " << entry.getName() << ": the buffers are too large to plan";
  ::ferrule::memory::PlanVerdict verdict =
      ::ferrule::memory::validate_plan(intervals, placement.offsets, placement.peak);
  if (!verdict.ok())
    return entry.emitError() << "entry " << entry.getName() << ": "
                             << ::ferrule::memory::describe(verdict, intervals, placement.offsets);
  for (auto [interval, numbers] : llvm::enumerate(members))
    for (unsigned number : numbers)
      buffers[number].offset = placement.offsets[interval];
  for (auto [index, time] : llvm::enumerate(times))
    moveBlocks(planned->instructions[time], placement.offsets[members.size() + index], buffers);
  use.peakBytes = placement.peak;
  use.lowerBoundBytes = getLowerBound(least);
  return success();
}

FailureOr<MemoryUse> BlockPlanner::run(PlannedBlock &target) {
  planned = &target;
  addConstants();
  bindUpdates();
  bindResults();
  bindControlFlow();
  createInstructions();
  createFinalCopies();
  if (context.hasError)
    return failure();
  setLifetimes();
  shareStorage();
  MemoryUse use;
  if (failed(place(use)))
    return failure();
  return use;
}
