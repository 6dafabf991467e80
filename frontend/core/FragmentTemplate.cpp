//===- FragmentTemplate.cpp - One program for many shapes -----------------===//

#include "frontend/core/FragmentTemplate.h"

#include "frontend/core/Diagnostics.h"
#include "frontend/core/GraphTypes.h"
#include "ir/graph/GraphBuilder.h"
#include "ir/graph/Shape.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/APSInt.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace ferrule::frontend {
namespace {

mlir::func::FuncOp getFunction(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }

/// The value of a rank-0 constant as the size that it may be.
std::optional<int64_t> getWholeNumber(mlir::ElementsAttr value) {
  auto elements = llvm::cast<mlir::DenseElementsAttr>(value);
  if (elements.getElementType().isInteger(1))
    return std::nullopt;
  if (elements.getElementType().isInteger())
    return elements.getSplatValue<llvm::APInt>().trySExtValue();
  llvm::APFloat real = elements.getSplatValue<llvm::APFloat>();
  llvm::APSInt whole(64, /*isUnsigned=*/false);
  bool isExact = false;
  real.convertToInteger(whole, llvm::APFloat::rmTowardZero, &isExact);
  return isExact ? std::optional<int64_t>(whole.getExtValue()) : std::nullopt;
}

/// A rank-0 constant in host memory.
HostArray toHostArray(mlir::DenseElementsAttr value) {
  HostArray array;
  array.type = fromElementType(value.getElementType());
  unsigned byteSize = getByteSize(array.type);
  array.buffer = HostBuffer::allocate(byteSize);
  if (array.type == DataType::Bool)
    *static_cast<bool *>(array.buffer->data()) = value.getSplatValue<bool>();
  else
    std::memcpy(array.buffer->data(), value.getRawData().data(), byteSize);
  return array;
}

/// `op` if it is a scalar constant.
mlir::ferrule::ConstantOp getScalar(mlir::Operation *op) {
  auto constant = llvm::dyn_cast<mlir::ferrule::ConstantOp>(op);
  bool isScalar = constant && llvm::cast<mlir::RankedTensorType>(constant.getType()).getRank() == 0;
  return isScalar ? constant : nullptr;
}

} // namespace

/// Walks two fragments side by side and writes the template.
class TemplateBuilder {
public:
  TemplateBuilder(mlir::func::FuncOp first, mlir::func::FuncOp second)
      : first(first), second(second), builder(second.getContext()) {}

  std::unique_ptr<FragmentTemplate> build() {
    DiagnosticText discarded(builder.getContext());
    begin();
    for (auto [a, b] : llvm::zip_equal(first.getArguments(), second.getArguments())) {
      if (hasEmptyAxis(a) || hasEmptyAxis(b))
        return nullptr; // Dims are at least 1: what is true of them need not be true of nothing.
      addArgument(a, b);
    }
    unsigned place = 0;
    for (auto [a, b] : llvm::zip_equal(first.getBody().front(), second.getBody().front()))
      if (!addOp(&a, &b, place++))
        return nullptr;
    finish();
    return std::move(result);
  }

private:
  static bool hasEmptyAxis(mlir::Value value) {
    return llvm::is_contained(llvm::cast<mlir::RankedTensorType>(value.getType()).getShape(), 0);
  }

  void begin() {
    result = std::make_unique<FragmentTemplate>();
    mlir::Location location = builder.getUnknownLoc();
    result->module = mlir::ModuleOp::create(location);
    builder.setInsertionPointToEnd(result->module->getBody());
    function = mlir::func::FuncOp::create(builder, location, "main", builder.getFunctionType({}, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
  }

  /// The dim that is `a` in the first fragment and `b` in the second.
  DimExpr getDim(int64_t a, int64_t b) {
    auto [entry, isNew] = dims.try_emplace({a, b}, DimExpr::dim("d" + std::to_string(dims.size())));
    if (isNew)
      result->upperBounds[*entry->second.getDimName()] = llvm::PowerOf2Ceil(std::max(a, b));
    return entry->second;
  }

  void addArgument(mlir::BlockArgument a, mlir::BlockArgument b) {
    Shape shape;
    auto typeA = llvm::cast<mlir::RankedTensorType>(a.getType());
    auto typeB = llvm::cast<mlir::RankedTensorType>(b.getType());
    for (auto [sizeA, sizeB] : llvm::zip_equal(typeA.getShape(), typeB.getShape()))
      shape.push_back(sizeA == sizeB ? DimExpr(sizeB) : getDim(sizeA, sizeB));
    mapping.map(b, getBody()->addArgument(mlir::ferrule::makeTensorType(typeB.getElementType(), shape), b.getLoc()));
    result->argumentShapes.push_back(std::move(shape));
  }

  /// The size that is `a` in the first fragment and `b` in the second.
  std::optional<DimExpr> matchSize(int64_t a, int64_t b) {
    if (a == b)
      return DimExpr(b);
    for (const auto &[values, dim] : dims)
      if (std::optional<int64_t> factor = getFactor(a, b, values))
        return dim * *factor;
    for (const auto &[left, leftDim] : dims)
      for (const auto &[right, rightDim] : dims)
        if (std::optional<int64_t> factor = getFactor(a, b, {left.first * right.first, left.second * right.second}))
          return leftDim * rightDim * *factor;
    return std::nullopt;
  }

  /// k where a = k * values.first and b = k * values.second.
  static std::optional<int64_t> getFactor(int64_t a, int64_t b, std::pair<int64_t, int64_t> values) {
    auto [x, y] = values;
    if (!x || !y || a % x || b % y || a / x != b / y || a < x)
      return std::nullopt;
    return a / x;
  }

  bool addOp(mlir::Operation *a, mlir::Operation *b, unsigned place) {
    if (mlir::ferrule::ConstantOp scalar = getScalar(b)) {
      mlir::ElementsAttr valueA = getScalar(a).getValue();
      if (valueA != scalar.getValue())
        return addFreeScalar(valueA, scalar, place);
      result->scalars.push_back({place, std::nullopt, valueA});
    }
    mlir::Operation *clone = builder.clone(*b, mapping);
    for (mlir::NamedAttribute attribute : b->getAttrs())
      if (auto dimsB = llvm::dyn_cast<mlir::ferrule::DimsAttr>(attribute.getValue()))
        if (!addSizes(a->getAttrOfType<mlir::ferrule::DimsAttr>(attribute.getName()), dimsB, attribute.getName(), clone,
                      place))
          return false;
    return inferTypes(clone, a, b);
  }

  bool addSizes(mlir::ferrule::DimsAttr a, mlir::ferrule::DimsAttr b, mlir::StringAttr name, mlir::Operation *clone,
                unsigned place) {
    Shape sizes;
    for (auto [dimA, dimB] : llvm::zip_equal(a.getDims(), b.getDims())) {
      std::optional<DimExpr> size = matchSize(*dimA.getConstant(), *dimB.getConstant());
      if (!size)
        return false;
      sizes.push_back(*size);
    }
    clone->setAttr(name, toDimsAttribute(sizes, builder.getContext()));
    result->sizedAttributes.push_back({place, name, std::move(sizes)});
    return true;
  }

  /// A scalar that differs: a size (what a mean divides by), or an input.
  bool addFreeScalar(mlir::ElementsAttr valueA, mlir::ferrule::ConstantOp scalar, unsigned place) {
    std::optional<int64_t> a = getWholeNumber(valueA);
    std::optional<int64_t> b = getWholeNumber(scalar.getValue());
    std::optional<DimExpr> size = a && b ? matchSize(*a, *b) : std::nullopt;
    result->scalars.push_back({place, size, {}});
    mlir::Value value = size ? createSize(*size, scalar) : createScalarInput(scalar);
    if (!value)
      return false;
    mapping.map(scalar.getResult(), value);
    return true;
  }

  mlir::Value createSize(const DimExpr &size, mlir::ferrule::ConstantOp scalar) {
    mlir::ferrule::GraphBuilder graph(builder, scalar.getLoc());
    mlir::FailureOr<mlir::Operation *> dim =
        mlir::ferrule::createOp(builder, scalar.getLoc(), "ferrule.dim", {},
                                builder.getNamedAttr("expr", toDimsAttribute(size, builder.getContext())));
    if (mlir::failed(dim))
      return nullptr;
    return graph.cast((*dim)->getResult(0), mlir::getElementTypeOrSelf(scalar.getType()));
  }

  mlir::Value createScalarInput(mlir::ferrule::ConstantOp scalar) {
    return getBody()->addArgument(scalar.getType(), scalar.getLoc());
  }

  /// Infers the clone's result types anew, and checks that they are those of
  /// both fragments.
  bool inferTypes(mlir::Operation *clone, mlir::Operation *a, mlir::Operation *b) {
    auto rule = llvm::dyn_cast<mlir::InferTypeOpInterface>(clone);
    if (!rule)
      return clone->getNumResults() == 0;
    mlir::SmallVector<mlir::Type> types;
    if (mlir::failed(rule.inferReturnTypes(clone->getContext(), clone->getLoc(), clone->getOperands(),
                                           clone->getAttrDictionary(), clone->getPropertiesStorage(),
                                           clone->getRegions(), types)))
      return false;
    for (auto [index, type] : llvm::enumerate(types)) {
      clone->getResult(index).setType(type);
      if (!describes(clone->getResult(index), a->getResult(index), 0) ||
          !describes(clone->getResult(index), b->getResult(index), 1))
        return false;
    }
    return true;
  }

  /// Whether the symbolic shape of `value` takes the sizes of `instance` when
  /// the dims have the values of fragment `which`.
  bool describes(mlir::Value value, mlir::Value instance, unsigned which) {
    auto valueOf = [&](const std::string &name) -> std::optional<int64_t> {
      for (const auto &[values, dim] : dims)
        if (dim.getDimName() == name)
          return which ? values.second : values.first;
      return std::nullopt;
    };
    for (auto [size, actual] : llvm::zip_equal(frontend::getShape(value), frontend::getShape(instance)))
      if (size.evaluate(valueOf) != actual.getConstant())
        return false;
    return true;
  }

  void finish() {
    auto returnOp = getBody()->getTerminator();
    function.setFunctionType(builder.getFunctionType(getBody()->getArgumentTypes(), returnOp->getOperandTypes()));
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      function.setArgAttr(index, "ferrule.name", name("in.", index));
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      function.setResultAttr(index, "ferrule.name", name("out.", index));
    function->setAttr("ferrule.signature", builder.getStringAttr("{}"));
    DimConstraints constraints;
    std::set<std::string> names;
    for (const auto &[dim, bound] : result->upperBounds) {
      constraints.declare(dim, {1, bound, 1});
      names.insert(dim);
    }
    setDimAttributes(*result->module, constraints, names);
  }

  mlir::Block *getBody() { return builder.getBlock(); }

  mlir::StringAttr name(llvm::StringRef prefix, unsigned index) {
    return builder.getStringAttr(prefix + llvm::Twine(index));
  }

  mlir::func::FuncOp first, second, function;
  mlir::OpBuilder builder;
  mlir::IRMapping mapping;
  std::unique_ptr<FragmentTemplate> result;
  std::map<std::pair<int64_t, int64_t>, DimExpr> dims;
};

std::unique_ptr<FragmentTemplate> FragmentTemplate::create(mlir::ModuleOp first, mlir::ModuleOp second) {
  return TemplateBuilder(getFunction(first), getFunction(second)).build();
}

//===----------------------------------------------------------------------===//
// Using a template
//===----------------------------------------------------------------------===//

namespace {

std::optional<int64_t> evaluate(const DimExpr &size, const std::map<std::string, int64_t> &values) {
  return size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
    auto found = values.find(name);
    if (found == values.end())
      return std::nullopt;
    return found->second;
  });
}

} // namespace

std::optional<FragmentTemplate::DimValues> FragmentTemplate::bindDims(mlir::func::FuncOp function) const {
  DimValues values;
  for (auto [argument, shape] : llvm::zip_equal(function.getArguments(), argumentShapes)) {
    auto type = llvm::cast<mlir::RankedTensorType>(argument.getType());
    for (auto [size, dim] : llvm::zip_equal(type.getShape(), shape)) {
      std::optional<std::string> name = dim.getDimName();
      if (!name) {
        if (dim.getConstant() != size)
          return std::nullopt;
        continue;
      }
      if (size < 1 || size > upperBounds.find(*name)->second || values.try_emplace(*name, size).first->second != size)
        return std::nullopt;
    }
  }
  return values;
}

bool FragmentTemplate::acceptsSizes(mlir::Operation *op, const SizedAttribute &sized, const DimValues &values) const {
  auto dims = op->getAttrOfType<mlir::ferrule::DimsAttr>(sized.name);
  return llvm::all_of(llvm::zip_equal(dims.getDims(), sized.dims), [&](auto pair) {
    auto [actual, size] = pair;
    return evaluate(size, values) == actual.getConstant();
  });
}

bool FragmentTemplate::acceptsScalar(mlir::Operation *op, const ScalarConstant &scalar, const DimValues &values) const {
  mlir::ElementsAttr value = getScalar(op).getValue();
  if (scalar.value)
    return scalar.value == value;
  return !scalar.size || evaluate(*scalar.size, values) == getWholeNumber(value);
}

bool FragmentTemplate::accepts(mlir::ModuleOp fragment) const {
  mlir::func::FuncOp function = getFunction(fragment);
  std::optional<DimValues> values = bindDims(function);
  if (!values)
    return false;
  auto sized = sizedAttributes.begin();
  auto scalar = scalars.begin();
  unsigned place = 0;
  for (mlir::Operation &op : function.getBody().front()) {
    for (; sized != sizedAttributes.end() && sized->op == place; ++sized)
      if (!acceptsSizes(&op, *sized, *values))
        return false;
    if (scalar != scalars.end() && scalar->op == place)
      if (!acceptsScalar(&op, *scalar++, *values))
        return false;
    ++place;
  }
  return true;
}

std::vector<HostArray> FragmentTemplate::getScalarInputs(mlir::ModuleOp fragment) const {
  std::vector<HostArray> inputs;
  auto scalar = scalars.begin();
  unsigned place = 0;
  for (mlir::Operation &op : getFunction(fragment).getBody().front()) {
    if (scalar != scalars.end() && scalar->op == place) {
      if (scalar->isInput())
        inputs.push_back(toHostArray(llvm::cast<mlir::DenseElementsAttr>(getScalar(&op).getValue())));
      ++scalar;
    }
    ++place;
  }
  return inputs;
}

} // namespace ferrule::frontend
