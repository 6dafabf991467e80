//===- FragmentTemplate_test.cpp - What two shapes have in common ---------===//

#include "frontend/core/FragmentTemplate.h"
#include "frontend/core/SizeMatcher.h"
#include "frontend/core/Slice.h"
#include "frontend/core/StructureKey.h"
#include "frontend/core/TestSupport.h"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

using Fragment = mlir::OwningOpRef<mlir::ModuleOp>;

struct TemplateTest : RecordingFrontend {
  /// Cuts out what computes `tensor` from the leaves.
  Fragment cut(const TensorRef &tensor) {
    mlir::Value value = mlir::Value::getFromOpaquePointer(tensor->getOpaqueValue());
    return std::move(cutSlice(*value.getParentBlock(), value, [](mlir::Value v) { return !v.getDefiningOp(); }).module);
  }

  /// mean(flatten(x), 1) * scale for x of [batch, 2, 3].
  Fragment recordMean(int64_t batch, double scale, int64_t divisor = 6) {
    TensorRef x = zeros(DataType::Float32, {batch, 2, 3});
    TensorRef flat = frontend::apply(frontend, "reshape", {x}, {{"shape", Shape{batch * 6}}});
    TensorRef sum = frontend::apply(frontend, "reduce_sum", {flat}, {{"axes", std::vector<int64_t>{0}}});
    TensorRef mean = frontend::apply(frontend, "div", {sum, Scalar(batch * divisor)});
    return cut(frontend::apply(frontend, "mul", {mean, Scalar(scale)}));
  }

  std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }
};

} // namespace

TEST_CASE_METHOD(TemplateTest, "sizes become dims, and scalars inputs") {
  Fragment first = recordMean(8, 0.5), second = recordMean(5, 0.25);
  REQUIRE(getSkeletonKey(*first) == getSkeletonKey(*second));
  REQUIRE(getStructureKey(*first) != getStructureKey(*second));
  auto shared = FragmentTemplate::create({*first, *second});
  REQUIRE(shared);
  REQUIRE(mlir::succeeded(shared->getModule().verify()));
  std::string text = print(shared->getModule());
  CHECK_THAT(text, Catch::Contains("d0 = {max = 2048 : i64, min = 1 : i64"));
  CHECK_THAT(text, Catch::Contains("tensor<?x2x3xf32, #ferrule.dims<[d0, 2, 3]>>"));
  CHECK_THAT(text, Catch::Contains("shape = #ferrule.dims<[d0 * 6]>"));
  CHECK_THAT(text, Catch::Contains("%arg2: tensor<f32> {ferrule.name = \"in.2\"}"));

  Fragment third = recordMean(3, 2.0);
  CHECK(shared->match(*first));
  auto inputs = shared->match(*third);
  REQUIRE(inputs);
  REQUIRE(inputs->size() == 2);
  CHECK(*static_cast<float *>((*inputs)[0].buffer->data()) == 18.0f);
  CHECK(*static_cast<float *>((*inputs)[1].buffer->data()) == 2.0f);
}

TEST_CASE_METHOD(TemplateTest, "a template refuses what it was not made for") {
  Fragment first = recordMean(8, 0.5, 6), second = recordMean(5, 0.5, 6);
  auto shared = FragmentTemplate::create({*first, *second});
  REQUIRE(shared);
  CHECK(shared->match(*recordMean(2048, 0.5)));
  // Over the planned range, and with another scale, which was the same so far.
  CHECK_FALSE(shared->match(*recordMean(2049, 0.5)));
  CHECK_FALSE(shared->match(*recordMean(4, 0.75)));
}

TEST_CASE_METHOD(TemplateTest, "a size that no input has is bound by an input without elements") {
  auto record = [&](int64_t size) {
    return cut(frontend::apply(frontend, "broadcast_to", {zeros(DataType::Float32, {2, 1})},
                               {{"shape", Shape{2, size}}}));
  };
  Fragment first = record(3), second = record(8);
  auto shared = FragmentTemplate::create({*first, *second});
  REQUIRE(shared);
  std::string text = print(shared->getModule());
  CHECK_THAT(text, Catch::Contains("shape = #ferrule.dims<[2, d0 - 1]>"));
  CHECK_THAT(text, Catch::Contains("%arg1: tensor<?x0xi1, #ferrule.dims<[d0, 0]>>"));
  auto inputs = shared->match(*record(5));
  REQUIRE(inputs);
  REQUIRE(inputs->size() == 1);
  CHECK(inputs->front().shape == llvm::SmallVector<int64_t, 4>{6, 0});
}

TEST_CASE_METHOD(TemplateTest, "an axis without elements gives no template") {
  auto record = [&](int64_t size) {
    return cut(frontend::apply(frontend, "exp", {zeros(DataType::Float32, {size, 2})}));
  };
  CHECK(FragmentTemplate::create({*record(3), *record(4)}));
  CHECK_FALSE(FragmentTemplate::create({*record(3), *record(0)}));
}

TEST_CASE("the simplest expression that fits all fragments counts") {
  SizeMatcher sizes;
  sizes.addDim({10, 15});
  sizes.addDim({4, 7});
  auto match = [&](llvm::ArrayRef<int64_t> values) {
    std::optional<DimExpr> size = sizes.match(values);
    return size ? size->str() : "none";
  };
  CHECK(match({3, 3}) == "3");
  CHECK(match({10, 15}) == "d0");
  CHECK(match({30, 45}) == "d0 * 3");
  CHECK(match({9, 14}) == "d0 - 1");
  CHECK(match({80, 210}) == "d0 * d1 * 2");
  CHECK(match({5, 7}) == "d0 // 2");
  CHECK(match({5, 8}) == "d1 + 1");
  CHECK(match({2, 4}) == "(d1 + 1) // 2");
  CHECK(match({90, 85}) == "100 - d0");
  CHECK(match({14, 22}) == "d0 + d1");
  CHECK(match({1000, 3}) == "none");
  // kEnd of a slice beside a real bound is no size.
  CHECK(match({std::numeric_limits<int64_t>::max(), 3}) == "none");
  CHECK(sizes.matchOrAdd({1000, 3})->str() == "d2 - 1");
  CHECK_FALSE(sizes.matchOrAdd({-1, 3}));
}

TEST_CASE("more fragments tell expressions apart") {
  SizeMatcher sizes;
  sizes.addDim({3, 4, 8});
  // Of the first two alone it would be d0 // 2.
  CHECK(sizes.match({1, 2, 6})->str() == "d0 - 2");
  CHECK(sizes.match({1, 2, 4})->str() == "d0 // 2");
}
