#include "passes/Passes.h"

#include "ir/graph/ControlFlow.h"
#include "ir/graph/ModuleDims.h"
#include "ir/graph/Shape.h"
#include "ir/graph/State.h"
#include "passes/memory/KernelOutliner.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/memory/MeaningBuilder.h"
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
  void createBlock(const PlannedBlock &block, const EntryPlan &plan, plan::EntryOp entry);
  Value createBuffer(const PlannedBuffer &buffer, plan::EntryOp entry);
  Operation *createInstruction(const PlannedInstruction &instruction, plan::EntryOp entry);
  Value createOperand(const Place &place, Location location);
  FlatSymbolRefAttr getConstant(ElementsAttr value, Operation *insertion);

  OpBuilder builder;
  const ::ferrule::DimConstraints &constraints;
  SymbolTable symbols;
  KernelOutliner kernels;
  plan::ArenaOp arena;
  DenseMap<Attribute, FlatSymbolRefAttr> constants;
  /// Of the entry being emitted.
  PlannedOps ops;
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
  for (const PlannedInstruction &instruction : plan.body.instructions)
    if (instruction.isBinding())
      names.insert(instruction.dim);
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
      builder.getI64IntegerAttr(plan.memory.peakBytes), builder.getI64IntegerAttr(plan.memory.lowerBoundBytes),
      builder.getI64IntegerAttr(plan.memory.naiveBytes), signature ? signature : builder.getStringAttr(""));
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

Value PlanEmitter::createBuffer(const PlannedBuffer &buffer, plan::EntryOp entry) {
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
  return plan::BufferOp::create(
      builder, entry.getLoc(), plan::BufferType::get(builder.getContext()),
      plan::StorageAttr::get(builder.getContext(), buffer.storage), symbol, number,
      builder.getI64IntegerAttr(buffer.offset), DimsAttr::get(builder.getContext(), buffer.bytes),
      builder.getI64IntegerAttr(buffer.plannedBytes), builder.getI64IntegerAttr(buffer.begin),
      builder.getI64IntegerAttr(buffer.end), builder.getI64IntegerAttr(buffer.aliasGroup),
      builder.getStringAttr(buffer.name), plan::BufferKindAttr::get(builder.getContext(), buffer.kind),
      TypeAttr::get(buffer.element));
}

Value PlanEmitter::createOperand(const Place &place, Location location) {
  Value buffer = ops.buffers[place.buffer];
  if (!place.isPart)
    return buffer;
  MLIRContext *context = builder.getContext();
  return plan::ViewOp::create(builder, location, buffer.getType(), buffer, DimsAttr::get(context, place.offset),
                              DimsAttr::get(context, place.bytes));
}

Operation *PlanEmitter::createInstruction(const PlannedInstruction &instruction, plan::EntryOp entry) {
  Location location = instruction.location;
  SmallVector<Value> operands;
  for (const Place &operand : instruction.operands)
    operands.push_back(createOperand(operand, location));
  if (instruction.isCopy())
    return plan::CopyOp::create(builder, location, operands[0], operands[1],
                                DimsAttr::get(builder.getContext(), instruction.bytes));
  if (instruction.isBinding()) {
    ::ferrule::DimRange range = constraints.getRange(instruction.dim);
    auto dim =
        plan::DimAttr::get(builder.getContext(), instruction.dim, range.min, range.max, range.multipleOf);
    return plan::BindDimOp::create(builder, location, dim, DimsAttr::get(builder.getContext(), instruction.bytes),
                                   operands[0]);
  }
  if (isa<mlir::ferrule::IfOp>(instruction.op))
    return plan::IfOp::create(builder, location, operands[0]);
  if (isa<mlir::ferrule::WhileOp>(instruction.op))
    return plan::WhileOp::create(builder, location, operands[0]);
  if (isa<ScanOp>(instruction.op))
    return plan::LoopOp::create(builder, location, DimsAttr::get(builder.getContext(), instruction.bytes),
                                builder.getStringAttr(instruction.dim));
  DispatchOp dispatch = instruction.getDispatch();
  plan::KernelOp kernel = kernels.getKernel(dispatch, entry);
  auto all = ArrayRef<Value>(operands);
  unsigned results = dispatch->getNumResults();
  return plan::CallOp::create(builder, location, FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
                              ValueRange(all.take_front(results)), ValueRange(all.drop_front(results)), DimsAttr(),
                              DimsAttr());
}

/// Fills the block at which the builder stands.
void PlanEmitter::createBlock(const PlannedBlock &block, const EntryPlan &plan, plan::EntryOp entry) {
  for (unsigned number : block.buffers)
    ops.buffers[number] = createBuffer(plan.buffers[number], entry);
  for (const PlannedInstruction &instruction : block.instructions) {
    Operation *op = createInstruction(instruction, entry);
    ops.instructions[&instruction] = op;
    OpBuilder::InsertionGuard guard(builder);
    for (auto [region, inner] : llvm::zip(op->getRegions(), instruction.blocks)) {
      builder.setInsertionPointToStart(&region.emplaceBlock());
      createBlock(inner, plan, entry);
    }
  }
}

LogicalResult PlanEmitter::emitEntry(func::FuncOp function, const EntryPlan &plan) {
  // The entry takes the function's name, which is freed before; the function stays until the plan is checked by it.
  builder.setInsertionPoint(function);
  plan::EntryOp entry = createEntry(function, plan);
  symbols.remove(function);
  symbols.insert(entry);
  builder.setInsertionPointToStart(&entry.getBody().emplaceBlock());
  ops = PlannedOps();
  ops.buffers.resize(plan.buffers.size());
  createBlock(plan.body, plan, entry);
  arena.setByteSize(std::max(arena.getByteSize(), plan.memory.peakBytes));
  PlanMeaning meaning = buildMeaning(function, plan, ops);
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
