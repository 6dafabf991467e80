//===- FragmentTemplate.cpp - One program for many shapes -----------------===//

#include "frontend/core/FragmentTemplate.h"

#include "frontend/core/GraphTypes.h"
#include "frontend/core/TemplateBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstring>

namespace ferrule::frontend {
namespace {

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

/// An array without elements whose shape tells a size.
HostArray toSizeArray(int64_t size) {
  HostArray array;
  array.type = DataType::Bool;
  array.shape = {size, 0};
  array.buffer = HostBuffer::allocate(0);
  return array;
}

} // namespace

mlir::ferrule::ConstantOp getScalarConstant(mlir::Operation *op) {
  auto constant = llvm::dyn_cast<mlir::ferrule::ConstantOp>(op);
  bool isScalar = constant && llvm::cast<mlir::RankedTensorType>(constant.getType()).getRank() == 0;
  return isScalar ? constant : nullptr;
}

std::unique_ptr<FragmentTemplate> FragmentTemplate::create(llvm::ArrayRef<mlir::ModuleOp> fragments) {
  for (auto factors : {TemplateBuilder::Factors::Ignore, TemplateBuilder::Factors::Split})
    if (std::unique_ptr<FragmentTemplate> result = TemplateBuilder(fragments, factors).build())
      return result;
  return nullptr;
}

/// Walks a fragment beside the lists of its template.
class FragmentTemplate::Matching {
public:
  explicit Matching(const FragmentTemplate &fragment) : shared(fragment) {}

  bool run(mlir::func::FuncOp function) {
    if (!matchArguments(function))
      return false;
    sized = shared.sizedAttributes.begin();
    scalar = shared.scalars.begin();
    unsigned place = 0;
    mlir::WalkResult result = function.getBody().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
      return matchOp(op, place++) ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  std::vector<HostArray> takeInputs() {
    for (const std::string &dim : shared.freeDims)
      inputs.push_back(toSizeArray(values.at(dim)));
    return std::move(inputs);
  }

private:
  /// A multiple of a dim may stand before the axis that tells the dim.
  bool matchArguments(mlir::func::FuncOp function) {
    for (bool areDims : {true, false})
      for (auto [argument, shape] : llvm::zip_equal(function.getArguments(), shared.argumentShapes))
        for (auto [actual, size] :
             llvm::zip_equal(llvm::cast<mlir::RankedTensorType>(argument.getType()).getShape(), shape))
          if (size.getDimName().has_value() == areDims && !bind(size, actual))
            return false;
    return true;
  }

  bool matchOp(mlir::Operation *op, unsigned place) {
    for (; sized != shared.sizedAttributes.end() && sized->op == place; ++sized) {
      auto actual = op->getAttrOfType<mlir::ferrule::DimsAttr>(sized->name).getDims();
      if (!llvm::all_of(llvm::zip_equal(sized->dims, actual),
                        [&](auto pair) { return bind(std::get<0>(pair), *std::get<1>(pair).getConstant()); }))
        return false;
    }
    if (scalar == shared.scalars.end() || scalar->op != place)
      return true;
    mlir::ElementsAttr value = getScalarConstant(op).getValue(), wanted = (scalar++)->value;
    if (!wanted)
      inputs.push_back(toHostArray(llvm::cast<mlir::DenseElementsAttr>(value)));
    return !wanted || wanted == value;
  }

  /// Whether `size` has the value `actual`. The first time that a dim occurs, its
  /// value is what makes it so.
  bool bind(const DimExpr &size, int64_t actual) {
    if (std::optional<int64_t> constant = size.getConstant())
      return *constant == actual;
    if (std::optional<std::string> dim = size.getDimName())
      return bindDim(*dim, actual);
    std::optional<int64_t> value = size.evaluate([&](const std::string &name) -> std::optional<int64_t> {
      auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional<int64_t>(found->second);
    });
    return value ? *value == actual : solve(size, actual);
  }

  /// Binds the one dim of a linear size, such as a multiple of a free dim.
  bool solve(const DimExpr &size, int64_t actual) {
    std::set<std::string> names;
    size.collectDims(names);
    if (names.size() != 1)
      return false;
    auto evaluateAt = [&](int64_t value) { return size.evaluate([&](const std::string &) { return std::optional(value); }); };
    std::optional<int64_t> offset = evaluateAt(0), next = evaluateAt(1);
    if (!offset || !next || *next <= *offset)
      return false;
    int64_t value = (actual - *offset) / (*next - *offset);
    return evaluateAt(value) == actual && bindDim(*names.begin(), value);
  }

  bool bindDim(const std::string &dim, int64_t value) {
    return value >= 1 && value <= shared.upperBounds.at(dim) && values.try_emplace(dim, value).first->second == value;
  }

  const FragmentTemplate &shared;
  DimValues values;
  std::vector<SizedAttribute>::const_iterator sized;
  std::vector<ScalarConstant>::const_iterator scalar;
  std::vector<HostArray> inputs;
};

std::optional<std::vector<HostArray>> FragmentTemplate::match(mlir::ModuleOp fragment) const {
  Matching matching(*this);
  if (!matching.run(*fragment.getOps<mlir::func::FuncOp>().begin()))
    return std::nullopt;
  return matching.takeInputs();
}

} // namespace ferrule::frontend
