//===- FragmentTemplate_test.cpp - What two shapes have in common ---------===//

#include "frontend/core/FragmentTemplate.h"
#include "frontend/core/Slice.h"
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

TEST_CASE_METHOD(TemplateTest, "sizes become dims, and scalars sizes or inputs") {
  Fragment first = recordMean(8, 0.5), second = recordMean(5, 0.25);
  REQUIRE(getSkeletonKey(*first) == getSkeletonKey(*second));
  REQUIRE(getStructureKey(*first) != getStructureKey(*second));
  auto shared = FragmentTemplate::create(*first, *second);
  REQUIRE(shared);
  REQUIRE(mlir::succeeded(shared->getModule().verify()));
  std::string text = print(shared->getModule());
  CHECK_THAT(text, Catch::Contains("d0 = {max = 8 : i64, min = 1 : i64"));
  CHECK_THAT(text, Catch::Contains("tensor<?x2x3xf32, #ferrule.dims<[d0, 2, 3]>>"));
  CHECK_THAT(text, Catch::Contains("shape = #ferrule.dims<[d0 * 6]>"));
  CHECK_THAT(text, Catch::Contains("ferrule.dim  {expr = #ferrule.dims<[d0 * 6]>}"));
  CHECK_THAT(text, Catch::Contains("%arg1: tensor<f32> {ferrule.name = \"in.1\"}"));

  Fragment third = recordMean(3, 2.0);
  CHECK(shared->accepts(*first));
  CHECK(shared->accepts(*third));
  std::vector<HostArray> scalars = shared->getScalarInputs(*third);
  REQUIRE(scalars.size() == 1);
  CHECK(*static_cast<float *>(scalars[0].buffer->data()) == 2.0f);
}

TEST_CASE_METHOD(TemplateTest, "a template refuses what it was not made for") {
  Fragment first = recordMean(8, 0.5), second = recordMean(5, 0.5);
  auto shared = FragmentTemplate::create(*first, *second);
  REQUIRE(shared);
  // Over the planned range, with another scale, with a divisor that is no size.
  CHECK_FALSE(shared->accepts(*recordMean(9, 0.5)));
  CHECK_FALSE(shared->accepts(*recordMean(4, 0.75)));
  CHECK_FALSE(shared->accepts(*recordMean(4, 0.5, 7)));
}

TEST_CASE_METHOD(TemplateTest, "a size that is no multiple of an input's gives "
                               "no template") {
  auto record = [&](int64_t size, int64_t target) {
    return cut(frontend::apply(frontend, "broadcast_to", {zeros(DataType::Float32, {1, size})},
                               {{"shape", Shape{target, size}}}));
  };
  CHECK_FALSE(FragmentTemplate::create(*record(3, 4), *record(5, 9)));
}
