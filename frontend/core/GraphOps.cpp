//===- GraphOps.cpp - Making ops of the graph dialect ---------------------===//

#include "frontend/core/GraphOps.h"

#include "frontend/core/Diagnostics.h"
#include "frontend/core/Error.h"
#include "ir/graph/GraphBuilder.h"

#include "llvm/ADT/SmallString.h"

namespace ferrule::frontend {
namespace {

std::string describeOperands(mlir::ValueRange operands) {
  std::string text;
  for (mlir::Value operand : operands)
    text += (text.empty() ? "" : ", ") + mlir::ferrule::describe(operand);
  return text;
}

/// The type rules write "dtype" when that is what they refuse.
ErrorKind classify(llvm::StringRef text) {
  if (text.contains("attribute"))
    return ErrorKind::Value;
  return text.contains("dtype") ? ErrorKind::DType : ErrorKind::Shape;
}

llvm::Error refuse(llvm::StringRef name, llvm::StringRef reason, mlir::ValueRange operands, const CallSite &site) {
  // Some messages begin with the op's full name, some with the short one.
  reason.consume_front("ferrule.");
  reason.consume_front((name + ": ").str());
  std::string text = (name + ": " + reason).str();
  bool namesOperands =
      llvm::all_of(operands, [&](mlir::Value operand) { return reason.contains(mlir::ferrule::describe(operand)); });
  if (!namesOperands)
    text += "; the operands are " + describeOperands(operands);
  return makeError(classify(reason), text + describeSite(site));
}

/// As createOp, for an op with one result.
llvm::Expected<mlir::Value> createValue(OpStream &stream, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                        llvm::ArrayRef<mlir::NamedAttribute> attributes, const CallSite &site) {
  llvm::Expected<mlir::Operation *> op = createOp(stream, name, operands, attributes, site);
  if (!op)
    return op.takeError();
  return (*op)->getResult(0);
}

} // namespace

std::optional<mlir::RegisteredOperationName> findOp(llvm::StringRef name, mlir::MLIRContext *context) {
  llvm::SmallString<32> fullName("ferrule.");
  fullName += name;
  return mlir::RegisteredOperationName::lookup(fullName, context);
}

std::string describeSite(const CallSite &site) {
  std::string text = ", at " + site.location.str();
  if (!site.modulePath.empty())
    text += ", in module " + site.modulePath.str();
  return text;
}

llvm::Expected<mlir::Operation *> createOp(OpStream &stream, llvm::StringRef name, llvm::ArrayRef<mlir::Value> operands,
                                           llvm::ArrayRef<mlir::NamedAttribute> attributes, const CallSite &site) {
  mlir::MLIRContext *context = stream.getContext();
  std::optional<mlir::RegisteredOperationName> registered = findOp(name, context);
  if (!registered)
    return makeError(ErrorKind::Unsupported, "there is no op `" + name + "`" + describeSite(site));
  mlir::Location location = stream.toMLIRLocation(site.location);
  OpSignature signature(*registered, operands, attributes);
  if (mlir::Operation *op = stream.getPrototypes().create(signature, location, operands))
    return stream.getBuilder().insert(op);
  DiagnosticText diagnostics(context);
  mlir::FailureOr<mlir::Operation *> op =
      mlir::ferrule::createOp(stream.getBuilder(), location, registered->getStringRef(), operands, attributes);
  if (mlir::succeeded(op)) {
    stream.getPrototypes().add(signature, *op);
    return *op;
  }
  mlir::SmallVector<mlir::Value> present;
  llvm::copy_if(operands, std::back_inserter(present), [](mlir::Value operand) { return bool(operand); });
  return refuse(name, diagnostics.text, present, site);
}

llvm::Expected<mlir::Value> createConstant(OpStream &stream, mlir::DenseElementsAttr value, const CallSite &site) {
  auto name = mlir::StringAttr::get(stream.getContext(), "value");
  return createValue(stream, "constant", {}, mlir::NamedAttribute(name, value), site);
}

llvm::Expected<mlir::Value> createCast(OpStream &stream, mlir::Value value, DataType type, const CallSite &site) {
  if (getType(value) == type)
    return value;
  mlir::MLIRContext *context = stream.getContext();
  auto name = mlir::StringAttr::get(context, "dtype");
  auto element = mlir::TypeAttr::get(toElementType(type, context));
  return createValue(stream, "cast", value, mlir::NamedAttribute(name, element), site);
}

llvm::Expected<mlir::Value> createBroadcast(OpStream &stream, mlir::Value value, llvm::ArrayRef<DimExpr> shape,
                                            const CallSite &site) {
  if (llvm::ArrayRef<DimExpr>(getShape(value)) == shape)
    return value;
  mlir::MLIRContext *context = stream.getContext();
  auto name = mlir::StringAttr::get(context, "shape");
  return createValue(stream, "broadcast_to", value, mlir::NamedAttribute(name, toDimsAttribute(shape, context)), site);
}

} // namespace ferrule::frontend
