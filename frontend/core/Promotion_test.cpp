//===- Promotion_test.cpp -------------------------------------------------===//

#include "frontend/core/Promotion.h"

#include "catch2/catch.hpp"

using namespace ferrule::frontend;

namespace {

DataType common(std::vector<OperandType> operands) { return commonType(operands); }

constexpr OperandType weakBool{DataType::Bool, true};
constexpr OperandType weakInt{defaultInteger, true};
constexpr OperandType weakFloat{defaultFloat, true};

} // namespace

TEST_CASE("the category comes before the width") {
  CHECK(promoteTypes(DataType::Int64, DataType::Float16) == DataType::Float16);
  CHECK(promoteTypes(DataType::Int32, DataType::Float32) == DataType::Float32);
  CHECK(promoteTypes(DataType::Bool, DataType::Int8) == DataType::Int8);
  CHECK(promoteTypes(DataType::Bool, DataType::Bool) == DataType::Bool);
}

TEST_CASE("within a category the wider type wins") {
  CHECK(promoteTypes(DataType::Int8, DataType::Int32) == DataType::Int32);
  CHECK(promoteTypes(DataType::Float32, DataType::Float64) == DataType::Float64);
  CHECK(promoteTypes(DataType::Float16, DataType::Float32) == DataType::Float32);
}

TEST_CASE("types of one width that hold different values need a wider one") {
  CHECK(promoteTypes(DataType::Float16, DataType::BFloat16) == DataType::Float32);
  CHECK(promoteTypes(DataType::UInt8, DataType::Int8) == DataType::Int16);
  CHECK(promoteTypes(DataType::UInt8, DataType::Int32) == DataType::Int32);
  CHECK(promoteTypes(DataType::UInt32, DataType::Int32) == DataType::Int64);
  CHECK(promoteTypes(DataType::UInt64, DataType::Int8) == DataType::Int64);
}

TEST_CASE("promotion does not depend on the order") {
  for (unsigned a = 0; a <= unsigned(DataType::Float64); ++a)
    for (unsigned b = 0; b <= unsigned(DataType::Float64); ++b)
      CHECK(promoteTypes(DataType(a), DataType(b)) == promoteTypes(DataType(b), DataType(a)));
}

TEST_CASE("a Python scalar never widens a tensor of its category") {
  CHECK(common({{DataType::Float16}, weakFloat}) == DataType::Float16);
  CHECK(common({{DataType::Float16}, weakInt}) == DataType::Float16);
  CHECK(common({{DataType::Int8}, weakInt}) == DataType::Int8);
  CHECK(common({weakBool, {DataType::Int8}}) == DataType::Int8);
}

TEST_CASE("a Python scalar of a higher category brings its default type") {
  CHECK(common({{DataType::Int64}, weakFloat}) == DataType::Float32);
  CHECK(common({{DataType::Bool}, weakInt}) == DataType::Int32);
  CHECK(common({weakInt, weakFloat}) == DataType::Float32);
  CHECK(common({weakBool}) == DataType::Bool);
}
