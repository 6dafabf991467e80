#include "ir/graph/ControlFlow.h"

#include "ir/graph/Families.h"

using namespace mlir;
using namespace mlir::ferrule;

#define GET_OP_CLASSES
#include "ir/graph/Dispatch.cpp.inc"

void mlir::ferrule::registerDispatchOps(FerruleDialect &dialect) {
  dialect.registerOps<
#define GET_OP_LIST
#include "ir/graph/Dispatch.cpp.inc"
      >();
}

OperandRange DispatchOp::getYielded() { return getBodyBlock().getTerminator()->getOperands(); }

// ferrule.dispatch(%arg0 = %x : tensor<4xf32>) -> tensor<4xf32> { ... }
ParseResult DispatchOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) || parser.parseColonType(argument.type));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput) ||
      parser.parseArrowTypeList(result.types) || parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*result.addRegion(), arguments))
    return failure();
  for (auto [operand, argument] : llvm::zip(operands, arguments))
    if (parser.resolveOperand(operand, argument.type, result.operands))
      return failure();
  return success();
}

void DispatchOp::print(OpAsmPrinter &printer) {
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBodyBlock().getArguments(), getInputs()), printer, [&](auto pair) {
    auto [argument, input] = pair;
    printer << argument << " = " << input << " : " << input.getType();
  });
  printer << ") -> (";
  llvm::interleaveComma(getResultTypes(), printer);
  printer << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}
