#include "ir/dims/DimExpr.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ferrule {
namespace {

/// int64 arithmetic that reports overflow instead of wrapping.
bool addChecked(int64_t a, int64_t b, int64_t &out) { return !__builtin_add_overflow(a, b, &out); }
bool multiplyChecked(int64_t a, int64_t b, int64_t &out) { return !__builtin_mul_overflow(a, b, &out); }

/// Floor division and its remainder for b > 0.
int64_t floorQuotient(int64_t a, int64_t b) { return a / b - (a % b < 0); }
int64_t floorRemainder(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

int compareAtoms(const DimAtom &a, const DimAtom &b) {
  if (a.isDim != b.isDim)
    return a.isDim ? -1 : 1;
  if (a.isDim)
    return a.name.compare(b.name);
  if (a.operation != b.operation)
    return a.operation < b.operation ? -1 : 1;
  if (a.operands.size() != b.operands.size())
    return a.operands.size() < b.operands.size() ? -1 : 1;
  for (size_t i = 0; i < a.operands.size(); ++i)
    if (int order = a.operands[i].compare(b.operands[i]))
      return order;
  return 0;
}

/// Orders terms by their factors alone: equal factors mean that coefficients can be added.
int compareFactors(const DimTerm &a, const DimTerm &b) {
  for (size_t i = 0; i < a.factors.size() && i < b.factors.size(); ++i)
    if (int order = compareAtoms(*a.factors[i], *b.factors[i]))
      return order;
  // A longer product that starts alike comes first: batch * height before batch.
  return a.factors.size() == b.factors.size() ? 0 : a.factors.size() > b.factors.size() ? -1 : 1;
}

/// The factors of `term` without those of `divisor`; false if one of these does not occur.
bool removeFactors(const DimTerm &term, const DimTerm &divisor, std::vector<std::shared_ptr<const DimAtom>> &rest) {
  rest = term.factors;
  for (const auto &factor : divisor.factors) {
    auto found = std::find_if(rest.begin(), rest.end(),
                              [&](const auto &candidate) { return compareAtoms(*candidate, *factor) == 0; });
    if (found == rest.end())
      return false;
    rest.erase(found);
  }
  return true;
}

} // namespace

/// The operations on canonical forms that need their insides.
class DimAlgebra {
public:
  static const std::vector<DimTerm> &terms(const DimExpr &e) {
    static const std::vector<DimTerm> none;
    return e.terms ? *e.terms : none;
  }

  /// Sorts, merges equal products and drops zero coefficients.
  static DimExpr make(std::vector<DimTerm> terms, int64_t constant) {
    std::sort(terms.begin(), terms.end(), [](const DimTerm &a, const DimTerm &b) { return compareFactors(a, b) < 0; });
    std::vector<DimTerm> merged;
    for (DimTerm &term : terms) {
      if (!merged.empty() && compareFactors(merged.back(), term) == 0) {
        if (!addChecked(merged.back().coefficient, term.coefficient, merged.back().coefficient))
          return DimExpr::invalid();
      } else {
        merged.push_back(std::move(term));
      }
    }
    merged.erase(std::remove_if(merged.begin(), merged.end(), [](const DimTerm &t) { return t.coefficient == 0; }),
                 merged.end());
    DimExpr result(constant);
    if (!merged.empty())
      result.terms = std::make_shared<const std::vector<DimTerm>>(std::move(merged));
    return result;
  }

  static DimExpr atom(DimAtom atom) {
    return make({DimTerm{1, {std::make_shared<const DimAtom>(std::move(atom))}}}, 0);
  }

  static DimExpr multiply(const DimExpr &a, const DimExpr &b) {
    int64_t constant = 0;
    if (!multiplyChecked(a.constantPart, b.constantPart, constant))
      return DimExpr::invalid();
    std::vector<DimTerm> products;
    bool fits = true;
    auto scale = [&](const DimTerm &term, int64_t factor) {
      DimTerm scaled = term;
      fits &= multiplyChecked(term.coefficient, factor, scaled.coefficient);
      products.push_back(std::move(scaled));
    };
    for (const DimTerm &term : terms(a))
      scale(term, b.constantPart);
    for (const DimTerm &term : terms(b))
      scale(term, a.constantPart);
    for (const DimTerm &left : terms(a))
      for (const DimTerm &right : terms(b)) {
        DimTerm product = left;
        fits &= multiplyChecked(left.coefficient, right.coefficient, product.coefficient);
        product.factors.insert(product.factors.end(), right.factors.begin(), right.factors.end());
        std::sort(product.factors.begin(), product.factors.end(),
                  [](const auto &x, const auto &y) { return compareAtoms(*x, *y) < 0; });
        products.push_back(std::move(product));
      }
    return fits ? make(std::move(products), constant) : DimExpr::invalid();
  }

  struct Division {
    DimExpr quotient, remainder;
  };

  /// a = c * quotient + remainder with every coefficient of the remainder in [0, c).
  static Division divideByConstant(const DimExpr &a, int64_t c) {
    std::vector<DimTerm> quotient, remainder;
    for (const DimTerm &term : terms(a)) {
      quotient.push_back({floorQuotient(term.coefficient, c), term.factors});
      remainder.push_back({floorRemainder(term.coefficient, c), term.factors});
    }
    return {make(std::move(quotient), floorQuotient(a.constantPart, c)),
            make(std::move(remainder), floorRemainder(a.constantPart, c))};
  }

  /// a = b * quotient + remainder, where the quotient takes the terms that the single-term divisor b divides.
  static Division divideByTerm(const DimExpr &a, const DimExpr &b) {
    const DimTerm &divisor = terms(b).front();
    std::vector<DimTerm> quotient, remainder;
    int64_t quotientConstant = 0;
    for (const DimTerm &term : terms(a)) {
      std::vector<std::shared_ptr<const DimAtom>> rest;
      if (term.coefficient % divisor.coefficient != 0 || !removeFactors(term, divisor, rest))
        remainder.push_back(term);
      else if (rest.empty())
        quotientConstant = term.coefficient / divisor.coefficient;
      else
        quotient.push_back({term.coefficient / divisor.coefficient, std::move(rest)});
    }
    return {make(std::move(quotient), quotientConstant), make(std::move(remainder), a.constantPart)};
  }

  /// The quotient if the sum b divides a without remainder: long division of polynomials. The order of terms is
  /// lexicographic, so the first term of a product is the product of the first terms. Empty if b does not divide a.
  static std::optional<DimExpr> divideBySum(const DimExpr &a, const DimExpr &b) {
    constexpr unsigned mostSteps = 64;
    const DimTerm &divisor = terms(b).front();
    DimExpr quotient, rest = a;
    for (unsigned step = 0; step < mostSteps && rest.terms; ++step) {
      const DimTerm &first = terms(rest).front();
      std::vector<std::shared_ptr<const DimAtom>> factors;
      if (divisor.coefficient == -1 ? first.coefficient == INT64_MIN : first.coefficient % divisor.coefficient != 0)
        return std::nullopt;
      if (!removeFactors(first, divisor, factors))
        return std::nullopt;
      int64_t coefficient = first.coefficient / divisor.coefficient;
      DimExpr part = factors.empty() ? DimExpr(coefficient) : make({DimTerm{coefficient, std::move(factors)}}, 0);
      quotient = quotient + part;
      rest = rest - part * b;
      if (!quotient.isValid() || !rest.isValid())
        return std::nullopt;
    }
    return rest == DimExpr(0) ? std::optional<DimExpr>(quotient) : std::nullopt;
  }

  /// The greatest common divisor of all coefficients of `e` (not of its constant) and of `c`.
  static int64_t commonDivisor(const DimExpr &e, int64_t c) {
    for (const DimTerm &term : terms(e))
      c = std::gcd(c, term.coefficient);
    return c;
  }

  static Division divide(const DimExpr &a, const DimExpr &b) {
    if (std::optional<int64_t> c = b.getConstant())
      return divideByConstant(a, *c);
    if (a == b)
      return {DimExpr(1), DimExpr(0)};
    if (terms(b).size() == 1 && b.constantPart == 0 && terms(b).front().coefficient != INT64_MIN)
      return divideByTerm(a, b);
    if (std::optional<DimExpr> quotient = divideBySum(a, b))
      return {*quotient, DimExpr(0)};
    return {DimExpr(0), a};
  }

  static DimExpr floorDivide(const DimExpr &a, const DimExpr &b) {
    if (std::optional<int64_t> c = b.getConstant(); c && *c < 0)
      return floorDivide(DimExpr(0) - a, DimExpr(0) - b);
    Division division = divide(a, b);
    if (division.remainder == DimExpr(0))
      return division.quotient;
    DimExpr dividend = division.remainder, divisor = b;
    if (std::optional<int64_t> c = b.getConstant()) {
      if (dividend.isConstant()) // 0 < constant < c
        return division.quotient;
      // floor((g * p + s) / (g * d)) = floor((p + floor(s / g)) / d)
      int64_t common = commonDivisor(dividend, *c);
      dividend = divideByConstant(dividend, common).quotient;
      divisor = DimExpr(*c / common);
      if (divisor == DimExpr(1))
        return division.quotient + dividend;
    }
    return division.quotient + atom({false, "", DimOperation::FloorDivide, {dividend, divisor}});
  }

  static DimExpr modulo(const DimExpr &a, const DimExpr &b) {
    if (std::optional<int64_t> c = b.getConstant(); c && *c < 0)
      return DimExpr(0) - modulo(DimExpr(0) - a, DimExpr(0) - b);
    DimExpr remainder = divide(a, b).remainder;
    if (remainder == DimExpr(0) || (b.isConstant() && remainder.isConstant()))
      return remainder;
    return atom({false, "", DimOperation::Modulo, {remainder, b}});
  }

  /// Whether `e` is 0 or more for all values of its dims, as far as its signs tell: no dim is negative.
  static bool isNonNegative(const DimExpr &e) {
    auto isOfDims = [](const DimTerm &term) {
      return std::all_of(term.factors.begin(), term.factors.end(), [](const auto &factor) { return factor->isDim; });
    };
    return e.isValid() && e.constantPart >= 0 &&
           std::all_of(terms(e).begin(), terms(e).end(),
                       [&](const DimTerm &term) { return term.coefficient > 0 && isOfDims(term); });
  }

  /// Appends what `e` is the extremum of, with the sums distributed: max(a, b) - min(c, d) is the maximum of a - c,
  /// a - d, b - c and b - d. False if these are too many, or one leaves int64.
  static bool distribute(DimOperation operation, const DimExpr &e, std::vector<DimExpr> &operands) {
    constexpr size_t mostOperands = 16;
    DimOperation opposite = operation == DimOperation::Maximum ? DimOperation::Minimum : DimOperation::Maximum;
    for (const DimTerm &term : terms(e)) {
      const DimAtom &nested = *term.factors.front();
      bool adds = term.coefficient == 1, isNested = term.factors.size() == 1 && !nested.isDim;
      if (!isNested || (!adds && term.coefficient != -1) || nested.operation != (adds ? operation : opposite))
        continue;
      DimExpr rest = e - make({term}, 0);
      return std::all_of(nested.operands.begin(), nested.operands.end(), [&](const DimExpr &operand) {
        return distribute(operation, adds ? rest + operand : rest - operand, operands);
      });
    }
    operands.push_back(e);
    return e.isValid() && operands.size() <= mostOperands;
  }

  /// Of canonical expressions; operands that another one always reaches are left out.
  static DimExpr extremum(DimOperation operation, const DimExpr &a, const DimExpr &b) {
    std::vector<DimExpr> found;
    if (!distribute(operation, a, found) || !distribute(operation, b, found))
      found = {a, b};
    std::vector<DimExpr> operands;
    auto reaches = [&](const DimExpr &e, const DimExpr &other) {
      return isNonNegative(operation == DimOperation::Maximum ? e - other : other - e);
    };
    for (const DimExpr &e : found) {
      if (std::any_of(operands.begin(), operands.end(), [&](const DimExpr &present) { return reaches(present, e); }))
        continue;
      operands.erase(std::remove_if(operands.begin(), operands.end(),
                                    [&](const DimExpr &present) { return reaches(e, present); }),
                     operands.end());
      operands.push_back(e);
    }
    if (operands.size() == 1)
      return operands.front();
    std::sort(operands.begin(), operands.end(), [](const DimExpr &x, const DimExpr &y) { return x.compare(y) < 0; });
    return atom({false, "", operation, std::move(operands)});
  }

  /// The atom if `e` is exactly one atom.
  static const DimAtom *onlyAtom(const DimExpr &e) {
    if (e.constantPart != 0 || terms(e).size() != 1)
      return nullptr;
    const DimTerm &term = terms(e).front();
    return term.coefficient == 1 && term.factors.size() == 1 ? term.factors.front().get() : nullptr;
  }
};

DimExpr DimExpr::invalid() {
  DimExpr result;
  result.valid = false;
  return result;
}

DimExpr DimExpr::dim(std::string_view name) {
  auto isHead = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; };
  auto isTail = [&](char c) { return isHead(c) || std::isdigit(static_cast<unsigned char>(c)) || c == '.'; };
  if (name.empty() || !isHead(name.front()) || !std::all_of(name.begin(), name.end(), isTail))
    return invalid();
  DimAtom atom;
  atom.name = std::string(name);
  return DimAlgebra::atom(std::move(atom));
}

std::optional<int64_t> DimExpr::getConstant() const {
  return isConstant() ? std::optional<int64_t>(constantPart) : std::nullopt;
}

std::optional<std::string> DimExpr::getDimName() const {
  const DimAtom *atom = valid ? DimAlgebra::onlyAtom(*this) : nullptr;
  return atom && atom->isDim ? std::optional<std::string>(atom->name) : std::nullopt;
}

void DimExpr::collectDims(std::set<std::string> &names) const {
  for (const DimTerm &term : DimAlgebra::terms(*this))
    for (const auto &factor : term.factors) {
      if (factor->isDim)
        names.insert(factor->name);
      for (const DimExpr &operand : factor->operands)
        operand.collectDims(names);
    }
}

DimExpr operator+(const DimExpr &a, const DimExpr &b) {
  int64_t constant = 0;
  if (!a.valid || !b.valid || !addChecked(a.constantPart, b.constantPart, constant))
    return DimExpr::invalid();
  if (!a.terms && !b.terms)
    return DimExpr(constant);
  std::vector<DimTerm> terms = DimAlgebra::terms(a);
  terms.insert(terms.end(), DimAlgebra::terms(b).begin(), DimAlgebra::terms(b).end());
  return DimAlgebra::make(std::move(terms), constant);
}

DimExpr operator-(const DimExpr &a, const DimExpr &b) { return a + b * DimExpr(-1); }

DimExpr operator*(const DimExpr &a, const DimExpr &b) {
  return a.valid && b.valid ? DimAlgebra::multiply(a, b) : DimExpr::invalid();
}

DimExpr DimExpr::floorDiv(const DimExpr &a, const DimExpr &b) {
  if (!a.valid || !b.valid || b == DimExpr(0))
    return invalid();
  return DimAlgebra::floorDivide(a, b);
}

DimExpr DimExpr::ceilDiv(const DimExpr &a, const DimExpr &b) {
  // The form in which (2 * n) // 2 and the like are recognised.
  if (b.getConstant().value_or(0) > 0)
    return floorDiv(a + (b - 1), b);
  return DimExpr(0) - floorDiv(DimExpr(0) - a, b);
}

DimExpr DimExpr::mod(const DimExpr &a, const DimExpr &b) {
  if (!a.valid || !b.valid || b == DimExpr(0))
    return invalid();
  return DimAlgebra::modulo(a, b);
}

DimExpr DimExpr::min(const DimExpr &a, const DimExpr &b) {
  return a.valid && b.valid ? DimAlgebra::extremum(DimOperation::Minimum, a, b) : invalid();
}

DimExpr DimExpr::max(const DimExpr &a, const DimExpr &b) {
  return a.valid && b.valid ? DimAlgebra::extremum(DimOperation::Maximum, a, b) : invalid();
}

DimExpr DimExpr::apply(DimOperation operation, const DimExpr &a, const DimExpr &b) {
  switch (operation) {
  case DimOperation::Add:
    return a + b;
  case DimOperation::Subtract:
    return a - b;
  case DimOperation::Multiply:
    return a * b;
  case DimOperation::FloorDivide:
    return floorDiv(a, b);
  case DimOperation::Modulo:
    return mod(a, b);
  case DimOperation::Minimum:
    return min(a, b);
  case DimOperation::Maximum:
    return max(a, b);
  }
  return invalid();
}

int DimExpr::compare(const DimExpr &other) const {
  if (valid != other.valid)
    return valid ? -1 : 1;
  const std::vector<DimTerm> &left = DimAlgebra::terms(*this), &right = DimAlgebra::terms(other);
  for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (int order = compareFactors(left[i], right[i]))
      return order;
    if (left[i].coefficient != right[i].coefficient)
      return left[i].coefficient < right[i].coefficient ? -1 : 1;
  }
  if (left.size() != right.size())
    return left.size() > right.size() ? -1 : 1;
  return constantPart == other.constantPart ? 0 : constantPart < other.constantPart ? -1 : 1;
}

size_t DimExpr::hash() const {
  // Nearly all sizes are numbers, and each recorded op looks several up.
  if (std::optional<int64_t> value = getConstant())
    return std::hash<int64_t>()(*value);
  return std::hash<std::string>()(str());
}

std::optional<int64_t>
DimExpr::evaluate(const std::function<std::optional<int64_t>(const std::string &)> &valueOf) const {
  using Value = std::optional<int64_t>;
  if (!valid)
    return std::nullopt;
  return fold<Value>([](int64_t value) { return Value(value); }, valueOf,
                     [](DimOperation operation, const Value &a, const Value &b) -> Value {
                       if (!a || !b)
                         return std::nullopt;
                       return apply(operation, DimExpr(*a), DimExpr(*b)).getConstant();
                     });
}

DimExpr DimExpr::substitute(const std::function<std::optional<DimExpr>(const std::string &)> &replacementOf) const {
  if (!valid)
    return *this;
  return fold<DimExpr>(
      [](int64_t value) { return DimExpr(value); },
      [&](const std::string &name) { return replacementOf(name).value_or(dim(name)); },
      [](DimOperation operation, const DimExpr &a, const DimExpr &b) { return apply(operation, a, b); });
}

std::string DimExpr::str(Spelling spelling) const {
  if (!valid)
    return "<invalid>";
  // Precedence: 0 sum, 1 product or quotient, 2 name, number or call.
  struct Text {
    std::string text;
    int precedence;
  };
  auto wrap = [](const Text &operand, int least) {
    return operand.precedence < least ? "(" + operand.text + ")" : operand.text;
  };
  bool python = spelling == Spelling::Python;
  return fold<Text>([](int64_t value) { return Text{std::to_string(value), 2}; },
                    [](const std::string &name) { return Text{name, 2}; },
                    [&](DimOperation operation, const Text &a, const Text &b) -> Text {
                      switch (operation) {
                      case DimOperation::Add:
                        return {wrap(a, 0) + " + " + wrap(b, 1), 0};
                      case DimOperation::Subtract:
                        return {wrap(a, 0) + " - " + wrap(b, 1), 0};
                      case DimOperation::Multiply:
                        return {wrap(a, 1) + " * " + wrap(b, 2), 1};
                      case DimOperation::FloorDivide:
                        return {wrap(a, 1) + (python ? " // " : " floordiv ") + wrap(b, 2), 1};
                      case DimOperation::Modulo:
                        return {wrap(a, 1) + (python ? " % " : " mod ") + wrap(b, 2), 1};
                      case DimOperation::Minimum:
                        return {"min(" + a.text + ", " + b.text + ")", 2};
                      case DimOperation::Maximum:
                        return {"max(" + a.text + ", " + b.text + ")", 2};
                      }
                      return a;
                    })
      .text;
}

} // namespace ferrule
