#include "ir/plan/PlanOps.h"

#include "ir/graph/Layout.h"
#include "ir/graph/State.h"

using namespace mlir;
using namespace mlir::ferrule;
using namespace mlir::ferrule::plan;

#define GET_OP_CLASSES
#include "ir/plan/Buffer.cpp.inc"

void mlir::ferrule::plan::registerBufferOps(FerrulePlanDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/plan/Buffer.cpp.inc"
      >();
}

LogicalResult ArenaOp::verify() {
  uint64_t alignment = getAlignment();
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    return emitOpError("has the alignment ") << alignment << ", which is not a power of two";
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// buffer: checks
//===------------------------------------------------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  bool named = getStorage() == Storage::Arena || getStorage() == Storage::Variable || getStorage() == Storage::Constant;
  if (named != getSymbol().has_value() || named == getNumber().has_value())
    return emitOpError("in the storage ")
           << stringifyStorage(getStorage())
           << (named ? " needs a symbol and no number" : " needs a number and no symbol");
  if (getStorage() != Storage::Arena && (getOffset() != 0 || getAliasGroup() != 0))
    return emitOpError("has an offset or an alias group, which only arena buffers have");
  if (getSize().getDims().size() != 1)
    return emitOpError("has ") << getSize().getDims().size() << " sizes; a size in bytes is one expression";
  if (std::optional<int64_t> bytes = getBytes().getConstant(); bytes && uint64_t(*bytes) > getPlannedSize())
    return emitOpError("has ") << *bytes << " bytes where " << getPlannedSize() << " are planned";
  if (getStorage() != Storage::Arena && getKind() != BufferKind::Unspecified)
    return emitOpError("is not of the arena and has the kind ") << stringifyBufferKind(getKind());
  if (getEnd() < getBegin())
    return emitOpError("is live from instruction ") << getBegin() << " to " << getEnd() << ", which comes before";
  return success();
}

/// Inputs and outputs exist and have the buffer's bytes.
static LogicalResult verifyTensor(BufferOp buffer, ArrayAttr types) {
  uint64_t number = *buffer.getNumber();
  StringRef storage = stringifyStorage(buffer.getStorage());
  if (number >= types.size())
    return buffer.emitOpError("is ") << storage << " number " << number << " of an entry that has " << types.size();
  DimExpr expected = getByteCount(cast<RankedTensorType>(cast<TypeAttr>(types[number]).getValue()));
  if (expected != buffer.getBytes())
    return buffer.emitOpError("has ") << buffer.getBytes().str() << " bytes but " << storage << " number " << number
                                      << " has " << expected.str();
  return success();
}

static LogicalResult verifyInArena(BufferOp buffer, ArenaOp arena) {
  if (buffer.getOffset() % arena.getAlignment() != 0)
    return buffer.emitOpError("lies at ")
           << buffer.getOffset() << ", which is not a multiple of " << arena.getAlignment();
  if (buffer.getOffset() > arena.getByteSize() || buffer.getPlannedSize() > arena.getByteSize() - buffer.getOffset())
    return buffer.emitOpError("ends beyond the ") << arena.getByteSize() << " bytes of its arena";
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto entry = (*this)->getParentOfType<EntryOp>();
  if (getStorage() == Storage::Input)
    return verifyTensor(*this, entry.getInputTypes());
  if (getStorage() == Storage::Output)
    return verifyTensor(*this, entry.getOutputTypes());

  Operation *target = symbols.lookupNearestSymbolFrom(*this, getSymbolAttr());
  if (auto arena = dyn_cast_or_null<ArenaOp>(target); arena && getStorage() == Storage::Arena)
    return verifyInArena(*this, arena);
  RankedTensorType type;
  if (auto variable = dyn_cast_or_null<VariableOp>(target); variable && getStorage() == Storage::Variable)
    type = getPhysicalType(cast<RankedTensorType>(variable.getType()), variable.getLayoutAttr());
  if (auto constant = dyn_cast_or_null<plan::ConstantOp>(target); constant && getStorage() == Storage::Constant)
    type = cast<RankedTensorType>(constant.getValue().getType());
  if (!type)
    return emitOpError("names ") << getSymbolAttr() << ", which the module does not have as "
                                 << stringifyStorage(getStorage());
  if (getByteCount(type) != getBytes())
    return emitOpError("has ") << getBytes().str() << " bytes but " << getSymbolAttr() << " has "
                               << getByteCount(type).str();
  return success();
}

LogicalResult ViewOp::verify() {
  if (getOffset().getDims().size() != 1 || getSize().getDims().size() != 1)
    return emitOpError("has ") << getOffset().getDims().size() << " offsets and " << getSize().getDims().size()
                               << " sizes; each is one expression";
  if (getBuffer().getDefiningOp<ViewOp>())
    return emitOpError("is a view of a view");
  BufferOp buffer = plan::getBuffer(getBuffer());
  std::optional<int64_t> offset = plan::getOffset(getResult()).getConstant(), size = getBytes(getResult()).getConstant();
  std::optional<int64_t> whole = buffer.getBytes().getConstant();
  if (offset && size && whole && (*offset < 0 || *offset + *size > *whole))
    return emitOpError("takes ") << *size << " bytes from byte " << *offset << " on of the buffer \""
                                 << buffer.getName() << "\", which has " << *whole;
  return success();
}

BufferOp mlir::ferrule::plan::getBuffer(Value operand) {
  if (auto view = operand.getDefiningOp<ViewOp>())
    operand = view.getBuffer();
  return operand.getDefiningOp<BufferOp>();
}

DimExpr mlir::ferrule::plan::getOffset(Value operand) {
  auto view = operand.getDefiningOp<ViewOp>();
  return view ? view.getOffset().getDims().front() : DimExpr(0);
}

DimExpr mlir::ferrule::plan::getBytes(Value operand) {
  auto view = operand.getDefiningOp<ViewOp>();
  return view ? view.getSize().getDims().front() : plan::getBuffer(operand).getBytes();
}

bool BufferOp::overlaps(BufferOp other) {
  if (getStorage() != Storage::Arena || other.getStorage() != Storage::Arena || getSymbol() != other.getSymbol())
    return false;
  return getOffset() < other.getOffset() + other.getPlannedSize() && other.getOffset() < getOffset() + getPlannedSize();
}

//===------------------------------------------------------------------------------------------------------------===//
// buffer: text
//===------------------------------------------------------------------------------------------------------------===//

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), getName()); }

/// `keyword` and a 64-bit number.
static ParseResult parseNumber(OpAsmParser &parser, OperationState &result, StringRef keyword, StringRef attribute) {
  int64_t value = 0;
  if (parser.parseKeyword(keyword) || parser.parseInteger(value))
    return failure();
  result.addAttribute(attribute, parser.getBuilder().getI64IntegerAttr(value));
  return success();
}

static ParseResult parseOptionalNumber(OpAsmParser &parser, OperationState &result, StringRef keyword,
                                       StringRef attribute) {
  int64_t value = 0;
  if (succeeded(parser.parseOptionalKeyword(keyword)) && parser.parseInteger(value))
    return failure();
  result.addAttribute(attribute, parser.getBuilder().getI64IntegerAttr(value));
  return success();
}

/// `of` and the type of the elements, or nothing.
static ParseResult parseElement(OpAsmParser &parser, OperationState &result, StringRef attribute) {
  Type element;
  if (failed(parser.parseOptionalKeyword("of")))
    return success();
  if (parser.parseType(element))
    return failure();
  result.addAttribute(attribute, TypeAttr::get(element));
  return success();
}

/// `as` and a kind, or nothing.
static ParseResult parseKind(OpAsmParser &parser, OperationState &result, StringRef attribute) {
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword("as")))
    return success();
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<BufferKind> kind = symbolizeBufferKind(keyword);
  if (!kind)
    return parser.emitError(location) << "'" << keyword << "' is no kind of buffer";
  result.addAttribute(attribute, BufferKindAttr::get(parser.getContext(), *kind));
  return success();
}

// %add = ferrule_plan.buffer arena @arena offset 64 size <[batch * 4]> planned 256 live 1 to 3 alias 1 "add" as residual of f32
ParseResult BufferOp::parse(OpAsmParser &parser, OperationState &result) {
  StringRef keyword;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<Storage> storage = symbolizeStorage(keyword);
  if (!storage)
    return parser.emitError(location) << "'" << keyword
                                      << "' is no storage; arena, variable, constant, input, output are";
  result.addAttribute(getStorageAttrName(result.name), StorageAttr::get(parser.getContext(), *storage));

  StringAttr symbol;
  std::string name;
  int64_t number = 0;
  if (succeeded(parser.parseOptionalSymbolName(symbol)))
    result.addAttribute(getSymbolAttrName(result.name), FlatSymbolRefAttr::get(symbol));
  else if (OptionalParseResult parsed = parser.parseOptionalInteger(number); parsed.has_value() && succeeded(*parsed))
    result.addAttribute(getNumberAttrName(result.name), parser.getBuilder().getI64IntegerAttr(number));

  if (parseOptionalNumber(parser, result, "offset", getOffsetAttrName(result.name)) || parser.parseKeyword("size"))
    return failure();
  auto size = dyn_cast_or_null<DimsAttr>(DimsAttr::parse(parser, {}));
  if (!size)
    return failure();
  result.addAttribute(getSizeAttrName(result.name), size);
  if (parseNumber(parser, result, "planned", getPlannedSizeAttrName(result.name)) ||
      parseNumber(parser, result, "live", getBeginAttrName(result.name)) ||
      parseNumber(parser, result, "to", getEndAttrName(result.name)) ||
      parseOptionalNumber(parser, result, "alias", getAliasGroupAttrName(result.name)) || parser.parseString(&name) ||
      parseKind(parser, result, getKindAttrName(result.name)) ||
      parseElement(parser, result, getElementAttrName(result.name)) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  result.addAttribute(getNameAttrName(result.name), parser.getBuilder().getStringAttr(name));
  result.addTypes(BufferType::get(parser.getContext()));
  return success();
}

void BufferOp::print(OpAsmPrinter &printer) {
  printer << " " << stringifyStorage(getStorage());
  if (getSymbolAttr())
    printer << " " << getSymbolAttr();
  if (getNumber())
    printer << " " << *getNumber();
  if (getStorage() == Storage::Arena)
    printer << " offset " << getOffset();
  printer << " size ";
  getSize().print(printer);
  printer << " planned " << getPlannedSize() << " live " << getBegin() << " to " << getEnd();
  if (getAliasGroup() != 0)
    printer << " alias " << getAliasGroup();
  printer << " " << getNameAttr();
  if (getKind() != BufferKind::Unspecified)
    printer << " as " << stringifyBufferKind(getKind());
  if (getElementAttr())
    printer << " of " << getElementAttr();
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
}
