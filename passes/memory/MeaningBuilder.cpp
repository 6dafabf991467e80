#include "passes/memory/MeaningBuilder.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"

using namespace mlir;
using namespace mlir::ferrule;

using plan::Storage;

namespace {

class MeaningBuilder {
public:
  MeaningBuilder(func::FuncOp function, const EntryPlan &plan, const PlannedOps &ops)
      : function(function), plan(plan), ops(ops) {}

  PlanMeaning build() {
    collectLeaves();
    describeParts();
    describeBuffers();
    describeBlock(plan.body);
    return std::move(meaning);
  }

private:
  /// One value for all names of it: all reads of a variable are its old value, equal constants are one, a capture is
  /// what it captures, slices of one tensor are one.
  Value getCanonical(Value value) const {
    while (true) {
      value = getStoredValue(value);
      if (Value other = sameAs.lookup(value)) {
        value = other;
        continue;
      }
      return value;
    }
  }

  void collectLeaves() {
    llvm::StringMap<Value> oldValues;
    DenseMap<Attribute, Value> constantValues;
    auto unite = [&](Value &first, Value value) {
      if (!first)
        first = value;
      else if (first != value)
        sameAs[value] = first;
    };
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto read = dyn_cast<ReadOp>(op)) {
        unite(oldValues[read.getVariable()], read.getResult());
      } else if (auto constant = dyn_cast<mlir::ferrule::ConstantOp>(op)) {
        unite(constantValues[constant.getValue()], constant.getResult());
      } else if (isControlFlow(op)) {
        for (Region &region : op->getRegions())
          uniteArguments(op, region.front());
      } else if (auto slice = dyn_cast<SliceOp>(op)) {
        uniteSlice(slice);
      }
    });
    for (auto &each : oldValues)
      variables[each.getKey()] = each.getValue();
    constants = std::move(constantValues);
  }

  /// Slices of the same elements are one value.
  void uniteSlice(SliceOp slice) {
    if (slice->getParentOfType<DispatchOp>())
      return;
    Value source = getCanonical(slice.getX());
    for (SliceOp other : slices)
      if (getCanonical(other.getX()) == source && other->getAttrDictionary() == slice->getAttrDictionary()) {
        sameAs[slice.getResult()] = other.getResult();
        return;
      }
    slices.push_back(slice);
  }

  void uniteArguments(Operation *op, Block &block) {
    MutableArrayRef<OpOperand> operands = getRegionOperands(op);
    for (unsigned index = getFirstCapture(op); index < operands.size(); ++index)
      sameAs[block.getArgument(index)] = getCanonical(operands[index].get());
    for (unsigned index = getCarryCount(op); index < getFirstCapture(op); ++index)
      for (unsigned before = getCarryCount(op); before < index; ++before)
        if (getCanonical(operands[before].get()) == getCanonical(operands[index].get())) {
          sameAs[block.getArgument(index)] = block.getArgument(before);
          break;
        }
  }

  /// Slices outside of dispatches. One of a slice is a part of what both are taken of, too.
  void describeParts() {
    for (SliceOp slice : slices)
      for (Value source = slice.getX();; source = source.getDefiningOp<SliceOp>().getX()) {
        source = getCanonical(source);
        meaning.parts[source].push_back({getRange(slice.getResult()), getCanonical(slice.getResult())});
        if (!source.getDefiningOp<SliceOp>())
          break;
      }
  }

  void describeBuffers() {
    Block &body = function.getBody().front();
    llvm::StringMap<Value> newValues;
    for (AssignOp assign : body.getOps<AssignOp>())
      newValues[assign.getVariable()] = getCanonical(assign.getValue());
    for (auto [buffer, value] : llvm::zip(plan.buffers, ops.buffers)) {
      if (buffer.storage == Storage::Input)
        meaning.initial[value] = function.getArgument(buffer.index);
      if (buffer.storage == Storage::Constant)
        meaning.initial[value] = constants.lookup(buffer.constant);
      if (buffer.storage == Storage::Output)
        meaning.final[value] = getCanonical(body.getTerminator()->getOperand(buffer.index));
      if (buffer.storage == Storage::Variable) {
        Value old = variables.lookup(buffer.name);
        auto assigned = newValues.find(buffer.name);
        meaning.initial[value] = old;
        meaning.final[value] = assigned == newValues.end() ? old : assigned->second;
      }
    }
  }

  BufferRange getRange(const Place &place) const {
    return {ops.buffers[place.buffer], place.isPart, place.offset, place.bytes};
  }

  BufferRange getRange(Value value) const { return getRange(plan.places.at(getStoredValue(value))); }

  void describeBlock(const PlannedBlock &block) {
    for (const PlannedInstruction &instruction : block.instructions) {
      Operation *op = ops.instructions.lookup(&instruction);
      describeInstruction(instruction, op);
      for (const PlannedBlock &inner : instruction.blocks)
        describeBlock(inner);
    }
  }

  void describeInstruction(const PlannedInstruction &instruction, Operation *op) {
    SmallVector<Value> values;
    if (instruction.isCopy()) {
      values.assign(2, getCanonical(instruction.value));
    } else if (instruction.isBinding()) {
      values.push_back(getCanonical(instruction.value));
    } else if (DispatchOp dispatch = instruction.getDispatch()) {
      llvm::append_range(values, dispatch.getResults());
      for (Value input : dispatch.getOperands())
        values.push_back(getCanonical(input));
    } else if (auto branch = dyn_cast<mlir::ferrule::IfOp>(instruction.op)) {
      values.push_back(getCanonical(branch.getPredicate()));
      for (auto [source, region] : llvm::zip(branch->getRegions(), op->getRegions()))
        describeBranch(branch, source, region);
    } else if (auto loop = dyn_cast<mlir::ferrule::WhileOp>(instruction.op)) {
      values.push_back(getCanonical(getYielded(loop.getCondition()).front()));
      describeWhile(loop, op);
    } else {
      describeScan(cast<ScanOp>(instruction.op), op);
    }
    meaning.operands[op] = std::move(values);
  }

  void describeBranch(mlir::ferrule::IfOp branch, Region &source, Region &region) {
    PlanMeaning::Borders &borders = meaning.blocks[&region];
    for (auto [result, value] : llvm::zip(branch.getResults(), getYielded(source)))
      borders.exit.push_back({getRange(result), getCanonical(value), getRange(result), result});
  }

  /// The carries at a border: what they are called before, and after.
  void addCarries(Operation *op, ValueRange before, ValueRange after, SmallVector<PlanMeaning::Renaming> &border) {
    for (unsigned index = 0; index < getCarryCount(op); ++index) {
      BufferRange range = getRange(op->getResult(index));
      border.push_back({range, getCanonical(before[index]), range, after[index]});
    }
  }

  void describeWhile(mlir::ferrule::WhileOp loop, Operation *op) {
    auto inCondition = loop.getCondition().getArguments(), inBody = loop.getBody().getArguments();
    PlanMeaning::Borders condition, body;
    addCarries(loop, loop.getInits(), inCondition, condition.entry);
    addCarries(loop, inCondition, inBody, condition.next);
    addCarries(loop, getYielded(loop.getBody()), inCondition, body.next);
    addCarries(loop, inCondition, loop.getResults(), condition.exit);
    meaning.blocks[&op->getRegion(0)] = condition;
    meaning.blocks[&op->getRegion(1)] = body;
  }

  void describeScan(ScanOp scan, Operation *op) {
    PlanMeaning::Borders &borders = meaning.blocks[&op->getRegion(0)];
    Region &body = scan.getBody();
    addCarries(scan, scan.getInits(), body.getArguments(), borders.entry);
    addCarries(scan, getYielded(body), body.getArguments(), borders.next);
    addCarries(scan, getYielded(body), scan.getResults(), borders.exit);
    for (auto [index, x] : llvm::enumerate(scan.getXs())) {
      BlockArgument slice = body.getArgument(scan.getInits().size() + index);
      borders.entry.push_back({getRange(x), getCanonical(x), getRange(slice), getCanonical(slice)});
    }
    for (unsigned index = scan.getInits().size(); index < scan.getNumResults(); ++index) {
      Value y = scan.getResult(index), slice = getYielded(body)[index];
      Place whole = plan.places.at(y);
      Place part = sliceOf(whole, slice, scan, op);
      borders.exit.push_back({getRange(part), getCanonical(slice), getRange(whole), y});
    }
  }

  /// The part of a stacked result that a step writes.
  static Place sliceOf(const Place &whole, Value slice, ScanOp scan, Operation *op) {
    DimExpr step = DimExpr::dim(std::string_view(cast<plan::LoopOp>(op).getDim()));
    DimExpr number = scan.getReverse() ? scan.getStepCount() - DimExpr(1) - step : step;
    DimExpr bytes = getByteCount(cast<RankedTensorType>(slice.getType()));
    return {whole.buffer, true, whole.offset + number * bytes, bytes};
  }

  func::FuncOp function;
  const EntryPlan &plan;
  const PlannedOps &ops;
  PlanMeaning meaning;
  DenseMap<Value, Value> sameAs;
  llvm::StringMap<Value> variables;
  DenseMap<Attribute, Value> constants;
  /// Outside of dispatches, those that are told apart.
  SmallVector<SliceOp> slices;
};

} // namespace

PlanMeaning mlir::ferrule::buildMeaning(func::FuncOp function, const EntryPlan &plan, const PlannedOps &ops) {
  return MeaningBuilder(function, plan, ops).build();
}
