//===- Apply_test.cpp - Promotion, broadcasting and errors of a call ------===//

#include "frontend/core/TestSupport.h"

using namespace ferrule;
using namespace ferrule::frontend;

TEST_CASE("operands are promoted and broadcast to one shape") {
  RecordingFrontend test;
  TensorRef sum = apply(test.frontend, "add", {zeros(DataType::Int32, {4, 1}), zeros(DataType::Float32, {3})});
  CHECK(sum->getType() == DataType::Float32);
  CHECK(toString(sum->getShape()) == "[4, 3]");
  CHECK(sum->isPending());
}

TEST_CASE("a scalar takes the type of the tensor it meets") {
  RecordingFrontend test;
  TensorRef half = zeros(DataType::Float16, {2});
  CHECK(apply(test.frontend, "mul", {half, Scalar(2.5)})->getType() == DataType::Float16);
  TensorRef bytes = zeros(DataType::UInt8, {2});
  CHECK(apply(test.frontend, "add", {bytes, Scalar(int64_t(200))})->getType() == DataType::UInt8);
  CHECK(apply(test.frontend, "add", {bytes, Scalar(0.5)})->getType() == DataType::Float32);
}

TEST_CASE("a scalar that does not fit the tensor's integer type is refused") {
  RecordingFrontend test;
  ErrorText error = applyError(test.frontend, "add", {zeros(DataType::UInt8, {2}), Scalar(int64_t(-1))});
  CHECK(error.kind == ErrorKind::DType);
  CHECK_THAT(error.message, Catch::Contains("the number -1 does not fit in uint8, at "
                                            "net.py:12, in module net.conv1"));
}

TEST_CASE("an integer beyond int64 is one of uint64, and near enough a float") {
  RecordingFrontend test;
  Scalar large(uint64_t(1) << 63);
  CHECK(apply(test.frontend, "add", {zeros(DataType::UInt64, {2}), large})->getType() == DataType::UInt64);
  CHECK(apply(test.frontend, "add", {zeros(DataType::Float16, {2}), large})->getType() == DataType::Float16);
  ErrorText error = applyError(test.frontend, "add", {zeros(DataType::Int64, {2}), large});
  CHECK(error.kind == ErrorKind::DType);
  CHECK_THAT(error.message, Catch::StartsWith("the number 9223372036854775808 does not fit in int64, at net.py:12"));
}

TEST_CASE("true division of integers gives float32, comparisons give bool") {
  RecordingFrontend test;
  TensorRef ints = zeros(DataType::Int64, {2});
  CHECK(apply(test.frontend, "div", {ints, ints})->getType() == DataType::Float32);
  CHECK(apply(test.frontend, "less", {ints, Scalar(int64_t(3))})->getType() == DataType::Bool);
  CHECK(apply(test.frontend, "exp", {ints})->getType() == DataType::Float32);
  TensorRef flags = zeros(DataType::Bool, {2});
  CHECK(apply(test.frontend, "add", {flags, flags})->getType() == DataType::Int32);
  CHECK(apply(test.frontend, "logical_and", {flags, ints})->getType() == DataType::Bool);
}

TEST_CASE("shapes that do not broadcast are refused at the call") {
  RecordingFrontend test;
  ErrorText error = applyError(test.frontend, "add", {zeros(DataType::Float32, {2, 3}), zeros(DataType::Float32, {4})});
  CHECK(error.kind == ErrorKind::Shape);
  CHECK(error.message == "add: shapes [2, 3] and [4] do not broadcast (3 against 4); the "
                         "operands are float32[2, 3], float32[4], at net.py:12, in module "
                         "net.conv1");
}

TEST_CASE("an op's type rule speaks at the call, with line and module") {
  RecordingFrontend test;
  ErrorText error =
      applyError(test.frontend, "matmul", {zeros(DataType::Float32, {2, 3}), zeros(DataType::Float32, {4, 5})}, {});
  CHECK(error.kind == ErrorKind::Shape);
  CHECK_THAT(error.message, Catch::StartsWith("matmul: "));
  CHECK_THAT(error.message, Catch::Contains("float32[2, 3]"));
  CHECK_THAT(error.message, Catch::Contains("float32[4, 5]"));
  CHECK_THAT(error.message, Catch::EndsWith(", at net.py:12, in module net.conv1"));
}

TEST_CASE("an unknown op and a wrong attribute are refused") {
  RecordingFrontend test;
  TensorRef x = zeros(DataType::Float32, {2});
  CHECK(applyError(test.frontend, "frobnicate", {x}).kind == ErrorKind::Unsupported);
  ErrorText error = applyError(test.frontend, "reduce_sum", {x}, {{"axes", 1.5}});
  CHECK(error.kind == ErrorKind::Value);
  CHECK_THAT(error.message, Catch::Contains("axes"));
}

TEST_CASE("batch dims of a matrix product broadcast") {
  RecordingFrontend test;
  TensorRef product =
      apply(test.frontend, "matmul", {zeros(DataType::Float32, {5, 2, 3}), zeros(DataType::Float32, {3, 4})});
  CHECK(toString(product->getShape()) == "[5, 2, 4]");
}

TEST_CASE("optional operands may be absent") {
  RecordingFrontend test;
  TensorRef x = zeros(DataType::Float32, {2, 3});
  TensorRef bias = zeros(DataType::Float32, {3});
  std::vector<OpAttribute> attributes = {
      {"axes", std::vector<int64_t>{1}}, {"param_axes", std::vector<int64_t>{1}}, {"eps", 1e-5}};
  llvm::Expected<TensorRefs> results = test.frontend.apply(makeCall("normalize", {x, Absent(), bias}, attributes));
  REQUIRE(bool(results));
  CHECK(results->size() == 4);
}

TEST_CASE("full is a constant and its broadcast") {
  RecordingFrontend test;
  TensorRef ones =
      apply(test.frontend, "full", {}, {{"shape", Shape{2, 3}}, {"value", int64_t(1)}, {"dtype", DataType::Float32}});
  CHECK(ones->getType() == DataType::Float32);
  CHECK(toString(ones->getShape()) == "[2, 3]");
}
