//===- Gradient.h - Recording ferrule.gradient ----------------------------===//
#ifndef FERRULE_FRONTEND_CORE_GRADIENT_H
#define FERRULE_FRONTEND_CORE_GRADIENT_H

#include "frontend/core/OpStream.h"

namespace ferrule::frontend {

struct GradientCall {
  TensorRef cost;                         ///< A float tensor; one element unless there is a cotangent.
  TensorRef cotangent;                    ///< Of the type of `cost`; null means 1.
  llvm::SmallVector<TensorRef, 8> inputs; ///< With respect to these.
  /// What each input is called in messages; may be shorter than `inputs`.
  llvm::SmallVector<std::string, 8> inputNames;
  CallSite site;
};

/// Records one `ferrule.gradient` in `stream` and returns a handle for each
/// input, of its type: zeros where the cost does not depend on it. A
/// GradientError at once, if an op between an input and the cost has no
/// gradient, names that op, its line and the parameter.
llvm::Expected<llvm::SmallVector<TensorRef, 8>> recordGradient(OpStream &stream, const GradientCall &call);

/// An op through which a gradient cannot pass.
struct GradientProblem {
  std::string op;
  std::string line;   ///< "file.py:12", the user's; empty if it is not known.
  std::string reason;
  std::string input;  ///< Whose gradient needs it.
};

/// Everything that `recordGradient` would refuse, where that names the first.
/// Records nothing. Fails where the call itself makes no sense, as when the
/// cost is no float.
llvm::Expected<std::vector<GradientProblem>> explainGradient(OpStream &stream, const GradientCall &call);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_GRADIENT_H
