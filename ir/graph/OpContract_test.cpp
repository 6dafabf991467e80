// Walks all registered ops of the dialect and holds each to its contract, on the inputs of its data file in tests/ops:
// the type rule gives the types of the stated outputs, the gradient rule gives gradients of the operands' types or the
// op says why there is none, and it has a lowering and a cost.
#define CATCH_CONFIG_MAIN
#include "ir/graph/FerruleOps.h"
#include "ir/graph/GraphBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Ops without a data file, each with its reason.
const std::map<std::string, std::string> exempt = {
    {"variable", "a declaration"},
    {"read", "its type is the variable's"},
    {"assign", "it has no result"},
    {"dispatch", "made by the fuse pass"},
    {"yield", "ends a region"},
    {"if", "its results are what its regions compute (tests/e2e/control_flow_test.py)"},
    {"while", "its results are what its regions compute (tests/e2e/control_flow_test.py)"},
    {"custom_gradient", "its results are its values (frontend/ferrule/tests/custom_gradient_test.py)"},
    {"scan", "its results are what its regions compute (tests/e2e/control_flow_test.py)"},
    {"external", "its kernel is the caller's (frontend/ferrule/tests/external_op_test.py)"},
    {"attention", "made by the fuse-attention pass"},
    {"attention_gradient", "made by the fuse-attention pass"},
    {"pack", "made by the layout pass"},
    {"unpack", "made by the layout pass"},
    {"transpose_panels", "made by the layout pass"},
    {"panel_matmul", "made by the layout pass"},
    {"panel_take", "made by the layout pass"},
    {"panel_outer", "made by the layout pass"},
    {"image_convolution", "made by the layout pass"},
    {"image_convolution_input_gradient", "made by the layout pass"},
    {"image_convolution_weight_gradient", "made by the layout pass"},
    {"image_max_pool", "made by the layout pass"},
    {"image_max_pool_gradient", "made by the layout pass"},
    {"image_max_pool_select", "made by the layout pass"},
    {"image_avg_pool", "made by the layout pass"},
    {"image_avg_pool_gradient", "made by the layout pass"},
};

Type parseDtype(llvm::StringRef name, MLIRContext *context) {
  Builder b(context);
  if (name == "bool")
    return b.getI1Type();
  if (name == "float32")
    return b.getF32Type();
  if (name == "float64")
    return b.getF64Type();
  unsigned width = 0;
  REQUIRE_FALSE(name.drop_front(name.starts_with("u") ? 4 : 3).getAsInteger(10, width));
  return name.starts_with("u") ? Type(IntegerType::get(context, width, IntegerType::Unsigned))
                               : Type(b.getIntegerType(width));
}

RankedTensorType parseType(const llvm::json::Object &tensor, MLIRContext *context) {
  SmallVector<int64_t> shape;
  for (const llvm::json::Value &size : *tensor.getArray("shape"))
    shape.push_back(*size.getAsInteger());
  return RankedTensorType::get(shape, parseDtype(*tensor.getString("dtype"), context));
}

Attribute parseAttribute(llvm::StringRef name, const llvm::json::Value &value, MLIRContext *context) {
  Builder b(context);
  if (name == "dtype")
    return TypeAttr::get(parseDtype(*value.getAsString(), context));
  if (name == "value") {
    RankedTensorType type = parseType(*value.getAsObject(), context);
    return DenseElementsAttr::get(type, b.getZeroAttr(type.getElementType()));
  }
  if (name == "expr")
    return DimsAttr::get(context, DimExpr(*value.getAsInteger()));
  if (name == "eps" || name == "label_smooth")
    return b.getF64FloatAttr(*value.getAsNumber());
  if (std::optional<bool> flag = value.getAsBoolean())
    return b.getBoolAttr(*flag);
  if (std::optional<int64_t> number = value.getAsInteger())
    return b.getI64IntegerAttr(*number);
  SmallVector<int64_t> numbers;
  for (const llvm::json::Value &number : *value.getAsArray())
    numbers.push_back(*number.getAsInteger());
  if (name.ends_with("shape") || llvm::is_contained({"offsets", "starts", "stops", "k", "size"}, name))
    return DimsAttr::get(context, Dims(numbers.begin(), numbers.end()));
  return b.getDenseI64ArrayAttr(numbers);
}

/// Builds the rule for cotangents of the results' types and compares the gradients' types with the operands'.
void checkGradient(OpBuilder &builder, Operation *op) {
  auto interface = cast<FerruleOpInterface>(op);
  if (interface.getGradientKind() == GradientKind::NonDifferentiable) {
    CHECK_FALSE(interface.getNonDifferentiableReason().empty());
    return;
  }
  // Autodiff asks a rule only where a cotangent can come in.
  if (interface.getGradientKind() == GradientKind::Zero || llvm::none_of(op->getResults(), isFloat))
    return;
  // A mean or variance is no loss by itself; each result alone, then all together.
  for (unsigned chosen = 0; chosen <= op->getNumResults(); ++chosen) {
    SmallVector<Value> cotangents(op->getNumResults()), gradients(op->getNumOperands());
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (chosen == i || chosen == op->getNumResults())
        cotangents[i] = op->getResult(i);
    GraphBuilder b(builder, op->getLoc());
    REQUIRE(succeeded(interface.buildGradient(b, cotangents, gradients)));
    for (auto [gradient, operand] : llvm::zip_equal(gradients, op->getOperands()))
      if (gradient)
        CHECK(describe(gradient) == describe(operand));
    bool floatResult = llvm::any_of(op->getResults(), isFloat), floatOperand = llvm::any_of(op->getOperands(), isFloat);
    if (floatResult && floatOperand)
      CHECK(llvm::any_of(gradients, [](Value value) { return bool(value); }));
  }
  for (unsigned index : interface.getResiduals().operands)
    CHECK(index < op->getNumOperands() + 2); // optional operands may be absent
  for (unsigned index : interface.getResiduals().results)
    CHECK(index < op->getNumResults());
}

void checkCase(OpBuilder &builder, Block &block, llvm::StringRef name, const llvm::json::Object &data) {
  MLIRContext *context = builder.getContext();
  SmallVector<Value> operands;
  for (const llvm::json::Value &input : *data.getArray("inputs")) {
    const llvm::json::Object *tensor = input.getAsObject();
    operands.push_back(tensor ? Value(block.addArgument(parseType(*tensor, context), builder.getUnknownLoc()))
                              : Value());
  }
  SmallVector<NamedAttribute> attributes;
  for (const auto &[key, value] : *data.getObject("attributes"))
    attributes.push_back(builder.getNamedAttr(key.str(), parseAttribute(key.str(), value, context)));
  FailureOr<Operation *> op =
      createOp(builder, builder.getUnknownLoc(), ("ferrule." + name).str(), operands, attributes);
  REQUIRE(succeeded(op));
  const llvm::json::Array &outputs = *data.getArray("outputs");
  REQUIRE(outputs.size() == (*op)->getNumResults());
  for (auto [index, output] : llvm::enumerate(outputs))
    CHECK((*op)->getResult(index).getType() == parseType(*output.getAsObject(), context));

  auto interface = cast<FerruleOpInterface>(*op);
  CHECK_FALSE(stringify(interface.getLoweringKind()).empty());
  CHECK(interface.getFlops().isValid());
  for (unsigned index : interface.getInPlaceOperands())
    CHECK(index < (*op)->getNumOperands());
  checkGradient(builder, *op);
}

} // namespace

TEST_CASE("every op keeps its contract") {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<FerruleDialect>();
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());

  for (RegisteredOperationName op : context.getRegisteredOperationsByDialect("ferrule")) {
    std::string name = op.stripDialect().str();
    DYNAMIC_SECTION(name) {
      REQUIRE(op.hasInterface<FerruleOpInterface>());
      auto file = llvm::MemoryBuffer::getFile("tests/ops/" + name + ".json");
      if (exempt.count(name)) {
        CHECK_FALSE(file);
        continue;
      }
      INFO("an op needs a type rule (InferTypeOpInterface) and a data file tests/ops/" << name << ".json");
      REQUIRE(op.hasInterface<InferTypeOpInterface>());
      REQUIRE(file);
      llvm::Expected<llvm::json::Value> data = llvm::json::parse((*file)->getBuffer());
      REQUIRE(bool(data));
      REQUIRE(data->getAsObject()->getString("op")->str() == name);
      Block block;
      builder.setInsertionPointToEnd(&block);
      const llvm::json::Array &cases = *data->getAsObject()->getArray("cases");
      REQUIRE_FALSE(cases.empty());
      for (const llvm::json::Value &one : cases)
        checkCase(builder, block, name, *one.getAsObject());
    }
  }
}
