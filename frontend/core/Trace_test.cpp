//===- Trace_test.cpp - Entries, variables and dims in a trace ------------===//

#include "frontend/core/TestSupport.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

struct TraceTest : RecordingFrontend {
  std::shared_ptr<Trace> begin(std::string name) { return llvm::cantFail(frontend.beginTrace(std::move(name))); }
  EntryRef end(Trace &trace, llvm::ArrayRef<std::pair<std::string, TensorRef>> outputs) {
    EntryRef entry = llvm::cantFail(trace.finish(outputs, "{}"));
    frontend.endTrace(&trace);
    return entry;
  }
  VariableRef makeVariable(std::string name, llvm::ArrayRef<int64_t> sizes) {
    return std::make_shared<Variable>(zeros(DataType::Float32, sizes), std::move(name), "parameter", true, nullptr);
  }
};

} // namespace

TEST_CASE_METHOD(TraceTest, "an entry reads once and assigns what changed") {
  VariableRef weight = makeVariable("net.weight", {3});
  VariableRef unchanged = makeVariable("net.bias", {3});
  std::shared_ptr<Trace> trace = begin("step");
  TensorRef x = llvm::cantFail(trace->addInput("x", DataType::Float32, {2, 3}, {"net.py", 3}));
  TensorRef w = llvm::cantFail(frontend.readVariable(weight, {"net.py", 4}));
  CHECK(llvm::cantFail(frontend.readVariable(weight, {})) == w);
  TensorRef b = llvm::cantFail(frontend.readVariable(unchanged, {}));
  TensorRef y = frontend::apply(frontend, "fma", {x, w, b});
  TensorRef next = frontend::apply(frontend, "mul", {w, Scalar(0.5)});
  llvm::cantFail(frontend.assignVariable(weight, next, {{"net.py", 9}, {}}));
  CHECK(llvm::cantFail(frontend.readVariable(weight, {}))->getOpaqueValue() == next->getOpaqueValue());
  EntryRef entry = end(*trace, {{"out.0", y}});

  CHECK(entry->getText() == R"(module {
  ferrule.variable @net.weight : tensor<3xf32>
  ferrule.variable @net.bias : tensor<3xf32>
  func.func @step(%arg0: tensor<2x3xf32> {ferrule.name = "x"}) -> (tensor<2x3xf32> {ferrule.name = "out.0"}) attributes {ferrule.signature = "{}"} {
    %0 = ferrule.read @net.weight : tensor<3xf32>
    %1 = ferrule.read @net.bias : tensor<3xf32>
    %2 = ferrule.broadcast_to %0 {shape = #ferrule.dims<[2, 3]>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %3 = ferrule.broadcast_to %1 {shape = #ferrule.dims<[2, 3]>} : (tensor<3xf32>) -> tensor<2x3xf32>
    %4 = ferrule.fma %arg0, %2, %3 : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %5 = ferrule.constant  {value = dense<5.000000e-01> : tensor<f32>} : () -> tensor<f32>
    %6 = ferrule.broadcast_to %5 {shape = #ferrule.dims<[3]>} : (tensor<f32>) -> tensor<3xf32>
    %7 = ferrule.mul %0, %6 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    ferrule.assign @net.weight, %7 : tensor<3xf32>
    return %4 : tensor<2x3xf32>
  }
}
)");
  CHECK(weight->getValue()->isConcrete());
}

TEST_CASE_METHOD(TraceTest, "dims go into types, and unequal ones that meet "
                            "record an equality") {
  DimExpr batch = llvm::cantFail(frontend.declareDim("batch", {1, 64, 1}));
  DimExpr rows = llvm::cantFail(frontend.declareDim("rows", {1, 64, 1}));
  std::shared_ptr<Trace> trace = begin("predict");
  TensorRef x = llvm::cantFail(trace->addInput("x", DataType::Float32, {batch, 3}, {}));
  TensorRef y = llvm::cantFail(trace->addInput("y", DataType::Float32, {rows, 1}, {}));
  TensorRef sum = frontend::apply(frontend, "add", {x, y});
  CHECK(toString(sum->getShape()) == "[batch, 3]");
  TensorRef mean = frontend::apply(frontend, "div", {sum, Operand(batch)});
  EntryRef entry = end(*trace, {{"out.0", mean}});
  std::string text = entry->getText();
  CHECK_THAT(text, Catch::Contains("ferrule.dims = {batch = {max = 64 : i64, "
                                   "min = 1 : i64, multiple_of = 1 : i64}"));
  CHECK_THAT(text, Catch::Contains("ferrule.equalities = [#ferrule.dims<[batch, rows]>]"));
  CHECK_THAT(text, Catch::Contains("tensor<?x3xf32, #ferrule.dims<[batch, 3]>>"));
  CHECK_THAT(text, Catch::Contains("ferrule.dim  {expr = #ferrule.dims<[batch]>}"));
}

TEST_CASE_METHOD(TraceTest, "a reshape that the dims leave open records what it "
                            "claims") {
  DimExpr batch = llvm::cantFail(frontend.declareDim("batch", {1, 64, 1}));
  std::shared_ptr<Trace> trace = begin("predict");
  TensorRef x = llvm::cantFail(trace->addInput("x", DataType::Float32, {batch, 6}, {}));
  frontend::apply(frontend, "reshape", {x}, {{"shape", Shape{batch * 2, 3}}});
  CHECK(trace->getConstraints().getEqualities().empty());
  frontend::apply(frontend, "reshape", {x}, {{"shape", Shape{8, 3}}});
  REQUIRE(trace->getConstraints().getEqualities().size() == 1);
}

TEST_CASE_METHOD(TraceTest, "a traced value cannot be looked at") {
  std::shared_ptr<Trace> trace = begin("predict");
  TensorRef x = llvm::cantFail(trace->addInput("x", DataType::Float32, {3}, {"a.py", 1}));
  TensorRef y = frontend::apply(frontend, "relu", {x});
  ErrorText error = takeErrorText(frontend.materialize(y, "bool()", "net.py:30"));
  CHECK(error.kind == ErrorKind::Trace);
  CHECK_THAT(error.message, Catch::Contains("bool() at net.py:30 needs the value of a tensor "
                                            "made at net.py:12 while tracing the entry "
                                            "`predict`"));
  CHECK_THAT(error.message, Catch::Contains("F.cond"));
  frontend.endTrace(trace.get());

  ErrorText escaped = applyError(frontend, "relu", {y});
  CHECK(escaped.kind == ErrorKind::Trace);
  CHECK_THAT(escaped.message, Catch::Contains("after its trace ended"));
}

TEST_CASE_METHOD(TraceTest, "an assignment of another shape or dtype is refused") {
  VariableRef weight = makeVariable("net.weight", {3});
  ErrorText shape = takeErrorText(frontend.assignVariable(weight, zeros(DataType::Float32, {4}), {{"net.py", 7}, {}}));
  CHECK(shape.kind == ErrorKind::Shape);
  CHECK(shape.message == "variable `net.weight` has the shape [3] and is "
                         "assigned a value of shape [4], at net.py:7");
  ErrorText dtype = takeErrorText(frontend.assignVariable(weight, zeros(DataType::Int32, {3}), {{"net.py", 7}, {}}));
  CHECK(dtype.kind == ErrorKind::DType);
}

TEST_CASE_METHOD(TraceTest, "traces do not nest") {
  std::shared_ptr<Trace> outer = begin("outer");
  llvm::Expected<std::shared_ptr<Trace>> inner = frontend.beginTrace("inner");
  REQUIRE_FALSE(bool(inner));
  CHECK_THAT(takeErrorText(inner.takeError()).message, Catch::Contains("`inner` begins inside that of `outer`"));
}

TEST_CASE_METHOD(TraceTest, "an op without gradient is named at once") {
  VariableRef weight = makeVariable("net.weight", {3});
  std::shared_ptr<Trace> trace = begin("step");
  TensorRef w = llvm::cantFail(frontend.readVariable(weight, {}));
  TensorRef index = frontend::apply(frontend, "argmax", {w}, {{"axis", int64_t(0)}});
  TensorRef cost = frontend::apply(frontend, "cast", {index}, {{"dtype", DataType::Float32}});
  GradientCall call;
  call.cost = cost;
  call.inputs = {w};
  call.inputNames = {"net.weight"};
  call.site = {{"train.py", 5}, {}};
  auto gradients = frontend.gradient(call);
  REQUIRE_FALSE(bool(gradients));
  ErrorText error = takeErrorText(gradients.takeError());
  CHECK(error.kind == ErrorKind::Gradient);
  CHECK(error.message == "gradient: argmax has no gradient: its result is an index; the "
                         "gradient of the cost to net.weight needs it (net.py:12), at "
                         "train.py:5");
}
