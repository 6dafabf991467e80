//===- DimComparison_test.cpp ---------------------------------------------===//

#include "frontend/core/DimComparison.h"
#include "frontend/core/Error.h"

#include "catch2/catch.hpp"

using namespace ferrule;
using namespace ferrule::frontend;

namespace {

DimConstraints makeConstraints() {
  DimConstraints constraints;
  constraints.declare("batch", {1, 64, 4});
  return constraints;
}

} // namespace

TEST_CASE("a comparison that the range decides is answered") {
  DimConstraints constraints = makeConstraints();
  DimExpr batch = DimExpr::dim("batch");
  auto ask = [&](DimComparison comparison, DimExpr other) {
    llvm::Expected<bool> answer = compareDims(constraints, comparison, batch, other, "net.py:1");
    REQUIRE(bool(answer));
    return *answer;
  };
  CHECK(ask(DimComparison::LessEqual, 64));
  CHECK(ask(DimComparison::Greater, 0));
  CHECK_FALSE(ask(DimComparison::Equal, 65));
  CHECK_FALSE(ask(DimComparison::GreaterEqual, 100));
  CHECK(ask(DimComparison::NotEqual, batch + 1));
  CHECK(ask(DimComparison::Equal, batch));
}

TEST_CASE("an undecided comparison names the dim, its range, the line and the "
          "repair") {
  llvm::Expected<bool> answer =
      compareDims(makeConstraints(), DimComparison::Less, DimExpr::dim("batch"), 32, "net.py:12");
  REQUIRE_FALSE(bool(answer));
  ErrorText error = takeErrorText(answer.takeError());
  CHECK(error.kind == ErrorKind::Trace);
  CHECK_THAT(error.message, Catch::Contains("`batch < 32` at net.py:12"));
  CHECK_THAT(error.message, Catch::Contains("1 <= batch <= 64, batch a multiple of 4"));
  CHECK_THAT(error.message, Catch::Contains("Repair: narrow the Dim"));
}

TEST_CASE("int() of a dim is refused, of a constant it is the constant") {
  DimConstraints constraints = makeConstraints();
  DimExpr batch = DimExpr::dim("batch");
  llvm::Expected<int64_t> constant = toInteger(constraints, batch - batch + 3, "net.py:12");
  REQUIRE(bool(constant));
  CHECK(*constant == 3);
  llvm::Expected<int64_t> open = toInteger(constraints, batch * 2, "net.py:12");
  REQUIRE_FALSE(bool(open));
  CHECK_THAT(takeErrorText(open.takeError()).message, Catch::Contains("int() of `batch * 2` at net.py:12"));
}

TEST_CASE("a size that divides by zero is refused") {
  llvm::Expected<bool> answer =
      compareDims(makeConstraints(), DimComparison::Equal, DimExpr::floorDiv(DimExpr::dim("batch"), 0), 1, "net.py:12");
  REQUIRE_FALSE(bool(answer));
  CHECK(takeErrorText(answer.takeError()).kind == ErrorKind::Shape);
}
