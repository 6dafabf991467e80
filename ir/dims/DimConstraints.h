// What is known about dims: their ranges, their multiples and the equalities recorded while tracing; and what follows
// from that about expressions.
#ifndef FERRULE_IR_DIMS_DIMCONSTRAINTS_H_
#define FERRULE_IR_DIMS_DIMCONSTRAINTS_H_

#include "ir/dims/DimExpr.h"

#include <limits>
#include <map>
#include <utility>

namespace ferrule {

/// min <= dim <= max, and dim is a multiple of multipleOf. An unbounded dim has max == unbounded.
struct DimRange {
  static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();
  int64_t min = 1, max = unbounded, multipleOf = 1;
};

/// A closed interval; an end that overflows or is unknown is empty (minus or plus infinity).
struct DimInterval {
  std::optional<int64_t> lower, upper;
};

class DimConstraints {
public:
  /// Declares (or replaces) a dim. A dim never declared has the default range.
  void declare(const std::string &name, DimRange range) { ranges[name] = range; }
  /// Records left == right, which the runtime enforces on every call.
  void addEquality(DimExpr left, DimExpr right);

  DimRange getRange(const std::string &name) const;
  const std::map<std::string, DimRange> &getRanges() const { return ranges; }
  const std::vector<std::pair<DimExpr, DimExpr>> &getEqualities() const { return equalities; }

  /// The expression with the recorded equalities applied, and with modulos that the multiples decide
  /// removed: batch % 4 is 0 where batch is a multiple of 8.
  DimExpr simplify(const DimExpr &e) const;

  /// Bounds of the value over all allowed dims. Sound, not always tight: a dim that occurs twice counts twice.
  DimInterval getBounds(const DimExpr &e) const;

  /// A comparison if the constraints decide it for every allowed value of the dims; empty if they do not.
  std::optional<bool> isEqual(const DimExpr &a, const DimExpr &b) const;
  std::optional<bool> isLess(const DimExpr &a, const DimExpr &b) const;
  std::optional<bool> isLessEqual(const DimExpr &a, const DimExpr &b) const;

private:
  /// The largest known m such that e is congruent to its constant part modulo m.
  int64_t getModulus(const DimExpr &e) const;

  std::map<std::string, DimRange> ranges;
  std::vector<std::pair<DimExpr, DimExpr>> equalities;
  /// Equalities solved for a dim, in the order to apply them.
  std::vector<std::pair<std::string, DimExpr>> solved;
};

} // namespace ferrule

#endif // FERRULE_IR_DIMS_DIMCONSTRAINTS_H_
