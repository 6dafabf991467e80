#include "ir/graph/ModuleDims.h"

#include "ir/graph/FerruleDialect.h"

#include "llvm/ADT/StringSwitch.h"

namespace mlir::ferrule {

using ::ferrule::DimConstraints;
using ::ferrule::DimRange;

static LogicalResult declareDim(ModuleOp module, NamedAttribute entry, DimConstraints &constraints) {
  StringRef name = entry.getName();
  auto bounds = dyn_cast<DictionaryAttr>(entry.getValue());
  if (!bounds || !DimExpr::dim(std::string_view(name.data(), name.size())).isValid())
    return module.emitError() << "ferrule.dims: '" << name << "' must be a dim name with a dictionary of bounds";
  DimRange range;
  for (NamedAttribute bound : bounds) {
    auto value = dyn_cast<IntegerAttr>(bound.getValue());
    int64_t *field = llvm::StringSwitch<int64_t *>(bound.getName().strref())
                         .Case("min", &range.min)
                         .Case("max", &range.max)
                         .Case("multiple_of", &range.multipleOf)
                         .Default(nullptr);
    if (!value || !field)
      return module.emitError() << "ferrule.dims: '" << name << "' has the entry " << bound.getName()
                                << "; allowed are min, max and multiple_of, as integers";
    *field = value.getInt();
  }
  if (range.min < 0 || range.max < range.min || range.multipleOf < 1)
    return module.emitError() << "ferrule.dims: '" << name << "' has min = " << range.min << ", max = " << range.max
                              << ", multiple_of = " << range.multipleOf
                              << "; 0 <= min <= max and multiple_of >= 1 must hold";
  constraints.declare(name.str(), range);
  return success();
}

FailureOr<DimConstraints> getDimConstraints(ModuleOp module) {
  DimConstraints constraints;
  if (auto dims = module->getAttrOfType<DictionaryAttr>("ferrule.dims"))
    for (NamedAttribute entry : dims)
      if (failed(declareDim(module, entry, constraints)))
        return failure();
  if (auto equalities = module->getAttrOfType<ArrayAttr>("ferrule.equalities"))
    for (Attribute entry : equalities) {
      auto pair = dyn_cast<DimsAttr>(entry);
      if (!pair || pair.getDims().size() != 2)
        return module.emitError() << "ferrule.equalities: " << entry << " must be a #ferrule.dims of two expressions";
      constraints.addEquality(pair.getDims()[0], pair.getDims()[1]);
    }
  return constraints;
}

} // namespace mlir::ferrule
