#include "ir/graph/ModuleDims.h"

#include "ir/graph/FerruleDialect.h"
#include "ir/graph/Nonzero.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::ferrule {

using ::ferrule::DimConstraints;
using ::ferrule::DimRange;

/// `forPlanning`: a missing max is replaced by plan_at.
static LogicalResult declareDim(ModuleOp module, NamedAttribute entry, bool forPlanning, DimConstraints &constraints) {
  StringRef name = entry.getName();
  auto bounds = dyn_cast<DictionaryAttr>(entry.getValue());
  if (!bounds || !DimExpr::dim(std::string_view(name.data(), name.size())).isValid())
    return module.emitError() << "ferrule.dims: '" << name << "' must be a dim name with a dictionary of bounds";
  DimRange range;
  int64_t planAt = 0;
  for (NamedAttribute bound : bounds) {
    auto value = dyn_cast<IntegerAttr>(bound.getValue());
    int64_t *field = llvm::StringSwitch<int64_t *>(bound.getName().strref())
                         .Case("min", &range.min)
                         .Case("max", &range.max)
                         .Case("multiple_of", &range.multipleOf)
                         .Case("plan_at", &planAt)
                         .Default(nullptr);
    if (!value || !field)
      return module.emitError() << "ferrule.dims: '" << name << "' has the entry " << bound.getName()
                                << "; allowed are min, max, multiple_of and plan_at, as integers";
    *field = value.getInt();
  }
  if (range.min < 0 || range.max < range.min || range.multipleOf < 1)
    return module.emitError() << "ferrule.dims: '" << name << "' has min = " << range.min << ", max = " << range.max
                              << ", multiple_of = " << range.multipleOf
                              << "; 0 <= min <= max and multiple_of >= 1 must hold";
  if (forPlanning && planAt > 0 && range.max == DimRange::unbounded)
    range.max = std::max(planAt, range.min);
  constraints.declare(name.str(), range);
  return success();
}

/// Dims that ops give values. One name in several entries is as large as it is in any of them.
static void declareCountedDims(ModuleOp module, DimConstraints &constraints) {
  module.walk([&](NonzeroOp op) {
    std::optional<CountedDim> counted = getCountedDim(op);
    if (!counted)
      return;
    DimRange range{0, constraints.getBounds(counted->most).upper.value_or(DimRange::unbounded), 1};
    if (auto known = constraints.getRanges().find(counted->name); known != constraints.getRanges().end())
      range.max = std::max(range.max, known->second.max);
    constraints.declare(counted->name, range);
  });
}

static FailureOr<DimConstraints> readConstraints(ModuleOp module, bool forPlanning) {
  DimConstraints constraints;
  if (auto dims = module->getAttrOfType<DictionaryAttr>("ferrule.dims"))
    for (NamedAttribute entry : dims)
      if (failed(declareDim(module, entry, forPlanning, constraints)))
        return failure();
  if (auto equalities = module->getAttrOfType<ArrayAttr>("ferrule.equalities"))
    for (Attribute entry : equalities) {
      auto pair = dyn_cast<DimsAttr>(entry);
      if (!pair || pair.getDims().size() != 2)
        return module.emitError() << "ferrule.equalities: " << entry << " must be a #ferrule.dims of two expressions";
      constraints.addEquality(pair.getDims()[0], pair.getDims()[1]);
    }
  declareCountedDims(module, constraints);
  return constraints;
}

FailureOr<DimConstraints> getDimConstraints(ModuleOp module) { return readConstraints(module, /*forPlanning=*/false); }

FailureOr<DimConstraints> getPlanningConstraints(ModuleOp module) {
  return readConstraints(module, /*forPlanning=*/true);
}

LogicalResult setPlanAt(ModuleOp module, StringRef name, int64_t size, std::string &error) {
  auto dims = module->getAttrOfType<DictionaryAttr>("ferrule.dims");
  auto bounds = dims ? dims.getAs<DictionaryAttr>(name) : DictionaryAttr();
  FailureOr<DimConstraints> constraints = getDimConstraints(module);
  if (!bounds || failed(constraints)) {
    error = ("plan_at: no entry has a dim '" + name + "'").str();
    return failure();
  }
  DimRange range = constraints->getRange(name.str());
  if (range.max != DimRange::unbounded) {
    error = ("plan_at: dim '" + name + "' has the max " + Twine(range.max) +
             ", and its memory is planned for all of its range; plan_at is for dims without a max")
                .str();
    return failure();
  }
  if (size < range.min || size % range.multipleOf != 0) {
    error = ("plan_at: " + Twine(size) + " is no size of dim '" + name + "'; allowed is " + Twine(range.min) +
             " or more, a multiple of " + Twine(range.multipleOf))
                .str();
    return failure();
  }
  Builder builder(module.getContext());
  NamedAttrList changed(bounds);
  changed.set("plan_at", builder.getI64IntegerAttr(size));
  NamedAttrList all(dims);
  all.set(name, changed.getDictionary(module.getContext()));
  module->setAttr("ferrule.dims", all.getDictionary(module.getContext()));
  return success();
}

} // namespace mlir::ferrule
