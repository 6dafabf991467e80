#include "ir/plan/PlanOps.h"

#include <set>

using namespace mlir;
using namespace mlir::ferrule;
using namespace mlir::ferrule::plan;

//===------------------------------------------------------------------------------------------------------------===//
// Text
//===------------------------------------------------------------------------------------------------------------===//

/// ("image" : tensor<4xf32>, "label" : tensor<4xi32>)
static ParseResult parseTensors(OpAsmParser &parser, ArrayAttr &names, ArrayAttr &types) {
  SmallVector<Attribute> nameList, typeList;
  auto parseTensor = [&]() -> ParseResult {
    // Not a string attribute, which would take `: type` as its own.
    std::string name;
    Type type;
    if (parser.parseString(&name) || parser.parseColonType(type))
      return failure();
    nameList.push_back(parser.getBuilder().getStringAttr(name));
    typeList.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseTensor))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  types = parser.getBuilder().getArrayAttr(typeList);
  return success();
}

static void printTensors(OpAsmPrinter &printer, Operation *, ArrayAttr names, ArrayAttr types) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(names, types), printer, [&](auto pair) {
    auto [name, type] = pair;
    printer << name << " : " << cast<TypeAttr>(type).getValue();
  });
  printer << ")";
}

#define GET_OP_CLASSES
#include "ir/plan/Entry.cpp.inc"

void mlir::ferrule::plan::registerEntryOps(FerrulePlanDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/plan/Entry.cpp.inc"
      >();
}

//===------------------------------------------------------------------------------------------------------------===//
// entry
//===------------------------------------------------------------------------------------------------------------===//

SmallVector<Operation *> EntryOp::getInstructions() { return plan::getInstructions(getBody().front()); }

/// Every dim that sizes something is bound by an input, by a loop around or by an instruction before.
static LogicalResult verifyDims(EntryOp entry, Operation *op, ArrayRef<DimExpr> sizes,
                                const std::set<std::string> &known) {
  std::set<std::string> names;
  for (const DimExpr &size : sizes)
    size.collectDims(names);
  for (const std::string &name : names)
    if (!known.count(name))
      return op->emitError() << "entry " << entry.getSymName() << ": the dim " << name
                             << " is not in the shape of any input, so a run cannot know its value";
  return success();
}

/// What instructions of `block` itself bind.
static void addBoundDims(Block &block, std::set<std::string> &known) {
  for (BindDimOp bind : block.getOps<BindDimOp>())
    known.insert(bind.getDim().getName().str());
}

LogicalResult EntryOp::verify() {
  if (getInputNames().size() != getInputTypes().size() || getOutputNames().size() != getOutputTypes().size())
    return emitOpError("has not one name for each type of its inputs and outputs");
  std::set<std::string> known;
  for (Attribute dim : getDims())
    if (!known.insert(cast<DimAttr>(dim).getName().str()).second)
      return emitOpError("has the dim ") << cast<DimAttr>(dim).getName() << " twice";
  auto verifyTypes = [&](ArrayAttr types) -> LogicalResult {
    for (Attribute attribute : types) {
      auto type = dyn_cast<RankedTensorType>(cast<TypeAttr>(attribute).getValue());
      if (!type || !hasDims(type))
        return emitOpError("has an input or output of type ") << attribute << "; it must be a tensor with known sizes";
      if (failed(verifyDims(*this, *this, mlir::ferrule::getDims(type), known)))
        return failure();
    }
    return success();
  };
  if (failed(verifyTypes(getInputTypes())))
    return failure();
  addBoundDims(getBody().front(), known);
  if (failed(verifyTypes(getOutputTypes())))
    return failure();
  for (Attribute equality : getEqualities()) {
    ArrayRef<DimExpr> sides = cast<DimsAttr>(equality).getDims();
    if (sides.size() != 2)
      return emitOpError("has an equality of ") << sides.size() << " sizes";
    if (failed(verifyDims(*this, *this, sides, known)))
      return failure();
  }
  if (getLowerBoundBytes() > getPeakBytes())
    return emitOpError("has a peak of ") << getPeakBytes() << " bytes, below the lower bound of "
                                         << getLowerBoundBytes();
  return success();
}

/// A dim that a block makes known has a name of its own.
static LogicalResult addDim(Operation *op, StringRef name, std::set<std::string> &known) {
  if (!known.insert(name.str()).second)
    return op->emitOpError("makes known the dim ") << name << ", which is known already";
  return success();
}

/// A buffer is used while it is live, by the instruction of its own block in which the use lies.
static LogicalResult verifyLive(Operation *op, Value operand, DenseMap<Operation *, uint64_t> &numbers) {
  BufferOp buffer = getBuffer(operand);
  uint64_t time = numbers.lookup(getInstructionIn(buffer->getBlock(), op));
  if (time < buffer.getBegin() || time > buffer.getEnd())
    return op->emitOpError("is instruction ")
           << time << " and uses the buffer \"" << buffer.getName() << "\", which is live from " << buffer.getBegin()
           << " to " << buffer.getEnd();
  return success();
}

/// Only buffers, views and instructions; each dim known; each use of a buffer while it is live. A buffer's size may use
/// a dim that its block binds further down: what computes the buffer may be what finds out the dim.
static LogicalResult verifyBlock(EntryOp entry, Block &block, std::set<std::string> known,
                                 DenseMap<Operation *, uint64_t> &numbers) {
  uint64_t time = 0;
  std::set<std::string> later = known;
  addBoundDims(block, later);
  for (Operation &op : block) {
    if (!isa<BufferOp, ViewOp, CallOp, CopyOp, BindDimOp>(op) && !isControlFlow(&op))
      return op.emitOpError("stands in a plan, which holds buffers and instructions only");
    for (NamedAttribute attribute : op.getAttrs())
      if (auto sizes = dyn_cast<DimsAttr>(attribute.getValue());
          sizes && failed(verifyDims(entry, &op, sizes.getDims(), isa<BufferOp>(op) ? later : known)))
        return failure();
    if (isa<BufferOp, ViewOp>(op))
      continue;
    numbers[&op] = time++;
    for (Value operand : op.getOperands())
      if (failed(verifyLive(&op, operand, numbers)))
        return failure();
    if (auto bind = dyn_cast<BindDimOp>(op); bind && failed(addDim(&op, bind.getDim().getName(), known)))
      return failure();
    std::set<std::string> inner = known;
    if (auto loop = dyn_cast<LoopOp>(op); loop && failed(addDim(&op, loop.getDim(), inner)))
      return failure();
    for (Region &region : op.getRegions())
      if (failed(verifyBlock(entry, region.front(), inner, numbers)))
        return failure();
  }
  return success();
}

LogicalResult EntryOp::verifyRegions() {
  std::set<std::string> known;
  for (Attribute dim : getDims())
    known.insert(cast<DimAttr>(dim).getName().str());
  DenseMap<Operation *, uint64_t> numbers;
  return verifyBlock(*this, getBody().front(), known, numbers);
}

//===------------------------------------------------------------------------------------------------------------===//
// kernel
//===------------------------------------------------------------------------------------------------------------===//

DispatchOp KernelOp::getDispatch() { return cast<DispatchOp>(getBody().front().front()); }

LogicalResult KernelOp::verifyRegions() {
  Block &block = getBody().front();
  auto dispatch = llvm::hasSingleElement(block) ? dyn_cast<DispatchOp>(block.front()) : DispatchOp();
  if (!dispatch)
    return emitOpError("holds one ferrule.dispatch and nothing else");
  if (!llvm::equal(dispatch.getInputs(), block.getArguments()))
    return emitOpError("has a dispatch whose operands are not the kernel's arguments in order");
  return success();
}

// ferrule_plan.kernel @add.0(%x: tensor<4xf32>) { %0 = ferrule.dispatch(%a = %x : tensor<4xf32>) ... }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  Region *body = result.addRegion();
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << "(";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
