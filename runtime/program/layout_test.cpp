#include "runtime/program/layout.h"

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "catch2/catch.hpp"

namespace ferrule::runtime {
namespace {

// A flatbuffer with one layout.
class LayoutTable {
 public:
  LayoutTable(const char* kind, std::vector<uint32_t> n, std::vector<uint32_t> k, uint32_t groups = 1,
              uint32_t panel = 16) {
    builder_.Finish(schema::CreateLayoutDirect(builder_, kind, &n, &k, groups, panel));
  }
  const schema::Layout& get() const { return *flatbuffers::GetRoot<schema::Layout>(builder_.GetBufferPointer()); }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

const schema::DataType kFloat32(2, 32, 1);

uint64_t physical_size(const schema::Layout& layout, const std::vector<int64_t>& shape) {
  uint64_t size = 0;
  const Status status = physical_byte_size(layout, kFloat32, shape.data(), static_cast<uint32_t>(shape.size()), &size);
  INFO(status.message());
  REQUIRE(status.ok());
  return size;
}

std::string refusal(const schema::Layout& layout, const std::vector<int64_t>& shape) {
  uint64_t size = 0;
  return physical_byte_size(layout, kFloat32, shape.data(), static_cast<uint32_t>(shape.size()), &size).message();
}

// Packs 1, 2, 3 ... and returns the physical floats.
std::vector<float> packed(const schema::Layout& layout, const std::vector<int64_t>& shape) {
  std::vector<float> logical(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()));
  std::iota(logical.begin(), logical.end(), 1.0f);
  std::vector<float> physical(physical_size(layout, shape) / 4, -1.0f);
  pack(layout, kFloat32, shape.data(), static_cast<uint32_t>(shape.size()), logical.data(), physical.data());
  std::vector<float> back(logical.size());
  unpack(layout, kFloat32, shape.data(), static_cast<uint32_t>(shape.size()), physical.data(), back.data());
  CHECK(back == logical);
  return physical;
}

}  // namespace

TEST_CASE("row major is the identity") {
  const LayoutTable layout("row_major", {}, {});
  const std::vector<float> physical = packed(layout.get(), {2, 3});
  CHECK(physical == std::vector<float>({1, 2, 3, 4, 5, 6}));
}

TEST_CASE("a linear weight [out, in] stands in panels of 16 outputs") {
  const LayoutTable layout("panel", {0}, {1});
  const std::vector<float> physical = packed(layout.get(), {18, 3});
  REQUIRE(physical.size() == 2 * 3 * 16);
  for (int n = 0; n < 32; ++n) {
    for (int k = 0; k < 3; ++k) {
      const float expected = n < 18 ? static_cast<float>(n * 3 + k + 1) : 0.0f;
      REQUIRE(physical[((n / 16) * 3 + k) * 16 + n % 16] == expected);
    }
  }
}

TEST_CASE("a grouped convolution weight [out, in / g, kh, kw] has its groups outermost and channels innermost in k") {
  const LayoutTable layout("panel", {0}, {2, 3, 1}, 2);
  const std::vector<int64_t> shape = {6, 4, 2, 3};  // 3 outputs a group
  const std::vector<float> physical = packed(layout.get(), shape);
  REQUIRE(physical.size() == 2 * 1 * 2 * 3 * 4 * 16);
  for (int g = 0; g < 2; ++g) {
    for (int lane = 0; lane < 16; ++lane) {
      for (int h = 0; h < 2; ++h) {
        for (int w = 0; w < 3; ++w) {
          for (int c = 0; c < 4; ++c) {
            const int o = g * 3 + lane;
            const float expected = lane < 3 ? static_cast<float>(((o * 4 + c) * 2 + h) * 3 + w + 1) : 0.0f;
            REQUIRE(physical[((g * 6 + h * 3 + w) * 4 + c) * 16 + lane] == expected);
          }
        }
      }
    }
  }
}

TEST_CASE("a depthwise weight [c, 1, kh, kw] may leave its axis of size 1 out") {
  const LayoutTable layout("panel", {0}, {2, 3});
  CHECK(packed(layout.get(), {5, 1, 3, 3}).size() == 9 * 16);
  CHECK(refusal(layout.get(), {5, 2, 3, 3}) == "layout 'panel' leaves out an axis whose size is not 1 (1)");
}

TEST_CASE("several n axes run row-major") {
  const LayoutTable layout("panel", {1, 0}, {2});
  const std::vector<float> physical = packed(layout.get(), {2, 3, 2});
  REQUIRE(physical.size() == 2 * 16);
  // n = axis1 * 2 + axis0; element (axis0, axis1, k) is number (axis0 * 3 + axis1) * 2 + k + 1.
  CHECK(physical[0] == 1);
  CHECK(physical[1] == 7);
  CHECK(physical[2] == 3);
  CHECK(physical[16 + 5] == 12);
}

TEST_CASE("elements of other widths, empty tensors and odd addresses") {
  const LayoutTable layout("panel", {0}, {1});
  const schema::DataType int8(0, 8, 1);
  const int64_t shape[] = {3, 2}, empty[] = {0, 2};
  std::vector<uint8_t> logical = {99, 1, 2, 3, 4, 5, 6}, physical(33), back(7);
  pack(layout.get(), int8, shape, 2, logical.data() + 1, physical.data() + 1);
  CHECK(physical[1 + 16 + 2] == 6);
  unpack(layout.get(), int8, shape, 2, physical.data() + 1, back.data() + 1);
  CHECK(std::memcmp(back.data() + 1, logical.data() + 1, 6) == 0);
  CHECK(physical_size(layout.get(), {0, 2}) == 0);
  pack(layout.get(), int8, empty, 2, nullptr, nullptr);
}

TEST_CASE("layouts that do not fit their shape are refused") {
  CHECK(refusal(LayoutTable("blocked", {}, {}).get(), {2}) == "layout 'blocked' is not known to this runtime");
  CHECK(refusal(LayoutTable("panel", {}, {0}).get(), {2}) == "layout 'panel' has no n axis (0)");
  CHECK(refusal(LayoutTable("panel", {0}, {2}).get(), {2, 2}) ==
        "layout 'panel' names an axis that the shape lacks (2)");
  CHECK(refusal(LayoutTable("panel", {0}, {0}).get(), {2}) == "layout 'panel' names an axis twice (0)");
  CHECK(refusal(LayoutTable("panel", {0}, {1}, 3).get(), {4, 2}) ==
        "layout 'panel' does not divide the first n axis into its groups (3)");
  CHECK(refusal(LayoutTable("panel", {0}, {1}, 0).get(), {4, 2}) ==
        "layout 'panel' does not divide the first n axis into its groups (0)");
  CHECK(refusal(LayoutTable("panel", {0}, {1}, 1, 0).get(), {4, 2}) ==
        "layout 'panel' has a panel width out of 1 to 64 (0)");
  CHECK(refusal(LayoutTable("panel", {0}, {1}).get(), {INT64_MAX, INT64_MAX}) ==
        "a shape of rank 2 has a negative dim or overflows");
  CHECK(refusal(LayoutTable("panel", {0}, {1}).get(), {1, int64_t{1} << 58}) ==
        "layout 'panel' overflows for this shape; panels (1)");
  CHECK(refusal(LayoutTable("row_major", {}, {}).get(), {-1}) == "a shape of rank 1 has a negative dim or overflows");
}

}  // namespace ferrule::runtime
