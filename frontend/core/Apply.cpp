//===- Apply.cpp - The one way into the op stream -------------------------===//

#include "frontend/core/Apply.h"

#include "frontend/core/Error.h"
#include "frontend/core/Transforms.h"

#include "llvm/ADT/STLExtras.h"

namespace ferrule::frontend {
namespace {

const AttributeValue *findAttribute(const OpCall &call, llvm::StringRef name) {
  auto found = llvm::find_if(call.attributes, [&](const OpAttribute &entry) { return entry.name == name; });
  return found == call.attributes.end() ? nullptr : &found->value;
}

llvm::Error missingAttribute(const OpCall &call, llvm::StringRef name, const CallSite &site) {
  return makeError(ErrorKind::Value,
                   call.op + ": attribute `" + name + "` is missing or of the wrong kind" + describeSite(site));
}

llvm::Expected<Scalar> getScalarAttribute(PendingCall &call, llvm::StringRef name) {
  auto *value = findAttribute(call.call, name);
  if (value) {
    if (auto *flag = std::get_if<bool>(value))
      return Scalar(*flag);
    if (auto *integer = std::get_if<int64_t>(value))
      return Scalar(*integer);
    if (auto *integer = std::get_if<uint64_t>(value))
      return Scalar(*integer);
    if (auto *real = std::get_if<double>(value))
      return Scalar(*real);
  }
  return missingAttribute(call.call, name, call.site);
}

llvm::Expected<mlir::Value> applyFull(PendingCall &call, OpStream &stream) {
  auto *dtype = findAttribute(call.call, "dtype");
  if (!dtype || !std::holds_alternative<DataType>(*dtype))
    return missingAttribute(call.call, "dtype", call.site);
  auto *shape = findAttribute(call.call, "shape");
  if (!shape || !std::holds_alternative<Shape>(*shape))
    return missingAttribute(call.call, "shape", call.site);
  llvm::Expected<Scalar> number = getScalarAttribute(call, "value");
  if (!number)
    return number.takeError();
  llvm::Expected<mlir::DenseElementsAttr> elements =
      toElements(*number, std::get<DataType>(*dtype), stream.getContext());
  if (!elements)
    return elements.takeError();
  llvm::Expected<mlir::Value> constant = createConstant(stream, *elements, call.site);
  if (!constant)
    return constant.takeError();
  return createBroadcast(stream, *constant, std::get<Shape>(*shape), call.site);
}

/// The name among those that the op declares, which needs no look-up in the
/// context, or a new one, which the op then refuses.
mlir::StringAttr getAttributeName(llvm::ArrayRef<mlir::StringAttr> declared, llvm::StringRef name,
                                  mlir::MLIRContext *context) {
  auto found = llvm::find_if(declared, [&](mlir::StringAttr known) { return known.getValue() == name; });
  return found == declared.end() ? mlir::StringAttr::get(context, name) : *found;
}

llvm::Expected<mlir::SmallVector<mlir::NamedAttribute>> convertAttributes(PendingCall &call,
                                                                          mlir::MLIRContext *context) {
  mlir::SmallVector<mlir::NamedAttribute> attributes;
  if (call.call.attributes.empty())
    return attributes;
  std::optional<mlir::RegisteredOperationName> op = findOp(call.call.op, context);
  llvm::ArrayRef<mlir::StringAttr> declared = op ? op->getAttributeNames() : llvm::ArrayRef<mlir::StringAttr>();
  for (const OpAttribute &attribute : call.call.attributes) {
    llvm::Expected<mlir::Attribute> value = toAttribute(attribute.value, context);
    if (!value) {
      ErrorText text = takeErrorText(value.takeError());
      return makeError(text.kind, call.call.op + ": attribute `" + attribute.name + "`: " + text.message +
                                      describeSite(call.site));
    }
    attributes.emplace_back(getAttributeName(declared, attribute.name, context), *value);
  }
  return attributes;
}

/// Any op of the dialect.
llvm::Expected<mlir::SmallVector<mlir::Value>> applyOp(PendingCall &call, OpStream &stream) {
  if (llvm::Error error = promoteOperands(call, stream))
    return error;
  if (llvm::Error error = broadcastOperands(call, stream))
    return error;
  llvm::Expected<mlir::SmallVector<mlir::NamedAttribute>> attributes = convertAttributes(call, stream.getContext());
  if (!attributes)
    return attributes.takeError();
  mlir::SmallVector<mlir::Value> operands;
  for (const PendingOperand &operand : call.operands)
    operands.push_back(operand.value);
  llvm::Expected<mlir::Operation *> op = createOp(stream, call.call.op, operands, *attributes, call.site);
  if (!op)
    return op.takeError();
  recordEqualities(*op, stream, call.site.location);
  return mlir::SmallVector<mlir::Value>((*op)->getResults());
}

llvm::Expected<mlir::SmallVector<mlir::Value>> dispatch(PendingCall &call, OpStream &stream) {
  if (call.call.op != "full")
    return applyOp(call, stream);
  llvm::Expected<mlir::Value> value = applyFull(call, stream);
  if (!value)
    return value.takeError();
  return mlir::SmallVector<mlir::Value>{*value};
}

} // namespace

llvm::Expected<llvm::SmallVector<TensorRef, 2>> apply(OpStream &stream, const OpCall &call) {
  PendingCall pending{call, {call.location, call.modulePath}, {}};
  if (llvm::Error error = resolveOperands(pending, stream))
    return error;
  llvm::Expected<mlir::SmallVector<mlir::Value>> values = dispatch(pending, stream);
  if (!values)
    return values.takeError();
  llvm::SmallVector<TensorRef, 2> handles;
  for (mlir::Value value : *values)
    handles.push_back(stream.wrap(value, call.location));
  if (llvm::Error error = stream.didRecord())
    return error;
  return handles;
}

} // namespace ferrule::frontend
