#include "ir/graph/State.h"

#include "ir/graph/Families.h"
#include "ir/graph/Layout.h"

namespace mlir::ferrule {

LogicalResult VariableOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("has the type ") << type << "; a variable has static sizes";
  if (std::optional<ElementsAttr> value = getValue(); value && value->getShapedType() != type)
    return emitOpError("has an initial value of type ") << value->getShapedType() << " and the type " << type;
  return success();
}

/// The variable of a read or assign has the type of the value.
static LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError("names the variable ") << name << ", which the module does not have";
  RankedTensorType expected = getPhysicalType(cast<RankedTensorType>(variable.getType()), variable.getLayoutAttr());
  if (expected != type)
    return op->emitOpError("has the type ") << type << " but the variable " << name << " is " << expected;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getType(), symbols);
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

} // namespace mlir::ferrule

#define GET_OP_CLASSES
#include "ir/graph/State.cpp.inc"

void mlir::ferrule::registerStateOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/State.cpp.inc"
      >();
}
