// The order of the passes.
#ifndef FERRULE_PASSES_PIPELINES_H_
#define FERRULE_PASSES_PIPELINES_H_

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace mlir::ferrule {

/// Passes that may be switched off without changing a bit of any result.
llvm::ArrayRef<llvm::StringRef> getOptionalPasses();

/// The most that the arena may take: so many bytes, or such a part of what it takes without a budget. Zeros: no limit.
struct MemoryBudget {
  uint64_t bytes = 0;
  double fraction = 0;
};

/// From what the frontend recorded to ordered dispatches. `disabled` names optional passes.
void buildGraphPipeline(OpPassManager &manager, const std::vector<std::string> &disabled, const MemoryBudget &budget);

/// From ordered dispatches to verified plans (ir/plan).
void buildPlanPipeline(OpPassManager &manager, const std::vector<std::string> &disabled);

} // namespace mlir::ferrule

#endif // FERRULE_PASSES_PIPELINES_H_
