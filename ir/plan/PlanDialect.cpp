#include "ir/plan/PlanDialect.h"

#include "ir/plan/PlanOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ferrule;
using namespace mlir::ferrule::plan;

#include "ir/plan/PlanDialect.cpp.inc"
#include "ir/plan/PlanEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/plan/PlanAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/plan/PlanTypes.cpp.inc"

LogicalResult DimAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t min,
                              int64_t max, int64_t multipleOf) {
  if (!DimExpr::dim(std::string_view(name.data(), name.size())).isValid())
    return emitError() << "'" << name << "' is no dim name";
  if (min < 0 || max < min || multipleOf < 1)
    return emitError() << "the dim " << name << " has min = " << min << ", max = " << max
                       << ", multiple_of = " << multipleOf << "; 0 <= min <= max and multiple_of >= 1 must hold";
  return success();
}

void FerrulePlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/plan/PlanTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/plan/PlanAttributes.cpp.inc"
      >();
  registerBufferOps(*this);
  registerControlFlowOps(*this);
  registerInstructionOps(*this);
  registerEntryOps(*this);
}
