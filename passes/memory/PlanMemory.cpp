#include "passes/memory/MemoryPlan.h"

#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "runtime/memory/planner/planner.h"
#include "runtime/memory/planner/validator.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ferrule;

using plan::Storage;

Value mlir::ferrule::getStoredValue(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

namespace {

class MemoryPlanner {
public:
  MemoryPlanner(func::FuncOp entry, const ::ferrule::DimConstraints &constraints, const MemoryOptions &options)
      : entry(entry), constraints(constraints), options(options) {}

  FailureOr<EntryPlan> run();

private:
  unsigned addBuffer(Storage storage, unsigned index, Value value, StringRef name);
  FailureOr<uint64_t> getPlannedBytes(const DimExpr &bytes);
  void createLeafBuffers();
  void bindAssigns();
  void bindOutputs();
  void createDispatchInstructions();
  void createFinalCopies();
  void shareStorage();
  void setLifetimes();
  LogicalResult place();
  bool canUpdateInPlace(AssignOp assign, OpResult producer);

  func::FuncOp entry;
  const ::ferrule::DimConstraints &constraints;
  MemoryOptions options;

  EntryPlan plan;
  DenseMap<Value, unsigned> bufferOf;
  /// Dispatch results that are written where they finally belong: a variable or an output.
  DenseMap<Value, unsigned> destination;
  llvm::MapVector<StringRef, AssignOp> assigns;
  llvm::StringMap<unsigned> variableBuffer;
  SmallVector<PlannedInstruction> earlyCopies, lateCopies;
  bool hasError = false;
};

unsigned MemoryPlanner::addBuffer(Storage storage, unsigned index, Value value, StringRef name) {
  PlannedBuffer buffer;
  buffer.storage = storage;
  buffer.index = index;
  buffer.bytes = getByteCount(cast<RankedTensorType>(value.getType()));
  buffer.name = name.str();
  FailureOr<uint64_t> planned = getPlannedBytes(buffer.bytes);
  hasError |= failed(planned);
  buffer.plannedBytes = planned.value_or(0);
  plan.buffers.push_back(buffer);
  return plan.buffers.size() - 1;
}

FailureOr<uint64_t> MemoryPlanner::getPlannedBytes(const DimExpr &bytes) {
  ::ferrule::DimInterval bounds = constraints.getBounds(bytes);
  if (bounds.upper)
    return uint64_t(std::max<int64_t>(0, *bounds.upper));
  if (!hasError)
    entry.emitError() << "entry " << entry.getName() << ": a buffer of " << bytes.str()
                      << " bytes has no upper bound; give every Dim in it a max, or plan_at a size";
  return failure();
}

void MemoryPlanner::createLeafBuffers() {
  for (BlockArgument argument : entry.getArguments()) {
    auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ferrule.name");
    bufferOf[argument] = addBuffer(Storage::Input, argument.getArgNumber(), argument, name ? name.getValue() : "");
  }
  for (Operation &op : entry.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto [it, inserted] = variableBuffer.try_emplace(read.getVariable(), 0);
      if (inserted)
        it->second = addBuffer(Storage::Variable, 0, read.getResult(), read.getVariable());
      bufferOf[read.getResult()] = it->second;
    } else if (auto constant = dyn_cast<ConstantOp>(op)) {
      unsigned buffer = addBuffer(Storage::Constant, 0, constant.getResult(), "constant");
      plan.buffers[buffer].constant = constant.getValue();
      bufferOf[constant.getResult()] = buffer;
    } else if (auto assign = dyn_cast<AssignOp>(op)) {
      assigns[assign.getVariable()] = assign;
    }
  }
  for (auto &[name, assign] : assigns)
    if (auto [it, inserted] = variableBuffer.try_emplace(name, 0); inserted)
      it->second = addBuffer(Storage::Variable, 0, assign.getValue(), name);
}

/// Position in the block: instructions run in block order.
static bool isBefore(Operation *a, Operation *b) { return a->isBeforeInBlock(b); }

/// Whether the producer of the assigned value may write straight into the variable: the old value is not read later,
/// and in the producing dispatch only element for element.
bool MemoryPlanner::canUpdateInPlace(AssignOp assign, OpResult producer) {
  auto dispatch = cast<DispatchOp>(producer.getOwner());
  SmallVector<Value> work;
  for (ReadOp read : entry.getBody().front().getOps<ReadOp>())
    if (read.getVariable() == assign.getVariable())
      work.push_back(read.getResult());
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<ReshapeOp>(user)) {
        work.push_back(user->getResult(0));
        continue;
      }
      if (user == dispatch) {
        if (!options.inPlace || !canShareStorage(dispatch, producer.getResultNumber(), use.getOperandNumber()))
          return false;
        continue;
      }
      // Returns and other assigns of the old value are served by copies made before anything is written.
      if (isa<DispatchOp>(user) && isBefore(dispatch, user))
        return false;
    }
  }
  return true;
}

void MemoryPlanner::bindAssigns() {
  for (auto &[name, assign] : assigns) {
    Value root = getStoredValue(assign.getValue());
    unsigned target = variableBuffer.lookup(name);
    if (bufferOf.contains(root) && bufferOf[root] == target)
      continue; // Assigned its own old value.
    auto producer = dyn_cast<OpResult>(root);
    if (producer && isa<DispatchOp>(producer.getOwner()) && !destination.contains(root) &&
        canUpdateInPlace(assign, producer)) {
      destination[root] = target;
      continue;
    }
    lateCopies.push_back(PlannedInstruction{{}, {target, 0}, plan.buffers[target].bytes, root, assign.getLoc()});
  }
}

/// An output that is an input or an old variable is copied before the first write.
void MemoryPlanner::bindOutputs() {
  auto ret = cast<func::ReturnOp>(entry.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(ret.getOperands())) {
    auto name = entry.getResultAttrOfType<StringAttr>(index, "ferrule.name");
    unsigned output = addBuffer(Storage::Output, index, value, name ? name.getValue() : "");
    Value root = getStoredValue(value);
    PlannedInstruction copy{{}, {output, 0}, plan.buffers[output].bytes, root, ret.getLoc()};
    if (bufferOf.contains(root)) {
      copy.operands[1] = bufferOf[root];
      earlyCopies.push_back(copy);
    } else if (destination.try_emplace(root, output).second) {
      continue;
    } else {
      copy.operands[1] = destination[root];
      lateCopies.push_back(copy);
    }
  }
}

void MemoryPlanner::createDispatchInstructions() {
  for (PlannedInstruction &copy : earlyCopies)
    plan.instructions.push_back(copy);
  for (DispatchOp dispatch : entry.getBody().front().getOps<DispatchOp>()) {
    PlannedInstruction instruction{dispatch, {}, {}, {}, dispatch.getLoc()};
    for (Value result : dispatch.getResults()) {
      auto bound = destination.find(result);
      unsigned buffer = bound != destination.end()
                            ? bound->second
                            : addBuffer(Storage::Arena, 0, result,
                                        dispatch.getBodyBlock().getOperations().front().getName().stripDialect());
      bufferOf[result] = buffer;
      instruction.operands.push_back(buffer);
    }
    for (Value input : dispatch.getInputs())
      instruction.operands.push_back(bufferOf.at(getStoredValue(input)));
    plan.instructions.push_back(instruction);
  }
}

/// The sources of assigns by copy. A source that another assign overwrites is saved in the arena at the start.
void MemoryPlanner::createFinalCopies() {
  SmallVector<PlannedInstruction> saves;
  for (PlannedInstruction &copy : lateCopies) {
    if (plan.buffers[copy.operands[0]].storage != Storage::Variable)
      continue;
    copy.operands[1] = bufferOf.at(copy.value);
    auto read = copy.value.getDefiningOp<ReadOp>();
    if (!read || !assigns.contains(read.getVariable()))
      continue;
    PlannedBuffer saved = plan.buffers[copy.operands[1]];
    saved.storage = Storage::Arena;
    plan.buffers.push_back(saved);
    unsigned index = plan.buffers.size() - 1;
    saves.push_back(PlannedInstruction{{}, {index, copy.operands[1]}, copy.bytes, copy.value, copy.location});
    copy.operands[1] = index;
  }
  plan.instructions.insert(plan.instructions.begin(), saves.begin(), saves.end());
  plan.instructions.insert(plan.instructions.end(), lateCopies.begin(), lateCopies.end());
}

void MemoryPlanner::setLifetimes() {
  std::vector<bool> seen(plan.buffers.size());
  for (auto [time, instruction] : llvm::enumerate(plan.instructions))
    for (unsigned operand : instruction.operands) {
      PlannedBuffer &buffer = plan.buffers[operand];
      if (!seen[operand])
        buffer.begin = time;
      buffer.end = time;
      seen[operand] = true;
    }
}

/// Lets results take the bytes of arena operands that die at the same instruction.
void MemoryPlanner::shareStorage() {
  if (!options.inPlace)
    return;
  unsigned groups = 0;
  for (auto [time, instruction] : llvm::enumerate(plan.instructions)) {
    if (!instruction.dispatch)
      continue;
    unsigned results = instruction.dispatch.getNumResults();
    DenseSet<unsigned> taken;
    for (unsigned result = 0; result < results; ++result) {
      PlannedBuffer &target = plan.buffers[instruction.operands[result]];
      if (target.storage != Storage::Arena)
        continue;
      for (unsigned input = 0; input < instruction.dispatch.getInputs().size(); ++input) {
        unsigned operand = instruction.operands[results + input];
        PlannedBuffer &source = plan.buffers[operand];
        bool onlyUse = llvm::count(ArrayRef<unsigned>(instruction.operands).drop_front(results), operand) == 1;
        if (source.storage != Storage::Arena || source.end != time || source.bytes != target.bytes || !onlyUse ||
            taken.contains(operand) || !canShareStorage(instruction.dispatch, result, input))
          continue;
        taken.insert(operand);
        if (source.aliasGroup == 0)
          source.aliasGroup = ++groups;
        target.aliasGroup = source.aliasGroup;
        break;
      }
    }
  }
}

/// One interval a group of buffers that share storage.
LogicalResult MemoryPlanner::place() {
  std::vector<::ferrule::memory::Interval> intervals;
  std::vector<SmallVector<unsigned>> members;
  DenseMap<unsigned, unsigned> intervalOfGroup;
  for (auto [index, buffer] : llvm::enumerate(plan.buffers)) {
    if (buffer.storage != Storage::Arena)
      continue;
    if (buffer.aliasGroup != 0) {
      auto [it, inserted] = intervalOfGroup.try_emplace(buffer.aliasGroup, intervals.size());
      if (!inserted) {
        ::ferrule::memory::Interval &interval = intervals[it->second];
        interval.begin = std::min<int64_t>(interval.begin, buffer.begin);
        interval.end = std::max<int64_t>(interval.end, buffer.end);
        members[it->second].push_back(index);
        continue;
      }
    }
    intervals.push_back({buffer.begin, buffer.end, buffer.plannedBytes, 64});
    members.push_back({unsigned(index)});
  }
  ::ferrule::memory::PlannerOptions plannerOptions;
  plannerOptions.search_steps = options.searchSteps;
  ::ferrule::memory::Plan placement = ::ferrule::memory::plan(intervals, plannerOptions);
  if (placement.status != ::ferrule::memory::PlanStatus::kOk)
    return entry.emitError() << "entry " << entry.getName() << ": the buffers are too large to plan";
  ::ferrule::memory::PlanVerdict verdict =
      ::ferrule::memory::validate_plan(intervals, placement.offsets, placement.peak);
  if (!verdict.ok())
    return entry.emitError() << "entry " << entry.getName() << ": "
                             << ::ferrule::memory::describe(verdict, intervals, placement.offsets);
  for (auto [interval, indices] : llvm::enumerate(members))
    for (unsigned index : indices)
      plan.buffers[index].offset = placement.offsets[interval];
  plan.peakBytes = placement.peak;
  plan.lowerBoundBytes = placement.lower_bound;
  plan.naiveBytes = placement.naive_sum;
  return success();
}

FailureOr<EntryPlan> MemoryPlanner::run() {
  createLeafBuffers();
  bindAssigns();
  bindOutputs();
  createDispatchInstructions();
  createFinalCopies();
  if (hasError)
    return failure();
  setLifetimes();
  shareStorage();
  if (failed(place()))
    return failure();
  return std::move(plan);
}

} // namespace

FailureOr<EntryPlan> mlir::ferrule::planMemory(func::FuncOp entry, const ::ferrule::DimConstraints &constraints,
                                               const MemoryOptions &options) {
  return MemoryPlanner(entry, constraints, options).run();
}
