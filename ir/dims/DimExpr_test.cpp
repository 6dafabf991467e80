#define CATCH_CONFIG_MAIN
#include "ir/dims/DimConstraints.h"

#include <catch2/catch.hpp>
#include <random>

using ferrule::DimConstraints;
using ferrule::DimExpr;

static DimExpr parse(const std::string &text) {
  std::string error;
  std::optional<DimExpr> result = DimExpr::parse(text, &error);
  INFO(error);
  REQUIRE(result.has_value());
  return *result;
}

TEST_CASE("equal polynomials are one form") {
  CHECK(parse("(batch + 1) * 2") == parse("2 + batch * 2"));
  CHECK(parse("(a + b) * (a - b)") == parse("a * a - b * b"));
  CHECK(parse("batch - batch") == DimExpr(0));
  CHECK(parse("batch") != parse("batch + 1"));
  CHECK(parse("(batch + 1) * 2").hash() == parse("2 + batch * 2").hash());
}

TEST_CASE("printing") {
  CHECK(parse("(batch + 1) * 2").str() == "batch * 2 + 2");
  CHECK(parse("5 - batch").str() == "5 - batch");
  CHECK(parse("-batch").str() == "batch * -1");
  CHECK(parse("(h + 1) // 2").str() == "(h + 1) // 2");
  CHECK(parse("(h + 1) // 2").str(DimExpr::Spelling::Words) == "(h + 1) floordiv 2");
  CHECK(parse("h % 3").str() == "h % 3");
  CHECK(parse("max(b, a, 3)").str() == "max(max(a, b), 3)");
}

TEST_CASE("division is exact where the coefficients show it") {
  CHECK(parse("(batch * 784) // 784").str() == "batch");
  CHECK(parse("(batch * 6 + 4) // 4").str() == "batch + batch // 2 + 1");
  CHECK(parse("(batch * 6) % 3") == DimExpr(0));
  CHECK(parse("(batch * h * 2) // (h * 2)").str() == "batch");
  CHECK(parse("-7 // 2") == DimExpr(-4));
  CHECK(parse("-7 % 2") == DimExpr(1));
  CHECK(parse("7 // -2") == DimExpr(-4));
  CHECK(parse("7 % -2") == DimExpr(-1));
}

TEST_CASE("a sum divides what it is a factor of") {
  // reshape(x, (n + 1, -1)) of n * 4 + 4 elements, and the same with a batch.
  CHECK(parse("(n * 4 + 4) // (n + 1)") == DimExpr(4));
  CHECK(parse("(n * 4 + 4) % (n + 1)") == DimExpr(0));
  CHECK(parse("(b * (t + 1) * c) // (b * (t + 1))").str() == "c");
  CHECK(parse("(n * n - 1) // (n + 1)").str() == "n - 1");
  CHECK(parse("(n - 5) // (5 - n)") == DimExpr(-1));
  CHECK(parse("(n // 2 * 3 + 3) // (n // 2 + 1)") == DimExpr(3));
  CHECK(parse("(n * 4 + 5) // (n + 1)").str() == "(n * 4 + 5) // (n + 1)");
  CHECK(parse("(n * 3 + 3) // (n * 2 + 2)").str() == "(n * 3 + 3) // (n * 2 + 2)");
}

TEST_CASE("minimum and maximum") {
  CHECK(parse("min(batch, batch + 1)").str() == "batch");
  CHECK(parse("max(3, 5)") == DimExpr(5));
  CHECK(parse("min(a, min(b, a))") == parse("min(b, a)"));
}

TEST_CASE("an extremum of sums of extrema is one extremum") {
  // The elements that x[1:-1], x[:-1] and x[3:] have, where x may have none.
  CHECK(parse("max(max(n - 1, 0) - min(n, 1), 0)").str() == "max(n - 2, 0)");
  CHECK(parse("max(n - min(n, 1), 0)").str() == "max(n - 1, 0)");
  CHECK(parse("max(n - min(n, 3), 0)") == parse("max(n - 3, 0)"));
  CHECK(parse("min(n, n - max(0, n - 5))").str() == "min(n, 5)");
  // No dim is negative.
  CHECK(parse("max(n * m, 0)").str() == "m * n");
  CHECK(parse("min(0 - n, 2)").str() == "n * -1");
  CHECK(parse("max(n - m, 0)").str() == "max(n - m, 0)");
  CHECK(parse("max(2 * min(a, b), c)").str() == "max(c, min(a, b) * 2)");
}

TEST_CASE("bad text names the place") {
  std::string error;
  CHECK_FALSE(DimExpr::parse("batch +", &error));
  CHECK(error == "in the dim expression 'batch +': expected a number, a dim, '(' or '-' at column 8");
  CHECK_FALSE(DimExpr::parse("a // 0", &error));
  CHECK_FALSE(DimExpr::parse("99999999999999999999", &error));
  CHECK_FALSE(DimExpr::parse(std::string(10000, '('), &error));
}

TEST_CASE("overflow makes an expression invalid, not wrong") {
  DimExpr huge(INT64_MAX);
  CHECK_FALSE((huge + 1).isValid());
  CHECK_FALSE((DimExpr::dim("a") * huge * 2).isValid());
  CHECK_FALSE(parse("a * 2").evaluate([](const std::string &) { return std::optional<int64_t>(INT64_MAX); }));
}

TEST_CASE("constraints decide comparisons, or leave them open") {
  DimConstraints constraints;
  constraints.declare("batch", {2, 64, 2});
  constraints.declare("h", {1, ferrule::DimRange::unbounded, 1});
  CHECK(constraints.isLess(parse("batch"), 65) == true);
  CHECK(constraints.isLess(parse("batch"), 2) == false);
  CHECK_FALSE(constraints.isLess(parse("batch"), 10).has_value());
  CHECK(constraints.isEqual(parse("batch"), 7) == false); // 7 is no multiple of 2
  CHECK(constraints.isEqual(parse("batch"), 65) == false);
  CHECK_FALSE(constraints.isEqual(parse("batch"), parse("h")).has_value());
  CHECK(constraints.simplify(parse("batch % 2")) == DimExpr(0));
  CHECK(constraints.simplify(parse("(batch * 3 + 1) % 2")) == DimExpr(1));
  ferrule::DimInterval bounds = constraints.getBounds(parse("(batch + 1) // 2 * 3"));
  CHECK(bounds.lower == 3);
  CHECK(bounds.upper == 96);
  CHECK_FALSE(constraints.getBounds(parse("h + 1")).upper.has_value());
  CHECK(constraints.getBounds(parse("h + 1")).lower == 2);
}

TEST_CASE("multiples decide divisions") {
  DimConstraints constraints;
  constraints.declare("e", {3, 30, 8});
  CHECK(constraints.isEqual(parse("e // 2 * 2"), parse("e")) == true);
  CHECK(constraints.isEqual(parse("e // 8 * 16"), parse("e * 2")) == true);
  CHECK_FALSE(constraints.isEqual(parse("e // 16 * 16"), parse("e")).has_value());
  CHECK(constraints.isEqual(parse("(e + 4) // 8 * 8"), parse("e")) == true);
  CHECK(constraints.getBounds(parse("e")).lower == 8);
  CHECK(constraints.getBounds(parse("e")).upper == 24);
}

TEST_CASE("divisions are compared with what they divide") {
  DimConstraints constraints;
  constraints.declare("d", {1, ferrule::DimRange::unbounded, 1});
  CHECK(constraints.isLessEqual(parse("d // 2"), parse("d")) == true);
  CHECK(constraints.isLess(parse("d // 2"), parse("d")) == true);
  CHECK(constraints.isLessEqual(parse("d // 2 * 2"), parse("d")) == true);
  CHECK(constraints.isLessEqual(parse("d"), parse("(d + 1) // 2 * 2")) == true);
  CHECK(constraints.isLessEqual(parse("d // 2 + d // 3"), parse("d")) == true);
  CHECK_FALSE(constraints.isLess(parse("d // 2 * 2"), parse("d")).has_value());
  CHECK(constraints.isLessEqual(parse("(d + 3) // 4"), parse("d")) == true);
}

/// No value of an expression over the allowed dims lies outside its bounds.
TEST_CASE("bounds hold") {
  std::mt19937 random(11);
  DimConstraints constraints;
  constraints.declare("a", {1, 6, 1});
  constraints.declare("b", {2, 12, 4});
  for (int round = 0; round < 2000; ++round) {
    std::vector<DimExpr> pool{DimExpr::dim("a"), DimExpr::dim("b"), DimExpr(int64_t(random() % 9) - 4)};
    for (int step = 0; step < 5; ++step) {
      const DimExpr x = pool[random() % pool.size()], y = pool[random() % pool.size()];
      auto operation = static_cast<ferrule::DimOperation>(random() % 7);
      if (operation == ferrule::DimOperation::FloorDivide || operation == ferrule::DimOperation::Modulo)
        pool.push_back(DimExpr::apply(operation, x, DimExpr(1 + int64_t(random() % 5))));
      else
        pool.push_back(DimExpr::apply(operation, x, y));
    }
    const DimExpr &e = pool.back();
    ferrule::DimInterval bounds = constraints.getBounds(e);
    for (int64_t a = 1; a <= 6; ++a)
      for (int64_t b = 4; b <= 12; b += 4) {
        std::optional<int64_t> value = e.evaluate([&](const std::string &name) { return name == "a" ? a : b; });
        if (!value)
          continue;
        INFO(e.str() << " with a = " << a << ", b = " << b);
        CHECK((!bounds.lower || *bounds.lower <= *value));
        CHECK((!bounds.upper || *bounds.upper >= *value));
      }
  }
}

TEST_CASE("recorded equalities are used") {
  DimConstraints constraints;
  constraints.addEquality(parse("batch"), parse("n"));
  CHECK(constraints.isEqual(parse("batch"), parse("n")) == true);
  constraints.addEquality(parse("n"), parse("m * 2"));
  CHECK(constraints.isEqual(parse("batch + 1"), parse("m * 2 + 1")) == true);
}

/// Random expressions: the canonical form has the value of the operations it came from, and its text reads back.
TEST_CASE("canonical forms keep values") {
  std::mt19937 random(7);
  const char *names[] = {"a", "b", "c"};
  auto floorDivide = [](int64_t x, int64_t y) { return x / y - ((x % y != 0) && ((x < 0) != (y < 0))); };
  for (int round = 0; round < 3000; ++round) {
    int64_t values[] = {1 + int64_t(random() % 9), 1 + int64_t(random() % 9), 1 + int64_t(random() % 9)};
    std::vector<std::pair<DimExpr, int64_t>> pool;
    for (int i = 0; i < 3; ++i)
      pool.emplace_back(DimExpr::dim(names[i]), values[i]);
    pool.emplace_back(DimExpr(int64_t(random() % 7) - 3), 0);
    pool.back().second = *pool.back().first.getConstant();
    for (int step = 0; step < 5; ++step) {
      auto [x, xv] = pool[random() % pool.size()];
      auto [y, yv] = pool[random() % pool.size()];
      switch (random() % 7) {
      case 0:
        pool.emplace_back(x + y, xv + yv);
        break;
      case 1:
        pool.emplace_back(x - y, xv - yv);
        break;
      case 2:
        pool.emplace_back(x * y, xv * yv);
        break;
      case 3:
        pool.emplace_back(DimExpr::min(x, y), std::min(xv, yv));
        break;
      case 4:
        pool.emplace_back(DimExpr::max(x, y), std::max(xv, yv));
        break;
      case 5:
        if (yv != 0)
          pool.emplace_back(DimExpr::floorDiv(x, y), floorDivide(xv, yv));
        break;
      case 6:
        if (yv != 0)
          pool.emplace_back(DimExpr::mod(x, y), xv - yv * floorDivide(xv, yv));
        break;
      }
    }
    for (auto &[expression, value] : pool) {
      if (!expression.isValid()) // division by an expression that is the constant zero in form only
        continue;
      INFO(expression.str());
      auto valueOf = [&](const std::string &name) { return std::optional<int64_t>(values[name[0] - 'a']); };
      CHECK(expression.evaluate(valueOf) == value);
      CHECK(parse(expression.str()) == expression);
      CHECK(parse(expression.str(DimExpr::Spelling::Words)) == expression);
      ferrule::DimInterval bounds = DimConstraints().getBounds(expression);
      CHECK((!bounds.lower || *bounds.lower <= value));
      CHECK((!bounds.upper || *bounds.upper >= value));
    }
  }
}
