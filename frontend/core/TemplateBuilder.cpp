//===- TemplateBuilder.cpp - Writing what several fragments share ---------===//

#include "frontend/core/TemplateBuilder.h"

#include "frontend/core/Diagnostics.h"
#include "frontend/core/GraphTypes.h"
#include "ir/graph/ControlFlow.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

namespace ferrule::frontend {
namespace {

mlir::RankedTensorType getTensorType(mlir::Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()); }

} // namespace

TemplateBuilder::TemplateBuilder(llvm::ArrayRef<mlir::ModuleOp> fragments, Factors factors)
    : builder(fragments.front()->getContext()), result(std::make_unique<FragmentTemplate>()), factors(factors) {
  for (mlir::ModuleOp fragment : fragments)
    functions.push_back(*fragment.getOps<mlir::func::FuncOp>().begin());
  mlir::Location location = builder.getUnknownLoc();
  result->module = mlir::ModuleOp::create(location);
  builder.setInsertionPointToEnd(result->module->getBody());
  function = mlir::func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(function.addEntryBlock());
}

std::unique_ptr<FragmentTemplate> TemplateBuilder::build() {
  DiagnosticText discarded(builder.getContext());
  llvm::SmallVector<mlir::Block *> bodies;
  for (mlir::func::FuncOp fragment : functions)
    bodies.push_back(&fragment.getBody().front());
  if (!addArguments() || !addBlock(bodies))
    return nullptr;
  addFreeInputs();
  finish();
  return mlir::succeeded(result->module->verify()) ? std::move(result) : nullptr;
}

bool TemplateBuilder::addArguments() {
  // Dims are at least 1: what is true of them need not be true of nothing.
  std::set<SizeValues> different;
  for (mlir::BlockArgument argument : functions.back().getArguments())
    for (unsigned axis = 0, rank = getTensorType(argument).getRank(); axis < rank; ++axis) {
      SizeValues values = getArgumentSizes(argument, axis);
      if (llvm::is_contained(values, 0))
        return false;
      if (!llvm::all_equal(values))
        different.insert(std::move(values));
    }
  addDims(different);
  for (mlir::BlockArgument argument : functions.back().getArguments()) {
    Shape shape;
    for (unsigned axis = 0, rank = getTensorType(argument).getRank(); axis < rank; ++axis)
      shape.push_back(*sizes.matchMultiple(getArgumentSizes(argument, axis)));
    mlir::Type type = mlir::ferrule::makeTensorType(getTensorType(argument).getElementType(), shape);
    mapping.map(argument, getBody()->addArgument(type, argument.getLoc()));
    result->argumentShapes.push_back(std::move(shape));
  }
  return true;
}

SizeValues TemplateBuilder::getArgumentSizes(mlir::BlockArgument argument, unsigned axis) {
  SizeValues values;
  for (mlir::func::FuncOp fragment : functions)
    values.push_back(getTensorType(fragment.getArgument(argument.getArgNumber())).getDimSize(axis));
  return values;
}

/// Dims of which all `different` sizes are multiples: labels [2 * n] beside data
/// [2, n, 16] have the dim n. The smaller come first, so a multiple finds its dim.
void TemplateBuilder::addDims(const std::set<SizeValues> &different) {
  for (const SizeValues &values : different) {
    if (sizes.matchMultiple(values))
      continue;
    int64_t factor = 0;
    for (int64_t value : values)
      factor = std::gcd(factor, value);
    if (factors == Factors::Ignore || factor == 1) {
      sizes.addDim(values);
      continue;
    }
    SizeValues parts;
    for (int64_t value : values)
      parts.push_back(value / factor);
    sizes.addDim(parts, /*isFree=*/true);
  }
}

bool TemplateBuilder::addBlock(llvm::ArrayRef<mlir::Block *> blocks) {
  llvm::SmallVector<mlir::Block::iterator, 4> places;
  for (mlir::Block *block : blocks)
    places.push_back(block->begin());
  while (places.front() != blocks.front()->end()) {
    Operations ops;
    for (mlir::Block::iterator &next : places)
      ops.push_back(&*next++);
    if (!addOp(ops))
      return false;
  }
  return true;
}

bool TemplateBuilder::addOp(const Operations &ops) {
  unsigned place = placeCount++;
  mlir::Operation *last = ops.back();
  if (getScalarConstant(last) && !addScalar(ops, place))
    return depth == 0; // A region takes no inputs.
  mlir::Operation *clone = builder.insert(last->cloneWithoutRegions(mapping));
  for (mlir::NamedAttribute attribute : last->getAttrs())
    if (llvm::isa<mlir::ferrule::DimsAttr>(attribute.getValue()))
      if (!addSizes(ops, attribute.getName(), clone, place))
        return false;
  if (last->getNumRegions() == 0)
    return inferTypes(clone, ops);
  return mlir::ferrule::isControlFlow(last) && addRegions(ops, clone);
}

/// The bodies of a branch or a loop, then the types of its results.
bool TemplateBuilder::addRegions(const Operations &ops, mlir::Operation *clone) {
  ++depth;
  mlir::Operation *last = ops.back();
  auto scan = llvm::dyn_cast<mlir::ferrule::ScanOp>(clone);
  unsigned firstSlice = mlir::ferrule::getCarryCount(clone), firstCapture = mlir::ferrule::getFirstCapture(clone);
  for (unsigned number = 0; number < clone->getNumRegions(); ++number) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    mlir::Block *block = builder.createBlock(&clone->getRegion(number));
    mlir::Block &pattern = last->getRegion(number).front();
    for (auto [index, operand] : llvm::enumerate(mlir::ferrule::getRegionOperands(clone))) {
      mlir::RankedTensorType type = getTensorType(operand.get());
      if (scan && index >= firstSlice && index < firstCapture)
        type = mlir::ferrule::getSliceType(type);
      mapping.map(pattern.getArgument(index), block->addArgument(type, operand.get().getLoc()));
    }
    llvm::SmallVector<mlir::Block *> blocks;
    for (mlir::Operation *op : ops)
      blocks.push_back(&op->getRegion(number).front());
    if (!addBlock(blocks))
      return false;
  }
  --depth;
  setRegionResults(clone);
  return describesAll(clone, ops);
}

/// A branch gives what its regions yield, a loop its carries; a scan also gives what it yields in each step, stacked.
void TemplateBuilder::setRegionResults(mlir::Operation *clone) {
  mlir::OperandRange yielded = mlir::ferrule::getYielded(clone->getRegion(clone->getNumRegions() - 1));
  auto scan = llvm::dyn_cast<mlir::ferrule::ScanOp>(clone);
  unsigned carries = mlir::ferrule::getCarryCount(clone);
  for (mlir::OpResult output : clone->getResults()) {
    mlir::RankedTensorType type = getTensorType(yielded[output.getResultNumber()]);
    bool isStacked = scan && output.getResultNumber() >= carries;
    output.setType(isStacked ? mlir::ferrule::getStackedType(scan.getStepCount(), type) : type);
  }
}

bool TemplateBuilder::addSizes(const Operations &ops, mlir::StringAttr name, mlir::Operation *clone, unsigned place) {
  Shape shape;
  unsigned count = ops.back()->getAttrOfType<mlir::ferrule::DimsAttr>(name).getDims().size();
  for (unsigned index = 0; index < count; ++index) {
    SizeValues values;
    for (mlir::Operation *op : ops)
      values.push_back(*op->getAttrOfType<mlir::ferrule::DimsAttr>(name).getDims()[index].getConstant());
    std::optional<DimExpr> size = sizes.matchOrAdd(values);
    if (!size)
      return false;
    shape.push_back(*size);
  }
  clone->setAttr(name, toDimsAttribute(shape, builder.getContext()));
  result->sizedAttributes.push_back({place, name, std::move(shape)});
  return true;
}

/// Whether a scalar is the same everywhere; otherwise it becomes an input. That a
/// divisor is a size would be a guess, and an input serves whatever it is.
bool TemplateBuilder::addScalar(const Operations &ops, unsigned place) {
  mlir::ferrule::ConstantOp last = getScalarConstant(ops.back());
  bool isFixed = llvm::all_of(
      ops, [&](mlir::Operation *op) { return getScalarConstant(op).getValue() == last.getValue(); });
  result->scalars.push_back({place, isFixed ? last.getValue() : mlir::ElementsAttr()});
  if (!isFixed)
    mapping.map(last.getResult(), getBody()->addArgument(last.getType(), last.getLoc()));
  return isFixed;
}

/// Infers the clone's result types anew, and checks that they are those of all
/// fragments.
bool TemplateBuilder::inferTypes(mlir::Operation *clone, const Operations &ops) {
  auto rule = llvm::dyn_cast<mlir::InferTypeOpInterface>(clone);
  if (!rule)
    return clone->getNumResults() == 0;
  mlir::SmallVector<mlir::Type> types;
  if (mlir::failed(rule.inferReturnTypes(clone->getContext(), clone->getLoc(), clone->getOperands(),
                                         clone->getAttrDictionary(), clone->getPropertiesStorage(),
                                         clone->getRegions(), types)))
    return false;
  for (auto [output, type] : llvm::zip_equal(clone->getResults(), types))
    output.setType(type);
  return describesAll(clone, ops);
}

/// Whether the results of `clone` have the types of all fragments.
bool TemplateBuilder::describesAll(mlir::Operation *clone, const Operations &ops) const {
  for (mlir::OpResult output : clone->getResults())
    for (auto [fragment, op] : llvm::enumerate(ops))
      if (!describes(output, op->getResult(output.getResultNumber()), fragment))
        return false;
  return true;
}

/// Whether the symbolic shape of `value` takes the sizes of `instance` when the
/// dims have the values of fragment number `fragment`.
bool TemplateBuilder::describes(mlir::Value value, mlir::Value instance, unsigned fragment) const {
  return llvm::all_of(llvm::zip_equal(frontend::getShape(value), frontend::getShape(instance)), [&](auto pair) {
    auto &[size, actual] = pair;
    return sizes.evaluate(size, fragment) == actual.getConstant();
  });
}

void TemplateBuilder::addFreeInputs() {
  mlir::Type boolean = toElementType(DataType::Bool, builder.getContext());
  for (const SizeMatcher::Dim &dim : sizes.getDims()) {
    if (!dim.isFree)
      continue;
    getBody()->addArgument(mlir::ferrule::makeTensorType(boolean, {DimExpr::dim(dim.name), DimExpr(0)}),
                           builder.getUnknownLoc());
    result->freeDims.push_back(dim.name);
  }
}

void TemplateBuilder::finish() {
  mlir::Operation *returnOp = getBody()->getTerminator();
  function.setFunctionType(builder.getFunctionType(getBody()->getArgumentTypes(), returnOp->getOperandTypes()));
  auto name = [&](llvm::StringRef prefix, unsigned index) { return builder.getStringAttr(prefix + llvm::Twine(index)); };
  for (unsigned index = 0; index < function.getNumArguments(); ++index)
    function.setArgAttr(index, "ferrule.name", name("in.", index));
  for (unsigned index = 0; index < function.getNumResults(); ++index)
    function.setResultAttr(index, "ferrule.name", name("out.", index));
  function->setAttr("ferrule.signature", builder.getStringAttr("{}"));
  setUpperBounds();
  DimConstraints constraints;
  std::set<std::string> names;
  for (const auto &[dim, bound] : result->upperBounds) {
    constraints.declare(dim, {1, bound, 1});
    names.insert(dim);
  }
  setDimAttributes(*result->module, constraints, names);
}

/// Powers of two, as far over what has been seen as the memory budget allows.
void TemplateBuilder::setUpperBounds() {
  constexpr int64_t maxGrowth = 256;
  for (int64_t growth = maxGrowth; growth >= 1; growth /= 2) {
    for (const SizeMatcher::Dim &dim : sizes.getDims())
      result->upperBounds[dim.name] = growth * llvm::PowerOf2Ceil(*llvm::max_element(dim.values));
    if (getPlannedBytes() <= memoryBudget)
      return;
  }
}

uint64_t TemplateBuilder::getPlannedBytes() {
  auto bound = [&](const std::string &name) { return std::optional<int64_t>(result->upperBounds.at(name)); };
  uint64_t total = 0;
  for (mlir::Operation &op : *getBody())
    for (mlir::Value value : op.getResults()) {
      std::optional<int64_t> bytes = mlir::ferrule::getByteCount(getTensorType(value)).evaluate(bound);
      total = llvm::SaturatingAdd(total, bytes ? uint64_t(std::max<int64_t>(0, *bytes)) : UINT64_MAX);
    }
  return total;
}

} // namespace ferrule::frontend
