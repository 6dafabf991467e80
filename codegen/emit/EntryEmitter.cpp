//===- EntryEmitter.cpp - A planned entry as schema data ------------------===//

#include "codegen/emit/EntryEmitter.h"

#include "codegen/emit/KernelCost.h"
#include "ir/dims/DimConstraints.h"
#include "ir/graph/External.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace mlir;
using namespace mlir::ferrule;
using namespace ::ferrule::serialize;

uint32_t LocationTable::add(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file)
    return 0;
  std::string text = (file.getFilename().getValue() + ":" + Twine(file.getLine())).str();
  auto [it, inserted] = numbers.try_emplace(text, locations.size() + 1);
  if (inserted)
    locations.push_back(text);
  return it->second;
}

DataTypeDescription mlir::ferrule::describeDataType(Type element) {
  DataTypeDescription dtype;
  if (element.isInteger(1))
    return {6, 8, 1};
  if (element.isBF16())
    return {4, 16, 1};
  if (isa<FloatType>(element))
    return {2, uint8_t(element.getIntOrFloatBitWidth()), 1};
  return {uint8_t(element.isUnsignedInteger() ? 1 : 0), uint8_t(element.getIntOrFloatBitWidth()), 1};
}

namespace {

class EntryEmitter {
public:
  EntryEmitter(plan::EntryOp plan, const PlanNumbers &numbers, LocationTable &locations)
      : plan(plan), numbers(numbers), locations(locations), symbols(plan->getParentOfType<ModuleOp>()) {}

  FailureOr<EntryDescription> run() {
    entry.name = plan.getSymName().str();
    entry.signature = plan.getSignature().str();
    emitDims();
    emitDimsBelow(plan.getBody().front());
    entry.inputs = describe(plan.getInputNames(), plan.getInputTypes());
    entry.outputs = describe(plan.getOutputNames(), plan.getOutputTypes());
    emitEqualities();
    emitBlock(plan.getBody().front());
    entry.assigned_variables.assign(assigned.begin(), assigned.end());
    if (!unboundDim.empty())
      return plan.emitError() << "entry " << entry.name << ": the dim " << unboundDim
                              << " is not in the shape of any input, and no instruction gives it a value, so a run "
                                 "cannot know it";
    entry.peak_bytes = plan.getPeakBytes();
    entry.lower_bound_bytes = plan.getLowerBoundBytes();
    entry.naive_bytes = plan.getNaiveBytes();
    return std::move(entry);
  }

private:
  uint32_t addNode(ExpressionDescription node) {
    auto key = std::make_tuple(node.kind, node.left, node.right, node.value);
    auto [it, inserted] = expressionNumbers.try_emplace(key, entry.expressions.size());
    if (inserted)
      entry.expressions.push_back(node);
    return it->second;
  }

  uint32_t emitExpression(const DimExpr &expression) {
    using ::ferrule::DimOperation;
    return expression.fold<uint32_t>([&](int64_t value) { return addNode({ExpressionKind::kConstant, 0, 0, value}); },
                                     [&](const std::string &name) {
                                       auto it = dimNumbers.find(name);
                                       if (it == dimNumbers.end()) {
                                         unboundDim = name;
                                         return addNode({ExpressionKind::kConstant, 0, 0, 0});
                                       }
                                       return addNode({ExpressionKind::kDim, 0, 0, int64_t(it->second)});
                                     },
                                     [&](DimOperation operation, uint32_t left, uint32_t right) {
                                       static constexpr ExpressionKind kinds[] = {
                                           ExpressionKind::kAdd,      ExpressionKind::kSubtract,
                                           ExpressionKind::kMultiply, ExpressionKind::kFloorDivide,
                                           ExpressionKind::kModulo,   ExpressionKind::kMinimum,
                                           ExpressionKind::kMaximum};
                                       return addNode({kinds[unsigned(operation)], left, right, 0});
                                     });
  }

  void emitDims() {
    for (Attribute attribute : plan.getDims()) {
      auto dim = cast<plan::DimAttr>(attribute);
      addDim({dim.getName().str(), dim.getMin(), dim.getMax(), dim.getMultipleOf()});
      knownDims.insert(dim.getName().str());
    }
  }

  void addDim(DimDescription dim) {
    dimNumbers[dim.name] = entry.dims.size();
    entry.dims.push_back(std::move(dim));
  }

  /// The dims that loops count and instructions read, behind those of the inputs, in the order of the walk.
  void emitDimsBelow(Block &block) {
    for (Operation *op : plan::getInstructions(block)) {
      if (auto loop = dyn_cast<plan::LoopOp>(op)) {
        std::optional<int64_t> count = loop.getStepCount().getConstant();
        DimDescription dim;
        dim.name = loop.getDim().str();
        dim.min = 0;
        dim.max = count ? std::max<int64_t>(*count - 1, 0) : ::ferrule::DimRange::unbounded;
        dim.source = DimSource::kIteration;
        addDim(std::move(dim));
      }
      if (auto bind = dyn_cast<plan::BindDimOp>(op)) {
        plan::DimAttr dim = bind.getDim();
        uint32_t limit = emitExpression(bind.getMost());
        addDim({dim.getName().str(), dim.getMin(), dim.getMax(), dim.getMultipleOf(), DimSource::kInstruction, limit});
      }
      for (Region &region : op->getRegions())
        emitDimsBelow(region.front());
    }
  }

  std::vector<TensorDescription> describe(ArrayAttr names, ArrayAttr types) {
    std::vector<TensorDescription> tensors;
    for (auto [name, attribute] : llvm::zip(names, types)) {
      auto type = cast<RankedTensorType>(cast<TypeAttr>(attribute).getValue());
      TensorDescription &tensor = tensors.emplace_back();
      tensor.name = cast<StringAttr>(name).getValue().str();
      tensor.dtype = describeDataType(type.getElementType());
      for (const DimExpr &dim : getDims(type))
        tensor.shape.push_back(emitExpression(dim));
    }
    return tensors;
  }

  void emitEqualities() {
    for (Attribute attribute : plan.getEqualities()) {
      ArrayRef<DimExpr> sides = cast<DimsAttr>(attribute).getDims();
      uint32_t left = emitExpression(sides[0]), right = emitExpression(sides[1]);
      entry.equalities.push_back({left, right, locations.add(plan.getLoc())});
    }
  }

  uint32_t getIndex(plan::BufferOp buffer) const {
    switch (buffer.getStorage()) {
    case plan::Storage::Arena:
      return numbers.arenas.lookup(*buffer.getSymbol());
    case plan::Storage::Variable:
      return numbers.variables.lookup(*buffer.getSymbol());
    case plan::Storage::Constant:
      return numbers.constants.lookup(*buffer.getSymbol());
    case plan::Storage::Input:
    case plan::Storage::Output:
      return *buffer.getNumber();
    }
    llvm_unreachable("every storage is listed");
  }

  void emitBuffer(plan::BufferOp buffer, uint32_t block) {
    BufferDescription description;
    description.storage = Storage(unsigned(buffer.getStorage()));
    description.index = getIndex(buffer);
    description.offset = buffer.getOffset();
    description.size = emitExpression(buffer.getBytes());
    description.planned_size = buffer.getPlannedSize();
    description.begin = buffer.getBegin();
    description.end = buffer.getEnd();
    description.alias_group = buffer.getAliasGroup();
    description.debug_name = buffer.getName().str();
    description.block = block;
    description.kind = BufferKind(unsigned(buffer.getKind()));
    if (std::optional<Type> element = buffer.getElement())
      description.dtype = describeDataType(*element);
    bufferNumbers[buffer] = entry.buffers.size();
    entry.buffers.push_back(description);
  }

  /// Buffers, then instructions. The blocks below an instruction take the next numbers when the walk meets it.
  uint32_t emitBlock(Block &block) {
    uint32_t number = entry.blocks.size();
    entry.blocks.emplace_back();
    for (plan::BufferOp buffer : block.getOps<plan::BufferOp>())
      emitBuffer(buffer, number);
    for (Operation *op : plan::getInstructions(block)) {
      InstructionDescription instruction = emitInstruction(op);
      for (Region &region : op->getRegions())
        instruction.blocks.push_back(emitBlock(region.front()));
      entry.blocks[number].instructions.push_back(std::move(instruction));
    }
    return number;
  }

  InstructionDescription emitInstruction(Operation *op) {
    InstructionDescription instruction;
    for (Value operand : op->getOperands())
      instruction.operands.push_back(
          {bufferNumbers.at(plan::getBuffer(operand).getResult()), emitExpression(plan::getOffset(operand))});
    instruction.location = locations.add(op->getLoc());
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](plan::CallOp call) { emitCall(call, instruction); })
        .Case([&](plan::CopyOp copy) {
          instruction.kind = InstructionDescription::Kind::kCopy;
          instruction.output_count = 1;
          instruction.byte_size = emitExpression(copy.getBytes());
        })
        .Case([&](plan::IfOp) { instruction.kind = InstructionDescription::Kind::kIf; })
        .Case([&](plan::WhileOp) { instruction.kind = InstructionDescription::Kind::kWhile; })
        .Case([&](plan::LoopOp loop) {
          instruction.kind = InstructionDescription::Kind::kLoop;
          instruction.count = emitExpression(loop.getStepCount());
          instruction.dim = dimNumbers.at(loop.getDim().str());
          knownDims.insert(loop.getDim().str());
        })
        .Case([&](plan::BindDimOp bind) {
          instruction.kind = InstructionDescription::Kind::kBindDim;
          instruction.dim = dimNumbers.at(bind.getDim().getName().str());
          knownDims.insert(bind.getDim().getName().str());
        });
    for (Value output : op->getOperands().take_front(instruction.output_count))
      if (plan::getBuffer(output).getStorage() == plan::Storage::Variable)
        assigned.insert(getIndex(plan::getBuffer(output)));
    return instruction;
  }

  void emitCall(plan::CallOp call, InstructionDescription &instruction) {
    instruction.kernel = numbers.kernels.lookup(call.getKernel());
    instruction.output_count = call.getOutputs().size();
    DispatchOp dispatch = symbols.lookup<plan::KernelOp>(call.getKernel()).getDispatch();
    if (ExternalOp external = getExternal(dispatch))
      orderOperands(instruction, getExternalInputs(dispatch, external));
    for (const DimExpr &dim : call.getDims()->getDims())
      instruction.dims.push_back(emitExpression(dim));
    instruction.tiles = emitExpression(call.getTiles()->getDims().front());
    KernelCost cost = getKernelCost(call, dispatch);
    instruction.flops = emitCost(cost.flops);
    instruction.read_bytes = emitCost(cost.readBytes);
    instruction.written_bytes = emitCost(cost.writtenBytes);
    auto isPart = [](Value output) { return bool(output.getDefiningOp<plan::ViewOp>()); };
    if (llvm::any_of(call.getOutputs(), isPart))
      for (Value output : call.getOutputs())
        instruction.output_sizes.push_back(emitKnown(plan::getBytes(output)).value_or(emitExpression(0)));
  }

  /// A function that is no code of ours gets its operands as the op has them, one that stands there twice included.
  void orderOperands(InstructionDescription &instruction, ArrayRef<unsigned> inputs) {
    std::vector<OperandDescription> operands(instruction.operands.begin(),
                                             instruction.operands.begin() + instruction.output_count);
    for (unsigned input : inputs)
      operands.push_back(instruction.operands[instruction.output_count + input]);
    instruction.operands = std::move(operands);
  }

  /// Nothing where a dim gets its value only behind the call, which finds it out.
  std::optional<uint32_t> emitKnown(const DimExpr &expression) {
    std::set<std::string> dims;
    expression.collectDims(dims);
    if (!expression.isValid() || !std::includes(knownDims.begin(), knownDims.end(), dims.begin(), dims.end()))
      return std::nullopt;
    return emitExpression(expression);
  }

  uint32_t emitCost(const DimExpr &cost) {
    std::optional<uint32_t> expression = emitKnown(cost);
    return expression ? *expression + 1 : 0;
  }

  plan::EntryOp plan;
  const PlanNumbers &numbers;
  LocationTable &locations;
  SymbolTable symbols;
  EntryDescription entry;
  DenseMap<Value, uint32_t> bufferNumbers;
  std::set<uint32_t> assigned;
  std::string unboundDim;
  std::map<std::string, uint32_t> dimNumbers;
  /// Those that have a value where the walk stands.
  std::set<std::string> knownDims;
  std::map<std::tuple<ExpressionKind, uint32_t, uint32_t, int64_t>, uint32_t> expressionNumbers;
};

} // namespace

FailureOr<EntryDescription> mlir::ferrule::emitEntry(plan::EntryOp entry, const PlanNumbers &numbers,
                                                     LocationTable &locations) {
  return EntryEmitter(entry, numbers, locations).run();
}
