// Computes values again so that the arena stays within a budget, and where the user asks for it. The choice is made on
// estimates (ChooseRecomputation.h) and judged by the memory planner itself.
#include "passes/Passes.h"

#include "ir/graph/ModuleDims.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/recompute/BlockProblem.h"
#include "passes/recompute/ChooseRecomputation.h"
#include "passes/recompute/DescribePeak.h"
#include "passes/recompute/Marks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <limits>

namespace mlir::ferrule {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// Targets tried for one limit on the estimated bytes; each halves what is open.
constexpr unsigned bisectionSteps = 10;
/// Targets tried for the smallest arena.
constexpr uint64_t smallestSteps = 16;
/// How often the limit is lowered because the planner needed more than was estimated.
constexpr unsigned attemptCount = 4;
/// Recomputation is chosen again for what came of it so often: the second time what was recomputed is recomputed.
constexpr unsigned roundCount = 3;

constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

struct Candidate {
  RecomputeSequence sequence;
  uint64_t bytes = 0;
};

/// One entry and its budget.
class EntryRecomputer {
public:
  EntryRecomputer(func::FuncOp entry, const ::ferrule::DimConstraints &constraints, const MemoryOptions &memory)
      : entry(entry), constraints(constraints), memory(memory) {}

  /// Fails without a message if the plan does.
  FailureOr<uint64_t> getArena() const { return planArena(entry); }

  /// What the entry itself asks for (memoryBudgetAttributeName), in bytes; the largest number if it does not.
  FailureOr<uint64_t> getOwnBudget() const {
    Attribute budget = entry->getAttr(memoryBudgetAttributeName);
    if (auto bytes = dyn_cast_or_null<IntegerAttr>(budget))
      return uint64_t(bytes.getInt());
    auto fraction = dyn_cast_or_null<FloatAttr>(budget);
    if (!fraction)
      return unlimited;
    FailureOr<uint64_t> arena = getArena();
    if (failed(arena))
      return failure();
    return uint64_t(std::floor(double(*arena) * fraction.getValueAsDouble()));
  }

  void applyForced() {
    if (!entry->hasAttr(hasCheckpointAttributeName))
      return;
    RecomputeProblem problem = describeBlock(entry.getBody().front(), constraints);
    apply(problem, expandChoice(problem, RecomputeChooser(problem).chooseForced()));
  }

  /// Changes the entry so that its arena takes at most `budget` bytes; an error at the entry if that cannot be reached.
  LogicalResult meet(uint64_t budget) {
    if (budget == unlimited)
      return success();
    FailureOr<uint64_t> arena = getArena();
    if (failed(arena))
      return failure();
    for (unsigned round = 0; round < roundCount && *arena > budget; ++round) {
      uint64_t before = *arena;
      if (failed(improve(budget, *arena)))
        return failure();
      if (*arena >= before)
        break;
    }
    return *arena <= budget ? success() : refuse(budget);
  }

private:
  FailureOr<uint64_t> planArena(func::FuncOp function) const {
    FailureOr<EntryPlan> plan = planMemory(function, constraints, memory);
    if (failed(plan))
      return failure();
    return plan->memory.peakBytes;
  }

  void apply(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
    if (nanoseconds == 0)
      for (const RecomputeNode &node : problem.nodes)
        nanoseconds += node.nanoseconds;
    addedNanoseconds += sequence.nanoseconds;
    applySequence(entry.getBody().front(), sequence);
    entry->setAttr(recomputedShareAttributeName,
                   Builder(entry.getContext()).getF64FloatAttr(addedNanoseconds / nanoseconds));
  }

  /// One round: the cheapest choice within the budget, or the one with the smallest arena.
  LogicalResult improve(uint64_t budget, uint64_t &arena) {
    RecomputeProblem problem = describeBlock(entry.getBody().front(), constraints);
    RecomputeChooser chooser(problem);
    uint64_t limit = budget;
    for (unsigned attempt = 0; attempt < attemptCount; ++attempt) {
      std::optional<Candidate> candidate = findCheapest(problem, chooser, limit);
      bool isEnough = bool(candidate);
      if (!isEnough)
        candidate = findSmallest(problem, chooser);
      if (!candidate || candidate->bytes >= chooser.getOriginalPeak())
        return success();
      OwningOpRef<func::FuncOp> trial(entry.clone());
      applySequence(trial->getBody().front(), candidate->sequence);
      FailureOr<uint64_t> planned = planArena(*trial);
      if (failed(planned))
        return failure();
      if (*planned <= budget || !isEnough || attempt + 1 == attemptCount) {
        if (*planned < arena) {
          apply(problem, candidate->sequence);
          arena = *planned;
        }
        return success();
      }
      limit -= std::min(limit, *planned - budget);
    }
    return success();
  }

  static std::optional<Candidate> tryTarget(const RecomputeProblem &problem, const RecomputeChooser &chooser,
                                            uint64_t target) {
    std::optional<RecomputeChoice> choice = chooser.choose(target);
    if (!choice)
      return std::nullopt;
    Candidate candidate{expandChoice(problem, *choice), 0};
    std::vector<uint64_t> live = getLiveBytes(problem, candidate.sequence);
    candidate.bytes = *std::max_element(live.begin(), live.end());
    return candidate;
  }

  /// The cheapest sequence with at most `limit` bytes live, by bisection over the chooser's targets; none if that finds
  /// none.
  static std::optional<Candidate> findCheapest(const RecomputeProblem &problem, const RecomputeChooser &chooser,
                                               uint64_t limit) {
    std::optional<Candidate> cheapest;
    uint64_t low = 0, high = chooser.getOriginalPeak();
    for (unsigned step = 0; step < bisectionSteps; ++step) {
      uint64_t target = low + (high - low) / 2;
      std::optional<Candidate> candidate = tryTarget(problem, chooser, target);
      bool isEnough = candidate && candidate->bytes <= limit;
      if (isEnough && (!cheapest || candidate->sequence.nanoseconds < cheapest->sequence.nanoseconds))
        cheapest = candidate;
      // Without a choice the target is too small even to be missed.
      (isEnough || !candidate ? low : high) = target;
    }
    return cheapest;
  }

  /// The sequence with the fewest bytes live, of those for targets from the least that leads anywhere on: the same for
  /// each budget that is missed.
  static std::optional<Candidate> findSmallest(const RecomputeProblem &problem, const RecomputeChooser &chooser) {
    uint64_t low = 0, high = chooser.getOriginalPeak();
    for (unsigned step = 0; step < bisectionSteps; ++step) {
      uint64_t target = low + (high - low) / 2;
      (chooser.choose(target) ? high : low) = target;
    }
    std::optional<Candidate> smallest;
    for (uint64_t step = 0; step < smallestSteps; ++step) {
      uint64_t target = high + (chooser.getOriginalPeak() - high) / smallestSteps * step / 2;
      std::optional<Candidate> candidate = tryTarget(problem, chooser, target);
      if (candidate && (!smallest || candidate->bytes < smallest->bytes))
        smallest = candidate;
    }
    return smallest;
  }

  LogicalResult refuse(uint64_t budget) {
    FailureOr<EntryPlan> plan = planMemory(entry, constraints, memory);
    if (failed(plan))
      return failure();
    entry->getParentOfType<ModuleOp>()->setAttr(budgetMissedAttributeName, UnitAttr::get(entry.getContext()));
    // At its location: an error at the op would print all of it.
    InFlightDiagnostic error = emitError(entry.getLoc())
                               << "entry " << entry.getName() << ": memory_budget is " << budget
                               << " bytes, but the smallest arena that was found takes " << plan->memory.peakBytes;
    describePeak(*plan, error);
    return error;
  }

  func::FuncOp entry;
  const ::ferrule::DimConstraints &constraints;
  MemoryOptions memory;
  /// Estimates: of the entry as it came, and of what runs again.
  double nanoseconds = 0, addedNanoseconds = 0;
};

struct RecomputePass : mlir::ferrule::impl::RecomputePassBase<RecomputePass> {
  using RecomputePassBase::RecomputePassBase;

  void runOnOperation() override {
    FailureOr<::ferrule::DimConstraints> constraints = getPlanningConstraints(getOperation());
    if (failed(constraints))
      return signalPassFailure();
    MemoryOptions memory;
    memory.inPlace = inPlace;
    memory.searchSteps = searchSteps;
    std::vector<EntryRecomputer> entries;
    for (auto function : getOperation().getOps<func::FuncOp>())
      entries.emplace_back(function, *constraints, memory);
    FailureOr<uint64_t> budget = getBudget(entries);
    if (failed(budget))
      return signalPassFailure();
    for (EntryRecomputer &entry : entries) {
      entry.applyForced();
      FailureOr<uint64_t> own = entry.getOwnBudget();
      if (failed(own) || failed(entry.meet(std::min(*own, *budget))))
        return signalPassFailure();
    }
  }

  /// For the arena that all entries share: the largest number if there is no limit.
  FailureOr<uint64_t> getBudget(ArrayRef<EntryRecomputer> entries) const {
    if (budgetFraction <= 0)
      return budgetBytes > 0 ? uint64_t(budgetBytes) : unlimited;
    uint64_t arena = 0;
    for (const EntryRecomputer &entry : entries) {
      FailureOr<uint64_t> needed = entry.getArena();
      if (failed(needed))
        return failure();
      arena = std::max(arena, *needed);
    }
    return uint64_t(std::floor(double(arena) * budgetFraction));
  }
};

} // namespace
