#include "ir/dims/DimConstraints.h"

#include <algorithm>
#include <numeric>

namespace ferrule {
namespace {

using Bound = std::optional<int64_t>;

Bound addBounds(Bound a, Bound b) {
  int64_t out;
  return a && b && !__builtin_add_overflow(*a, *b, &out) ? Bound(out) : std::nullopt;
}

Bound negate(Bound a) { return a && *a != INT64_MIN ? Bound(-*a) : std::nullopt; }

int64_t floorDivide(int64_t a, int64_t b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

DimInterval multiply(const DimInterval &a, const DimInterval &b) {
  // Non-negative times non-negative is the case of sizes, and the only one where an open end can stay one-sided.
  if (a.lower && b.lower && *a.lower >= 0 && *b.lower >= 0) {
    DimInterval result;
    int64_t out;
    result.lower = __builtin_mul_overflow(*a.lower, *b.lower, &out) ? INT64_MAX : out;
    if ((a.upper && *a.upper == 0) || (b.upper && *b.upper == 0))
      result.upper = 0;
    else if (a.upper && b.upper && !__builtin_mul_overflow(*a.upper, *b.upper, &out))
      result.upper = out;
    return result;
  }
  // A constant scales each end that is known.
  for (const auto &[scale, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!scale->lower || scale->lower != scale->upper)
      continue;
    auto scaled = [factor = *scale->lower](Bound bound) -> Bound {
      int64_t out;
      return bound && !__builtin_mul_overflow(*bound, factor, &out) ? Bound(out) : std::nullopt;
    };
    if (*scale->lower >= 0)
      return {scaled(other->lower), scaled(other->upper)};
    return {scaled(other->upper), scaled(other->lower)};
  }
  if (!a.lower || !a.upper || !b.lower || !b.upper)
    return {};
  DimInterval result;
  for (int64_t x : {*a.lower, *a.upper})
    for (int64_t y : {*b.lower, *b.upper}) {
      int64_t out;
      if (__builtin_mul_overflow(x, y, &out))
        return {};
      result.lower = result.lower ? std::min(*result.lower, out) : out;
      result.upper = result.upper ? std::max(*result.upper, out) : out;
    }
  return result;
}

/// Division by a divisor known to be positive.
DimInterval divide(const DimInterval &a, const DimInterval &b) {
  if (!b.lower || *b.lower <= 0)
    return {};
  DimInterval result;
  if (a.lower)
    result.lower = *a.lower >= 0 ? (b.upper ? *a.lower / *b.upper : 0) : floorDivide(*a.lower, *b.lower);
  if (a.upper)
    result.upper = *a.upper >= 0 ? *a.upper / *b.lower : (b.upper ? floorDivide(*a.upper, *b.upper) : -1);
  return result;
}

DimInterval modulo(const DimInterval &a, const DimInterval &b) {
  if (!b.lower || *b.lower <= 0)
    return {};
  DimInterval result{0, b.upper ? Bound(*b.upper - 1) : std::nullopt};
  if (a.lower && a.upper && *a.lower >= 0 && *a.upper < *b.lower)
    return a;
  if (a.lower && *a.lower >= 0 && a.upper && (!result.upper || *a.upper < *result.upper))
    result.upper = a.upper;
  return result;
}

DimInterval minimum(const DimInterval &a, const DimInterval &b) {
  DimInterval result;
  if (a.lower && b.lower)
    result.lower = std::min(*a.lower, *b.lower);
  result.upper = a.upper && b.upper ? std::min(*a.upper, *b.upper) : a.upper ? a.upper : b.upper;
  return result;
}

DimInterval intersect(const DimInterval &a, const DimInterval &b) {
  DimInterval result = minimum({std::nullopt, a.upper}, {std::nullopt, b.upper});
  result.lower = a.lower && b.lower ? std::max(*a.lower, *b.lower) : a.lower ? a.lower : b.lower;
  return result;
}

DimInterval negateInterval(const DimInterval &a) { return {negate(a.upper), negate(a.lower)}; }

DimInterval combine(DimOperation operation, const DimInterval &a, const DimInterval &b) {
  switch (operation) {
  case DimOperation::Add:
    return {addBounds(a.lower, b.lower), addBounds(a.upper, b.upper)};
  case DimOperation::Subtract:
    return {addBounds(a.lower, negate(b.upper)), addBounds(a.upper, negate(b.lower))};
  case DimOperation::Multiply:
    return multiply(a, b);
  case DimOperation::FloorDivide:
    return divide(a, b);
  case DimOperation::Modulo:
    return modulo(a, b);
  case DimOperation::Minimum:
    return minimum(a, b);
  case DimOperation::Maximum:
    return negateInterval(minimum(negateInterval(a), negateInterval(b)));
  }
  return {};
}

/// `scale` times the value lies between two expressions without divisions, over all values of the dims. So terms of the
/// two that cancel do: twice d - d // 2 is at least 2 * d - d.
struct Relaxed {
  DimExpr low, high;
  int64_t scale = 1;

  bool isValid() const { return scale && low.isValid() && high.isValid(); }
  Relaxed times(int64_t factor) const {
    int64_t product;
    if (__builtin_mul_overflow(scale, factor, &product))
      product = 0;
    return {low * DimExpr(factor), high * DimExpr(factor), product};
  }
};

const Relaxed unknown{DimExpr(), DimExpr(), 0};

/// Division by a positive constant: v / c - (c - 1) / c <= v // c <= v / c.
Relaxed relaxDivision(const Relaxed &a, const Relaxed &b) {
  std::optional<int64_t> divisor = b.scale == 1 && b.low == b.high ? b.low.getConstant() : std::nullopt;
  if (!divisor || *divisor <= 0)
    return unknown;
  Relaxed scaled = a.times(*divisor);
  return {a.low - DimExpr(*divisor - 1) * DimExpr(a.scale), a.high, scaled.scale};
}

Relaxed relax(DimOperation operation, const Relaxed &a, const Relaxed &b) {
  if (!a.isValid() || !b.isValid())
    return unknown;
  switch (operation) {
  case DimOperation::Add:
  case DimOperation::Subtract: {
    int64_t common = std::gcd(a.scale, b.scale);
    Relaxed x = a.times(b.scale / common), y = b.times(a.scale / common);
    if (operation == DimOperation::Add)
      return {x.low + y.low, x.high + y.high, x.scale};
    return {x.low - y.high, x.high - y.low, x.scale};
  }
  case DimOperation::Multiply: {
    if (a.low == a.high && b.low == b.high)
      return {a.low * b.low, a.high * b.high, a.times(b.scale).scale};
    std::optional<int64_t> factor = b.scale == 1 && b.low == b.high ? b.low.getConstant() : std::nullopt;
    if (!factor || *factor < 0)
      return unknown;
    return {a.low * b.low, a.high * b.low, a.scale};
  }
  case DimOperation::FloorDivide:
    return relaxDivision(a, b);
  default:
    return unknown;
  }
}

/// What stands for the dim `name` divided by the number of which it is a multiple. No user's dim has such a name.
constexpr std::string_view quotientSuffix = ".quotient.of.multiple";

/// The expression with dims that are multiples written as such: batch as 8 * quotient.
DimExpr overQuotients(const DimConstraints &constraints, const DimExpr &e) {
  DimExpr result = e.substitute([&](const std::string &name) -> std::optional<DimExpr> {
    int64_t multiple = constraints.getRange(name).multipleOf;
    if (multiple == 1)
      return std::nullopt;
    return DimExpr::dim(name + std::string(quotientSuffix)) * DimExpr(multiple);
  });
  return result.isValid() ? result : e;
}

/// Of a declared dim, or of such a quotient.
DimInterval getDimBounds(const DimConstraints &constraints, const std::string &name) {
  size_t base = name.size() - std::min(name.size(), quotientSuffix.size());
  bool isQuotient = base && std::string_view(name).substr(base) == quotientSuffix;
  DimRange range = constraints.getRange(isQuotient ? name.substr(0, base) : name);
  int64_t multiple = isQuotient ? range.multipleOf : 1;
  DimInterval bounds{range.min / multiple + (range.min % multiple != 0), std::nullopt};
  if (range.max != DimRange::unbounded)
    bounds.upper = range.max / multiple;
  return bounds;
}

} // namespace

void DimConstraints::addEquality(DimExpr left, DimExpr right) {
  equalities.emplace_back(left, right);
  left = simplify(left);
  right = simplify(right);
  if (left == right)
    return;
  // A side that is one plain dim, not used on the other side, can be replaced everywhere.
  auto solveFor = [&](const DimExpr &side, const DimExpr &value) {
    std::optional<std::string> name = side.getDimName();
    std::set<std::string> used;
    value.collectDims(used);
    if (!name || used.count(*name))
      return false;
    for (auto &[_, expression] : solved)
      expression = expression.substitute(
          [&](const std::string &dim) { return dim == *name ? std::optional(value) : std::nullopt; });
    solved.emplace_back(*name, value);
    return true;
  };
  if (!solveFor(right, left))
    solveFor(left, right);
}

DimRange DimConstraints::getRange(const std::string &name) const {
  auto found = ranges.find(name);
  return found == ranges.end() ? DimRange{} : found->second;
}

DimExpr DimConstraints::simplify(const DimExpr &e) const {
  if (!e.isValid())
    return e;
  DimExpr replaced = solved.empty() ? e : e.substitute([&](const std::string &dim) -> std::optional<DimExpr> {
    for (const auto &[name, value] : solved)
      if (name == dim)
        return value;
    return std::nullopt;
  });
  auto apply = [&](DimOperation operation, const DimExpr &a, const DimExpr &b) {
    std::optional<int64_t> divisor = b.getConstant();
    if (divisor && *divisor > 0 && operation == DimOperation::Modulo) {
      // a = m * p + r with m a multiple of the divisor: a mod divisor is r mod divisor.
      std::optional<int64_t> rest = a.evaluate([](const std::string &) { return std::optional<int64_t>(0); });
      if (rest && getModulus(a) % *divisor == 0)
        return DimExpr::mod(DimExpr(*rest), b);
    }
    return DimExpr::apply(operation, a, b);
  };
  return replaced.fold<DimExpr>([](int64_t value) { return DimExpr(value); },
                                [](const std::string &name) { return DimExpr::dim(name); }, apply);
}

/// Terms that cancel in a sum do so under divisions by constants, too; elsewhere a dim that occurs twice counts twice.
DimInterval DimConstraints::getBounds(const DimExpr &e) const {
  if (!e.isValid())
    return {};
  bool divides = false;
  auto getInterval = [&](const DimExpr &expression) {
    auto combineNoting = [&](DimOperation operation, const DimInterval &a, const DimInterval &b) {
      divides |= operation == DimOperation::FloorDivide;
      return combine(operation, a, b);
    };
    return expression.fold<DimInterval>([](int64_t value) { return DimInterval{value, value}; },
                                        [&](const std::string &name) { return getDimBounds(*this, name); }, combineNoting);
  };
  DimExpr simple = overQuotients(*this, simplify(e));
  DimInterval bounds = getInterval(simple);
  if (!divides)
    return bounds;
  Relaxed relaxed = simple.fold<Relaxed>([](int64_t value) { return Relaxed{value, value, 1}; },
                                         [](const std::string &name) {
                                           DimExpr dim = DimExpr::dim(name);
                                           return Relaxed{dim, dim, 1};
                                         },
                                         relax);
  if (!relaxed.isValid())
    return bounds;
  Bound low = getInterval(relaxed.low).lower, high = getInterval(relaxed.high).upper;
  if (low)
    low = -floorDivide(-*low, relaxed.scale);
  if (high)
    high = floorDivide(*high, relaxed.scale);
  return intersect(bounds, {low, high});
}

int64_t DimConstraints::getModulus(const DimExpr &e) const {
  // A value is described as (modulus, remainder): value = modulus * p + remainder; modulus 0 means a constant.
  struct Congruence {
    int64_t modulus, remainder;
  };
  auto reduce = [](int64_t modulus, int64_t remainder) {
    return Congruence{std::abs(modulus), modulus ? remainder % modulus : remainder};
  };
  auto combineCongruence = [&](DimOperation operation, const Congruence &a, const Congruence &b) -> Congruence {
    int64_t x, y, z;
    switch (operation) {
    case DimOperation::Add:
    case DimOperation::Subtract:
      if (operation == DimOperation::Add ? __builtin_add_overflow(a.remainder, b.remainder, &x)
                                         : __builtin_sub_overflow(a.remainder, b.remainder, &x))
        return {1, 0};
      return reduce(std::gcd(a.modulus, b.modulus), x);
    case DimOperation::Multiply:
      // (m p + r)(n q + s) = mn pq + ms p + nr q + rs
      if (__builtin_mul_overflow(a.modulus, b.modulus, &x) || __builtin_mul_overflow(a.modulus, b.remainder, &y) ||
          __builtin_mul_overflow(b.modulus, a.remainder, &z))
        return {1, 0};
      {
        int64_t modulus = std::gcd(std::gcd(x, y), z), remainder;
        if (__builtin_mul_overflow(a.remainder, b.remainder, &remainder))
          return {1, 0};
        return reduce(modulus, remainder);
      }
    default:
      return {1, 0};
    }
  };
  return e
      .fold<Congruence>([](int64_t value) { return Congruence{0, value}; },
                        [&](const std::string &name) { return Congruence{getRange(name).multipleOf, 0}; },
                        combineCongruence)
      .modulus;
}

std::optional<bool> DimConstraints::isEqual(const DimExpr &a, const DimExpr &b) const {
  DimExpr difference = overQuotients(*this, simplify(a - b));
  if (!difference.isValid())
    return std::nullopt;
  if (std::optional<int64_t> constant = difference.getConstant())
    return *constant == 0;
  DimInterval bounds = getBounds(difference);
  if ((bounds.lower && *bounds.lower > 0) || (bounds.upper && *bounds.upper < 0))
    return false;
  if (bounds.lower && bounds.upper && *bounds.lower == 0 && *bounds.upper == 0)
    return true;
  // 2 * batch + 1 is never 0: the remainder modulo the common multiple is not 0.
  std::optional<int64_t> rest = difference.evaluate([](const std::string &) { return std::optional<int64_t>(0); });
  int64_t modulus = getModulus(difference);
  if (rest && modulus > 1 && *rest % modulus != 0)
    return false;
  return std::nullopt;
}

std::optional<bool> DimConstraints::isLess(const DimExpr &a, const DimExpr &b) const {
  DimInterval bounds = getBounds(b - a);
  if (bounds.lower && *bounds.lower > 0)
    return true;
  if (bounds.upper && *bounds.upper <= 0)
    return false;
  return std::nullopt;
}

std::optional<bool> DimConstraints::isLessEqual(const DimExpr &a, const DimExpr &b) const {
  std::optional<bool> greater = isLess(b, a);
  return greater ? std::optional<bool>(!*greater) : std::nullopt;
}

} // namespace ferrule
