// What the autodiff pass leaves in the graph.
#ifndef FERRULE_PASSES_AUTODIFF_MARKS_H_
#define FERRULE_PASSES_AUTODIFF_MARKS_H_

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

namespace mlir::ferrule {

/// How an op says that it belongs to a backward computation: its location has this name around the place in the user's
/// program, and goes wherever the op's location goes.
constexpr llvm::StringLiteral backwardMark = "ferrule.backward";

inline bool isBackward(Location location) {
  auto named = dyn_cast<NameLoc>(location);
  return named && named.getName() == backwardMark;
}

inline Location markBackward(Location location) {
  if (isBackward(location))
    return location;
  return NameLoc::get(StringAttr::get(location.getContext(), backwardMark), location);
}

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_AUTODIFF_MARKS_H_
