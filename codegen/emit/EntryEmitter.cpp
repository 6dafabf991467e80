//===- EntryEmitter.cpp - A planned entry as schema data ------------------===//

#include "codegen/emit/EntryEmitter.h"

#include "mlir/IR/BuiltinAttributes.h"

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
  EntryEmitter(func::FuncOp function, const EntryPlan &plan, const ::ferrule::DimConstraints &constraints,
               KernelTable &kernels, LocationTable &locations)
      : function(function), plan(plan), constraints(constraints), kernels(kernels), locations(locations) {}

  FailureOr<EntryDescription> run() {
    entry.name = function.getName().str();
    if (auto signature = function->getAttrOfType<StringAttr>("ferrule.signature"))
      entry.signature = signature.getValue().str();
    emitDims();
    emitTensors();
    emitEqualities();
    emitBuffers();
    if (failed(emitInstructions()))
      return failure();
    if (!unboundDim.empty())
      return function.emitError() << "entry " << entry.name << ": the dim " << unboundDim
                                  << " is not in the shape of any input, so a run cannot know its value";
    entry.peak_bytes = plan.peakBytes;
    entry.lower_bound_bytes = plan.lowerBoundBytes;
    entry.naive_bytes = plan.naiveBytes;
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
    return expression.fold<uint32_t>(
        [&](int64_t value) { return addNode({ExpressionKind::kConstant, 0, 0, value}); },
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
              ExpressionKind::kAdd,         ExpressionKind::kSubtract, ExpressionKind::kMultiply,
              ExpressionKind::kFloorDivide, ExpressionKind::kModulo,   ExpressionKind::kMinimum,
              ExpressionKind::kMaximum};
          return addNode({kinds[unsigned(operation)], left, right, 0});
        });
  }

  /// Dims are bound by the inputs, in the order in which they first occur there.
  void emitDims() {
    for (BlockArgument argument : function.getArguments())
      for (const DimExpr &dim : getDims(argument)) {
        std::set<std::string> names;
        dim.collectDims(names);
        for (const std::string &name : names) {
          if (!dimNumbers.try_emplace(name, entry.dims.size()).second)
            continue;
          ::ferrule::DimRange range = constraints.getRange(name);
          entry.dims.push_back({name, range.min, range.max, range.multipleOf});
        }
      }
  }

  TensorDescription describe(Value value, StringAttr name) {
    TensorDescription tensor;
    tensor.name = name ? name.getValue().str() : "";
    auto type = cast<RankedTensorType>(value.getType());
    tensor.dtype = describeDataType(type.getElementType());
    for (const DimExpr &dim : getDims(type))
      tensor.shape.push_back(emitExpression(dim));
    return tensor;
  }

  void emitTensors() {
    for (BlockArgument argument : function.getArguments())
      entry.inputs.push_back(
          describe(argument, function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ferrule.name")));
    auto ret = cast<func::ReturnOp>(function.getBody().front().getTerminator());
    for (auto [index, value] : llvm::enumerate(ret.getOperands()))
      entry.outputs.push_back(describe(value, function.getResultAttrOfType<StringAttr>(index, "ferrule.name")));
  }

  void emitEqualities() {
    for (auto &[left, right] : constraints.getEqualities()) {
      std::set<std::string> names;
      left.collectDims(names);
      right.collectDims(names);
      if (llvm::all_of(names, [&](const std::string &name) { return dimNumbers.count(name) != 0; }))
        entry.equalities.push_back({emitExpression(left), emitExpression(right), locations.add(function.getLoc())});
    }
  }

  void emitBuffers() {
    for (const PlannedBuffer &buffer : plan.buffers) {
      BufferDescription description;
      description.storage = Storage(unsigned(buffer.storage));
      description.index = buffer.index;
      description.offset = buffer.offset;
      description.size = emitExpression(buffer.bytes);
      description.planned_size = buffer.plannedBytes;
      description.begin = buffer.begin;
      description.end = buffer.end;
      description.alias_group = buffer.aliasGroup;
      description.debug_name = buffer.name;
      entry.buffers.push_back(description);
    }
  }

  LogicalResult emitInstructions() {
    BlockDescription block;
    std::set<uint32_t> assigned;
    uint32_t zero = emitExpression(DimExpr(0));
    for (const PlannedInstruction &planned : plan.instructions) {
      InstructionDescription instruction;
      for (unsigned operand : planned.operands)
        instruction.operands.push_back({operand, zero});
      instruction.location = locations.add(planned.location);
      if (!planned.dispatch) {
        instruction.kind = InstructionDescription::Kind::kCopy;
        instruction.output_count = 1;
        instruction.byte_size = emitExpression(planned.bytes);
      } else {
        FailureOr<unsigned> kernel = kernels.getKernel(planned.dispatch);
        if (failed(kernel))
          return failure();
        const KernelSpec &spec = kernels.getKernels()[*kernel];
        instruction.kernel = *kernel;
        instruction.output_count = spec.outputCount;
        for (const DimExpr &dim : spec.dims)
          instruction.dims.push_back(emitExpression(dim));
        instruction.tiles = emitExpression(spec.tiles);
      }
      for (unsigned output = 0; output < instruction.output_count; ++output) {
        const PlannedBuffer &buffer = plan.buffers[planned.operands[output]];
        if (buffer.storage == BufferStorage::Variable)
          assigned.insert(buffer.index);
      }
      block.instructions.push_back(std::move(instruction));
    }
    entry.assigned_variables.assign(assigned.begin(), assigned.end());
    entry.blocks.push_back(std::move(block));
    return success();
  }

  func::FuncOp function;
  const EntryPlan &plan;
  const ::ferrule::DimConstraints &constraints;
  KernelTable &kernels;
  LocationTable &locations;
  EntryDescription entry;
  std::string unboundDim;
  std::map<std::string, uint32_t> dimNumbers;
  std::map<std::tuple<ExpressionKind, uint32_t, uint32_t, int64_t>, uint32_t> expressionNumbers;
};

} // namespace

FailureOr<EntryDescription> mlir::ferrule::emitEntry(func::FuncOp entry, const EntryPlan &plan,
                                                     const ::ferrule::DimConstraints &constraints,
                                                     KernelTable &kernels, LocationTable &locations) {
  return EntryEmitter(entry, plan, constraints, kernels, locations).run();
}
