#include "passes/Passes.h"

#include "ir/graph/ModuleDims.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/memory/VerifyPlan.h"

#include <set>

namespace mlir::ferrule {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;
using plan::Storage;

namespace {

/// Replaces the functions of a module by planned entries.
class PlanEmitter {
public:
  PlanEmitter(ModuleOp module, const ::ferrule::DimConstraints &constraints)
      : builder(module.getContext()), constraints(constraints), symbols(module), kernels(symbols) {
    auto functions = module.getOps<func::FuncOp>();
    Operation *first = functions.empty() ? nullptr : *functions.begin();
    if (first)
      builder.setInsertionPoint(first);
    else
      builder.setInsertionPointToEnd(module.getBody());
    arena = plan::ArenaOp::create(builder, module.getLoc(), "arena", 0, 64);
    symbols.insert(arena, builder.getInsertionPoint());
  }

  LogicalResult emitEntry(func::FuncOp function, const EntryPlan &plan);

private:
  plan::EntryOp createEntry(func::FuncOp function, const EntryPlan &plan);
  ArrayAttr getDims(func::FuncOp function, std::set<std::string> &names);
  void createBuffer(const PlannedBuffer &buffer, Location location);
  void createInstruction(const PlannedInstruction &instruction, plan::EntryOp entry);
  FlatSymbolRefAttr getConstant(ElementsAttr value, Operation *insertion);
  PlanMeaning getMeaning(func::FuncOp function, const EntryPlan &plan, plan::EntryOp entry);

  OpBuilder builder;
  const ::ferrule::DimConstraints &constraints;
  SymbolTable symbols;
  KernelOutliner kernels;
  plan::ArenaOp arena;
  DenseMap<Attribute, FlatSymbolRefAttr> constants;
  /// Of the entry being emitted.
  SmallVector<Value> buffers;
};

/// Dims are bound by the inputs, in the order in which they first occur there.
ArrayAttr PlanEmitter::getDims(func::FuncOp function, std::set<std::string> &names) {
  SmallVector<Attribute> dims;
  for (BlockArgument argument : function.getArguments())
    for (const DimExpr &size : mlir::ferrule::getDims(argument)) {
      std::set<std::string> found;
      size.collectDims(found);
      for (const std::string &name : found) {
        if (!names.insert(name).second)
          continue;
        ::ferrule::DimRange range = constraints.getRange(name);
        dims.push_back(plan::DimAttr::get(builder.getContext(), name, range.min, range.max, range.multipleOf));
      }
    }
  return builder.getArrayAttr(dims);
}

plan::EntryOp PlanEmitter::createEntry(func::FuncOp function, const EntryPlan &plan) {
  std::set<std::string> names;
  ArrayAttr dims = getDims(function, names);
  SmallVector<Attribute> equalities;
  for (auto &[left, right] : constraints.getEqualities()) {
    std::set<std::string> used;
    left.collectDims(used);
    right.collectDims(used);
    if (std::includes(names.begin(), names.end(), used.begin(), used.end()))
      equalities.push_back(DimsAttr::get(builder.getContext(), ArrayRef<DimExpr>{left, right}));
  }
  auto getName = [&](Attribute name) { return name ? name : builder.getStringAttr(""); };
  SmallVector<Attribute> inputNames, outputNames;
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    inputNames.push_back(getName(function.getArgAttr(index, "ferrule.name")));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    outputNames.push_back(getName(function.getResultAttr(index, "ferrule.name")));
  auto signature = function->getAttrOfType<StringAttr>("ferrule.signature");
  return plan::EntryOp::create(
      builder, function.getLoc(), function.getSymNameAttr(), builder.getArrayAttr(inputNames),
      builder.getTypeArrayAttr(function.getArgumentTypes()), builder.getArrayAttr(outputNames),
      builder.getTypeArrayAttr(function.getResultTypes()), dims, builder.getArrayAttr(equalities),
      builder.getI64IntegerAttr(plan.peakBytes), builder.getI64IntegerAttr(plan.lowerBoundBytes),
      builder.getI64IntegerAttr(plan.naiveBytes), signature ? signature : builder.getStringAttr(""));
}

FlatSymbolRefAttr PlanEmitter::getConstant(ElementsAttr value, Operation *insertion) {
  FlatSymbolRefAttr &symbol = constants[value];
  if (symbol)
    return symbol;
  OpBuilder constantBuilder(insertion);
  auto constant = plan::ConstantOp::create(constantBuilder, insertion->getLoc(),
                                           ("constant." + Twine(constants.size() - 1)).str(), value);
  symbols.insert(constant, Block::iterator(insertion));
  return symbol = FlatSymbolRefAttr::get(constant.getSymNameAttr());
}

void PlanEmitter::createBuffer(const PlannedBuffer &buffer, Location location) {
  Operation *entry = builder.getInsertionBlock()->getParentOp();
  FlatSymbolRefAttr symbol;
  IntegerAttr number;
  switch (buffer.storage) {
  case Storage::Arena:
    symbol = FlatSymbolRefAttr::get(arena.getSymNameAttr());
    break;
  case Storage::Variable:
    symbol = FlatSymbolRefAttr::get(builder.getContext(), buffer.name);
    break;
  case Storage::Constant:
    symbol = getConstant(buffer.constant, entry);
    break;
  case Storage::Input:
  case Storage::Output:
    number = builder.getI64IntegerAttr(buffer.index);
    break;
  }
  buffers.push_back(plan::BufferOp::create(
      builder, location, plan::BufferType::get(builder.getContext()),
      plan::StorageAttr::get(builder.getContext(), buffer.storage), symbol, number,
      builder.getI64IntegerAttr(buffer.offset), DimsAttr::get(builder.getContext(), buffer.bytes),
      builder.getI64IntegerAttr(buffer.plannedBytes), builder.getI64IntegerAttr(buffer.begin),
      builder.getI64IntegerAttr(buffer.end), builder.getI64IntegerAttr(buffer.aliasGroup),
      builder.getStringAttr(buffer.name)));
}

void PlanEmitter::createInstruction(const PlannedInstruction &instruction, plan::EntryOp entry) {
  SmallVector<Value> operands;
  for (unsigned operand : instruction.operands)
    operands.push_back(buffers[operand]);
  if (!instruction.dispatch) {
    plan::CopyOp::create(builder, instruction.location, operands[0], operands[1],
                         DimsAttr::get(builder.getContext(), instruction.bytes));
    return;
  }
  plan::KernelOp kernel = kernels.getKernel(instruction.dispatch, entry);
  auto all = ArrayRef<Value>(operands);
  unsigned results = instruction.dispatch->getNumResults();
  plan::CallOp::create(builder, instruction.location, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                       ValueRange(all.take_front(results)), ValueRange(all.drop_front(results)), DimsAttr(),
                       DimsAttr());
}

/// All reads of a variable are the same value, its old one.
PlanMeaning PlanEmitter::getMeaning(func::FuncOp function, const EntryPlan &plan, plan::EntryOp entry) {
  Block &body = function.getBody().front();
  llvm::StringMap<Value> oldValues, newValues;
  for (ReadOp read : body.getOps<ReadOp>())
    oldValues.try_emplace(read.getVariable(), read.getResult());
  auto getCanonical = [&](Value value) {
    value = getStoredValue(value);
    auto read = value.getDefiningOp<ReadOp>();
    return read ? oldValues.lookup(read.getVariable()) : value;
  };
  for (AssignOp assign : body.getOps<AssignOp>())
    newValues[assign.getVariable()] = getCanonical(assign.getValue());

  PlanMeaning meaning;
  DenseMap<Attribute, Value> constantValues;
  for (auto constant : body.getOps<mlir::ferrule::ConstantOp>())
    constantValues.try_emplace(constant.getValue(), constant.getResult());
  auto getConstantOr = [&](Value value) {
    value = getCanonical(value);
    auto constant = value.getDefiningOp<mlir::ferrule::ConstantOp>();
    return constant ? constantValues.lookup(constant.getValue()) : value;
  };
  for (auto [buffer, value] : llvm::zip(plan.buffers, buffers)) {
    if (buffer.storage == Storage::Input)
      meaning.initial[value] = function.getArgument(buffer.index);
    if (buffer.storage == Storage::Constant)
      meaning.initial[value] = constantValues.lookup(buffer.constant);
    if (buffer.storage == Storage::Output)
      meaning.final[value] = getConstantOr(body.getTerminator()->getOperand(buffer.index));
    if (buffer.storage == Storage::Variable) {
      Value old = oldValues.lookup(buffer.name);
      auto assigned = newValues.find(buffer.name);
      meaning.initial[value] = old;
      meaning.final[value] = assigned == newValues.end() ? old : getConstantOr(assigned->second);
    }
  }
  for (auto [planned, op] : llvm::zip(plan.instructions, entry.getInstructions())) {
    SmallVector<Value> &values = meaning.operands[op];
    if (!planned.dispatch) {
      values.assign(2, getConstantOr(planned.value));
      continue;
    }
    llvm::append_range(values, planned.dispatch->getResults());
    for (Value input : planned.dispatch->getOperands())
      values.push_back(getConstantOr(input));
  }
  return meaning;
}

LogicalResult PlanEmitter::emitEntry(func::FuncOp function, const EntryPlan &plan) {
  // The entry takes the function's name, which is freed before; the function stays until the plan is checked by it.
  builder.setInsertionPoint(function);
  plan::EntryOp entry = createEntry(function, plan);
  symbols.remove(function);
  symbols.insert(entry);
  builder.setInsertionPointToStart(&entry.getBody().emplaceBlock());
  buffers.clear();
  for (const PlannedBuffer &buffer : plan.buffers)
    createBuffer(buffer, function.getLoc());
  for (const PlannedInstruction &instruction : plan.instructions)
    createInstruction(instruction, entry);
  arena.setByteSize(std::max(arena.getByteSize(), plan.peakBytes));
  PlanMeaning meaning = getMeaning(function, plan, entry);
  if (failed(verifyPlan(entry, &meaning)))
    return failure();
  function.erase();
  return success();
}

struct PlanMemoryPass : mlir::ferrule::impl::PlanMemoryPassBase<PlanMemoryPass> {
  using PlanMemoryPassBase::PlanMemoryPassBase;

  void runOnOperation() override {
    FailureOr<::ferrule::DimConstraints> constraints = getDimConstraints(getOperation());
    FailureOr<::ferrule::DimConstraints> planning = getPlanningConstraints(getOperation());
    if (failed(constraints) || failed(planning))
      return signalPassFailure();
    MemoryOptions options;
    options.inPlace = inPlace;
    options.searchSteps = searchSteps;
    PlanEmitter emitter(getOperation(), *constraints);
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<EntryPlan> plan = planMemory(function, *planning, options);
      if (failed(plan) || failed(emitter.emitEntry(function, *plan)))
        return signalPassFailure();
    }
  }
};

} // namespace
