//===- pack_panels_test.cpp - The compiler's packing against the runtime's -===//

#include "ir/graph/PackPanels.h"

#include "runtime/program/layout.h"
#include "serialize/schema/program_schema.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// The runtime's packing of the same floats.
std::vector<uint8_t> packAtRunTime(const PanelLayout &layout, ArrayRef<int64_t> shape,
                                   const std::vector<float> &logical) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<uint32_t> nAxes(layout.nAxes.begin(), layout.nAxes.end());
  std::vector<uint32_t> kAxes(layout.kAxes.begin(), layout.kAxes.end());
  builder.Finish(::ferrule::schema::CreateLayout(builder, builder.CreateString("panel"), builder.CreateVector(nAxes),
                                                 builder.CreateVector(kAxes), layout.groups, panelWidth));
  const auto *schemaLayout = flatbuffers::GetRoot<::ferrule::schema::Layout>(builder.GetBufferPointer());
  ::ferrule::schema::DataType dtype(2, 32, 1);
  uint64_t bytes = 0;
  ::ferrule::runtime::Status status =
      ::ferrule::runtime::physical_byte_size(*schemaLayout, dtype, shape.data(), shape.size(), &bytes);
  REQUIRE(status.ok());
  std::vector<uint8_t> physical(bytes);
  ::ferrule::runtime::pack(*schemaLayout, dtype, shape.data(), shape.size(), logical.data(), physical.data());
  return physical;
}

std::vector<uint8_t> packAtCompileTime(const PanelLayout &layout, ArrayRef<int64_t> shape,
                                       const std::vector<float> &logical) {
  std::vector<uint8_t> physical(llvm::product_of(layout.getPhysicalShape(shape)) * sizeof(float));
  packPanels(layout, shape, sizeof(float),
             {reinterpret_cast<const char *>(logical.data()), logical.size() * sizeof(float)},
             {reinterpret_cast<char *>(physical.data()), physical.size()});
  return physical;
}

void compare(const PanelLayout &layout, ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<float> logical(count);
  for (int64_t i = 0; i < count; ++i)
    logical[i] = float(i + 1);
  CHECK(packAtCompileTime(layout, shape, logical) == packAtRunTime(layout, shape, logical));
}

} // namespace

TEST_CASE("compiler and runtime pack alike") {
  compare({{0}, {1}, 1}, {10, 7});             // A linear layer: one padded panel.
  compare({{1}, {0}, 1}, {7, 33});             // Columns along the second axis: three panels.
  compare({{0}, {2, 3, 1}, 1}, {20, 3, 2, 5}); // A convolution.
  compare({{0}, {2, 3, 1}, 4}, {24, 3, 3, 1}); // Four groups of six columns, each padded to a panel.
}

TEST_CASE("a packed matrix, element by element") {
  // [2, 3] with columns along axis 0: one panel of 3 rows; row k holds w[0][k], w[1][k] and 14 zeros.
  std::vector<float> logical{1, 2, 3, 4, 5, 6};
  std::vector<uint8_t> packed = packAtCompileTime({{0}, {1}, 1}, {2, 3}, logical);
  std::vector<float> expected(48, 0.0f);
  for (int k = 0; k < 3; ++k) {
    expected[16 * k] = float(1 + k);
    expected[16 * k + 1] = float(4 + k);
  }
  REQUIRE(packed.size() == 192);
  CHECK(std::memcmp(packed.data(), expected.data(), 192) == 0);
}
