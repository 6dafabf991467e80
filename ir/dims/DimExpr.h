// Symbolic sizes: immutable integer expressions over named dims, kept canonical so that equal polynomials are equal
// objects. This library knows neither MLIR nor Python; the frontend, the passes and code generation share it.
#ifndef FERRULE_IR_DIMS_DIMEXPR_H_
#define FERRULE_IR_DIMS_DIMEXPR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

struct DimAtom;
struct DimTerm;

/// The binary operations an expression is made of. Division and modulo round toward minus infinity, as Python's.
enum class DimOperation { Add, Subtract, Multiply, FloorDivide, Modulo, Minimum, Maximum };

/// A size in elements. Canonical form: a sum of terms (integer coefficient times a sorted product of atoms) plus a
/// constant, where an atom is a named dim or a floor division, modulo, minimum or maximum of canonical expressions.
/// So `(batch + 1) * 2` equals `2 + batch * 2`, and both print as `batch * 2 + 2`.
///
/// An operation whose coefficients leave int64, or that divides by the constant zero, gives an *invalid* expression;
/// everything computed from it is invalid too. Ask isValid() once, at the end.
class DimExpr {
public:
  /// The constant `value`.
  DimExpr(int64_t value = 0) : constantPart(value) {}

  /// The dim called `name` ([A-Za-z_][A-Za-z0-9_.]*); any other name gives an invalid expression.
  static DimExpr dim(std::string_view name);
  static DimExpr invalid();

  /// Reads `batch * 2 + 1`, `(h + 1) // 2`, `h % 4`, `min(a, b)`; `floordiv` and `mod` are accepted for `//` and `%`.
  /// On failure the result is empty and `error`, if given, says what stood where.
  static std::optional<DimExpr> parse(std::string_view text, std::string *error = nullptr);

  bool isValid() const { return valid; }
  bool isConstant() const { return valid && !terms; }
  /// The value if the expression is a constant.
  std::optional<int64_t> getConstant() const;
  /// The name if the expression is one plain dim.
  std::optional<std::string> getDimName() const;
  /// All dims that occur, at any depth.
  void collectDims(std::set<std::string> &names) const;

  friend DimExpr operator+(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator-(const DimExpr &a, const DimExpr &b);
  friend DimExpr operator*(const DimExpr &a, const DimExpr &b);
  static DimExpr floorDiv(const DimExpr &a, const DimExpr &b);
  static DimExpr ceilDiv(const DimExpr &a, const DimExpr &b);
  static DimExpr mod(const DimExpr &a, const DimExpr &b);
  static DimExpr min(const DimExpr &a, const DimExpr &b);
  static DimExpr max(const DimExpr &a, const DimExpr &b);
  static DimExpr apply(DimOperation operation, const DimExpr &a, const DimExpr &b);

  /// Structural equality of canonical forms. Two different forms may still have equal values: see DimConstraints.
  friend bool operator==(const DimExpr &a, const DimExpr &b) { return a.compare(b) == 0; }
  friend bool operator!=(const DimExpr &a, const DimExpr &b) { return a.compare(b) != 0; }
  /// An arbitrary but fixed total order, for sorting and maps; not an order of values.
  int compare(const DimExpr &other) const;
  size_t hash() const;

  /// How floor division and modulo are written.
  enum class Spelling { Python, Words };
  std::string str(Spelling spelling = Spelling::Python) const;

  /// The value with each dim given by `valueOf`; empty if a dim has none, a divisor is zero or int64 overflows.
  std::optional<int64_t>
  evaluate(const std::function<std::optional<int64_t>(const std::string &)> &valueOf) const;

  /// The expression with each dim replaced by what `replacementOf` gives (a dim without one stays).
  DimExpr substitute(const std::function<std::optional<DimExpr>(const std::string &)> &replacementOf) const;

  /// Rebuilds the expression bottom-up out of binary operations in a fixed order, which is how evaluation,
  /// substitution, interval arithmetic and the artifact's expression table are all written.
  template <typename Result>
  Result fold(const std::function<Result(int64_t)> &constant,
              const std::function<Result(const std::string &)> &dim,
              const std::function<Result(DimOperation, const Result &, const Result &)> &binary) const;

private:
  friend class DimAlgebra;
  int64_t constantPart = 0;
  bool valid = true;
  /// Null when there are no terms, so constants cost no allocation.
  std::shared_ptr<const std::vector<DimTerm>> terms;
};

/// An indivisible factor. `operands` is empty for a dim, (dividend, divisor) for FloorDivide and Modulo, and two or
/// more sorted distinct expressions for Minimum and Maximum.
struct DimAtom {
  bool isDim = true;
  std::string name;
  DimOperation operation = DimOperation::FloorDivide;
  std::vector<DimExpr> operands;
};

/// coefficient * factors[0] * factors[1] * ...; factors are sorted and not empty, the coefficient is not zero.
struct DimTerm {
  int64_t coefficient = 0;
  std::vector<std::shared_ptr<const DimAtom>> factors;
};

template <typename Result>
Result DimExpr::fold(const std::function<Result(int64_t)> &constant,
                     const std::function<Result(const std::string &)> &dim,
                     const std::function<Result(DimOperation, const Result &, const Result &)> &binary) const {
  auto foldAtom = [&](const DimAtom &atom) {
    if (atom.isDim)
      return dim(atom.name);
    Result result = atom.operands.front().template fold<Result>(constant, dim, binary);
    for (size_t i = 1; i < atom.operands.size(); ++i)
      result = binary(atom.operation, result, atom.operands[i].template fold<Result>(constant, dim, binary));
    return result;
  };
  // |coefficient| * product; int64's minimum has no absolute value and keeps its sign.
  auto foldTerm = [&](const DimTerm &term, int64_t coefficient) {
    Result product = foldAtom(*term.factors.front());
    for (size_t i = 1; i < term.factors.size(); ++i)
      product = binary(DimOperation::Multiply, product, foldAtom(*term.factors[i]));
    return coefficient == 1 ? product : binary(DimOperation::Multiply, product, constant(coefficient));
  };
  if (!terms)
    return constant(constantPart);

  // Start with something positive where there is any, so that `5 - batch` reads as it was written.
  std::optional<Result> sum;
  bool constantUsed = false;
  for (const DimTerm &term : *terms) {
    if (term.coefficient < 0)
      continue;
    Result value = foldTerm(term, term.coefficient);
    sum = sum ? binary(DimOperation::Add, *sum, value) : value;
  }
  if (!sum && constantPart > 0) {
    sum = constant(constantPart);
    constantUsed = true;
  }
  for (const DimTerm &term : *terms) {
    if (term.coefficient > 0)
      continue;
    if (!sum)
      sum = foldTerm(term, term.coefficient);
    else if (term.coefficient == INT64_MIN)
      sum = binary(DimOperation::Add, *sum, foldTerm(term, term.coefficient));
    else
      sum = binary(DimOperation::Subtract, *sum, foldTerm(term, -term.coefficient));
  }
  if (constantUsed || constantPart == 0)
    return *sum;
  if (constantPart < 0 && constantPart != INT64_MIN)
    return binary(DimOperation::Subtract, *sum, constant(-constantPart));
  return binary(DimOperation::Add, *sum, constant(constantPart));
}

} // namespace ferrule

#endif // FERRULE_IR_DIMS_DIMEXPR_H_
