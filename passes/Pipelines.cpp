#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

// Without "memory" values still get places, but none is written over another.
static constexpr llvm::StringRef optionalPasses[] = {"simplify", "fold", "prune", "attention", "fuse", "schedule", "memory"};

llvm::ArrayRef<llvm::StringRef> mlir::ferrule::getOptionalPasses() { return optionalPasses; }

void mlir::ferrule::buildGraphPipeline(OpPassManager &manager, const std::vector<std::string> &disabled,
                                       const MemoryBudget &budget) {
  auto isOn = [&](llvm::StringRef name) { return !llvm::is_contained(disabled, name); };

  //===--- Meaning: what the user wrote, without gradients and compound ops ---------------------------------------===//

  manager.addPass(createVerifyInputPass());
  // Before anything merges ops: the order of recorded uses fixes the order in which cotangents add up.
  manager.addPass(createExpandGradientsPass());
  manager.addPass(createSubstituteMaterializedPass());
  manager.addPass(createDropCustomGradientsPass());
  // Whole ops first: a norm of 16-bit floats rounds once, not at each step of its decomposition.
  manager.addPass(createWidenElementsPass());
  manager.addPass(createDecomposeNormalizePass());
  manager.addPass(createBoundLoopsPass());
  manager.addPass(createVerifyPrimitivesPass());

  //===--- Less work: same bits -----------------------------------------------------------------------------------===//

  // Gradient rules build gradients of every operand; the rest need not look at what nobody reads.
  if (isOn("prune"))
    manager.addPass(createPrunePass());
  if (isOn("simplify"))
    manager.addPass(createSimplifyPass());
  if (isOn("fold"))
    manager.addPass(createFoldConstantsPass());
  // Before layouts are chosen: transposes that it reads through need not be moved.
  if (isOn("attention"))
    manager.addPass(createFuseAttentionPass());

  //===--- Layout: once conversions have met, equal ones are merged -----------------------------------------------===//

  manager.addPass(createLayoutPass());
  if (isOn("simplify"))
    manager.addPass(createSimplifyPass());
  if (isOn("prune"))
    manager.addPass(createPrunePass());

  //===--- Kernels ------------------------------------------------------------------------------------------------===//

  FusePassOptions fuse;
  fuse.fuse = isOn("fuse");
  manager.addPass(createFusePass(fuse));
  if (isOn("schedule"))
    manager.addPass(createSchedulePass());

  //===--- Memory -------------------------------------------------------------------------------------------------===//

  RecomputePassOptions recompute;
  recompute.budgetBytes = budget.bytes;
  recompute.budgetFraction = budget.fraction;
  recompute.inPlace = isOn("memory");
  manager.addPass(createRecomputePass(recompute));
}

void mlir::ferrule::buildPlanPipeline(OpPassManager &manager, const std::vector<std::string> &disabled) {
  PlanMemoryPassOptions memory;
  memory.inPlace = !llvm::is_contained(disabled, "memory");
  manager.addPass(createPlanMemoryPass(memory));
  // The border to code generation, which trusts the plan.
  manager.addPass(createVerifyPlanPass());
}
