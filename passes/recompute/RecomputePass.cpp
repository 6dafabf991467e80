// Computes values again so that the arena stays within a budget, and where the user asks for it. The choice is made on
// estimates (ChooseRecomputation.h) and judged by the memory planner itself.
#include "passes/Passes.h"

#include "ir/graph/ModuleDims.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/recompute/BlockProblem.h"
#include "passes/recompute/DescribePeak.h"
#include "passes/recompute/Marks.h"
#include "passes/recompute/RecomputeSearch.h"
#include "passes/recompute/ScanSegments.h"
#include "passes/schedule/Schedule.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>
#include <limits>
#include <utility>

namespace mlir::ferrule {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;

namespace {

/// The part of an entry's estimated time that may go into a smaller arena without a budget, for arenas that are not
/// small.
constexpr double freeShare = 1.0 / 256;
constexpr uint64_t smallArenaBytes = 16 << 20;
/// How often the limit is lowered because the planner needed more than was estimated.
constexpr unsigned attemptCount = 4;
/// Recomputation is chosen again for what came of it so often: the second time what was recomputed is recomputed.
constexpr unsigned roundCount = 3;
/// Loops that are cut into segments one after the other, those first that save most; each must save one part in so many
/// of the arena.
constexpr unsigned mostCuts = 16;
constexpr uint64_t leastCutPart = 256;

/// Entries of at most so many operations are tried in two orders although the first one does.
constexpr size_t mostTriedTwice = 4096;

constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

/// One entry and its budget.
class EntryRecomputer {
public:
  EntryRecomputer(func::FuncOp entry, const ::ferrule::DimConstraints &constraints, const MemoryOptions &memory)
      : entry(entry), constraints(constraints), memory(memory) {}

  /// For a copy of the other one's entry.
  EntryRecomputer(func::FuncOp copy, const EntryRecomputer &other)
      : entry(copy), constraints(other.constraints), memory(other.memory), arena(other.arena), planned(other.planned),
        nanoseconds(other.nanoseconds), addedNanoseconds(other.addedNanoseconds) {}

  /// What the entry takes without a budget, if there is one.
  uint64_t getArena() const { return arena; }

  /// What the entry itself asks for (memoryBudgetAttributeName), in bytes; the largest number if it does not.
  uint64_t getOwnBudget() const {
    Attribute budget = entry->getAttr(memoryBudgetAttributeName);
    if (auto bytes = dyn_cast_or_null<IntegerAttr>(budget))
      return uint64_t(bytes.getInt());
    auto fraction = dyn_cast_or_null<FloatAttr>(budget);
    if (!fraction)
      return unlimited;
    return uint64_t(std::floor(double(arena) * fraction.getValueAsDouble()));
  }

  void applyForced() {
    if (!entry->hasAttr(hasCheckpointAttributeName))
      return;
    while (std::optional<SegmentableScan> scan = findSegmentableScan(entry, constraints, 1, /*onlyMarked=*/true))
      cut(*scan);
    RecomputeProblem problem = describeBlock(entry.getBody().front(), constraints);
    apply(problem, RecomputeSearch(problem).expandForced());
  }

  /// Finds what can be computed again without a budget and, if that or a budget needs it, the arena.
  LogicalResult findFree(bool hasBudget) {
    RecomputeProblem problem = describeBlock(entry.getBody().front(), constraints);
    RecomputeSearch search(problem);
    std::optional<RecomputeCandidate> candidate;
    if (search.getOriginalPeak() >= smallArenaBytes)
      candidate = search.findFree(freeShare * problem.getNanoseconds());
    if (!candidate && !hasBudget && !entry->hasAttr(memoryBudgetAttributeName))
      return success();
    FailureOr<uint64_t> kept = planEntry();
    if (failed(kept))
      return failure();
    arena = *kept;
    if (!candidate)
      return success();
    FailureOr<uint64_t> planned = planArena(problem, *candidate);
    if (failed(planned))
      return failure();
    if (*planned < arena) {
      arena = *planned;
      free = std::move(candidate->sequence);
    }
    return success();
  }

  /// Changes the entry so that its arena takes at most `budget` bytes; an error at the entry if that cannot be reached.
  /// The order that frees early is most often the better one; that in which the entry came is tried, too, where the
  /// first misses the budget or where it takes little time.
  LogicalResult meet(uint64_t budget) {
    if (arena <= budget) {
      if (free)
        apply(describeBlock(entry.getBody().front(), constraints), *free);
      return success();
    }
    Block &block = entry.getBody().front();
    SmallVector<Operation *> given(llvm::make_pointer_range(block));
    std::optional<uint64_t> plannedAsGiven = std::exchange(planned, std::nullopt);
    freeEarly(block, constraints);
    FailureOr<Reduced> best = reduceWithSegments(budget);
    if (failed(best))
      return failure();
    if (best->bytes > budget || given.size() <= mostTriedTwice) {
      for (Operation *op : given)
        op->moveBefore(&block, block.end());
      planned = plannedAsGiven;
      FailureOr<Reduced> other = reduceWithSegments(budget);
      if (failed(other))
        return failure();
      if (other->isBetter(*best, budget))
        best = std::move(other);
    }
    entry.getBody().takeBody(best->entry->getBody());
    entry->setAttrs((*best->entry)->getAttrDictionary());
    return best->bytes <= budget ? success() : refuse(budget);
  }

private:
  FailureOr<uint64_t> planArena(func::FuncOp function) const {
    FailureOr<EntryPlan> plan = planMemory(function, constraints, memory);
    if (failed(plan))
      return failure();
    return plan->memory.peakBytes;
  }

  FailureOr<uint64_t> planArena(const RecomputeProblem &problem, const RecomputeCandidate &candidate) const {
    func::FuncOp function = entry;
    OwningOpRef<func::FuncOp> trial(function.clone());
    applySequence(trial->getBody().front(), candidate.sequence);
    return planArena(*trial);
  }

  /// The arena of the entry as it stands.
  FailureOr<uint64_t> planEntry() {
    if (planned)
      return *planned;
    FailureOr<uint64_t> bytes = planArena(entry);
    if (succeeded(bytes))
      planned = *bytes;
    return bytes;
  }

  void apply(const RecomputeProblem &problem, const RecomputeSequence &sequence) {
    if (nanoseconds == 0)
      nanoseconds = problem.getNanoseconds();
    applySequence(entry.getBody().front(), sequence);
    addTime(sequence.nanoseconds);
  }

  void cut(const SegmentableScan &scan) {
    double before = describeBlock(entry.getBody().front(), constraints).getNanoseconds();
    if (nanoseconds == 0)
      nanoseconds = before;
    cutIntoSegments(scan);
    addTime(describeBlock(entry.getBody().front(), constraints).getNanoseconds() - before);
  }

  /// The entry has been changed so that it takes longer.
  void addTime(double added) {
    planned.reset();
    addedNanoseconds += added;
    entry->setAttr(recomputedShareAttributeName,
                   Builder(entry.getContext()).getF64FloatAttr(addedNanoseconds / nanoseconds));
  }

  /// Changes the entry until its arena takes at most `budget` bytes, or gets no smaller. Returns what it takes.
  FailureOr<uint64_t> reduce(uint64_t budget) {
    FailureOr<uint64_t> needed = planEntry();
    for (unsigned round = 0; succeeded(needed) && round<roundCount && * needed> budget; ++round) {
      uint64_t before = *needed;
      if (failed(improve(budget, *needed)))
        return failure();
      if (*needed >= before)
        break;
    }
    return needed;
  }

  /// A copy of the entry within the budget, or as near to it as it was brought.
  struct Reduced {
    OwningOpRef<func::FuncOp> entry;
    uint64_t bytes = 0;
    double addedNanoseconds = 0;

    bool isBetter(const Reduced &other, uint64_t budget) const {
      if (bytes > budget)
        return bytes < other.bytes;
      return other.bytes > budget || addedNanoseconds < other.addedNanoseconds;
    }
  };

  /// The same with more and more loops in segments; the cheapest entry within the budget is taken, or the smallest.
  /// Only if that is not enough do segments make their inputs, too, which takes the time for products again.
  FailureOr<Reduced> reduceWithSegments(uint64_t budget) {
    Reduced best{nullptr, unlimited, 0};
    for (bool makesInputs : {false, true}) {
      FailureOr<bool> canMake = trySegments(budget, makesInputs, best);
      if (failed(canMake))
        return failure();
      if (!*canMake || best.bytes <= budget)
        break;
    }
    return best;
  }

  /// Puts what is better than `best` there. Returns whether a loop that was cut has inputs that its segments can make.
  FailureOr<bool> trySegments(uint64_t budget, bool makesInputs, Reduced &best) {
    bool canMake = false;
    uint64_t leastBytes = arena / leastCutPart;
    OwningOpRef<func::FuncOp> base(entry.clone());
    EntryRecomputer segmented(*base, *this);
    for (unsigned cuts = 0; cuts <= mostCuts; ++cuts) {
      std::optional<SegmentableScan> scan = findSegmentableScan(*base, constraints, leastBytes, /*onlyMarked=*/false);
      // The last one needs no copy.
      Reduced trial{scan ? OwningOpRef<func::FuncOp>(base->clone()) : std::move(base), 0, 0};
      EntryRecomputer recomputer(*trial.entry, segmented);
      FailureOr<uint64_t> bytes = recomputer.reduce(budget);
      if (failed(bytes))
        return failure();
      trial.bytes = *bytes;
      trial.addedNanoseconds = recomputer.addedNanoseconds;
      if (trial.isBetter(best, budget))
        best = std::move(trial);
      if (!scan)
        break;
      SmallVector<unsigned> inputs = findMadeInputs(*scan, constraints);
      canMake |= !inputs.empty();
      if (makesInputs)
        scan->madeInputs = inputs;
      segmented.cut(*scan);
    }
    return canMake;
  }

  /// One round: the cheapest choice within the budget, or the one with the smallest arena.
  LogicalResult improve(uint64_t budget, uint64_t &needed) {
    RecomputeProblem problem = describeBlock(entry.getBody().front(), constraints);
    RecomputeSearch search(problem);
    auto take = [&](const RecomputeCandidate &candidate, uint64_t planned) {
      apply(problem, candidate.sequence);
      needed = planned;
    };
    uint64_t limit = budget;
    for (unsigned attempt = 0; attempt < attemptCount; ++attempt) {
      std::optional<RecomputeCandidate> candidate = search.findCheapest(limit);
      if (!candidate || candidate->bytes >= search.getOriginalPeak())
        break;
      FailureOr<uint64_t> planned = planArena(problem, *candidate);
      if (failed(planned))
        return failure();
      if (*planned <= budget) {
        take(*candidate, *planned);
        return success();
      }
      limit -= std::min(limit, *planned - budget);
    }
    // Whatever the budget was: a smaller one that is refused names what this comes to.
    RecomputeCandidate smallest = search.findSmallest();
    if (smallest.bytes >= search.getOriginalPeak())
      return success();
    FailureOr<uint64_t> planned = planArena(problem, smallest);
    if (failed(planned))
      return failure();
    if (*planned < needed)
      take(smallest, *planned);
    return success();
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
  /// Of findFree.
  uint64_t arena = 0;
  /// Of the entry as it stands, once it is known.
  std::optional<uint64_t> planned;
  /// What computes again what costs nothing to speak of.
  std::optional<RecomputeSequence> free;
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
    for (EntryRecomputer &entry : entries) {
      entry.applyForced();
      if (failed(entry.findFree(budgetBytes > 0 || budgetFraction > 0)))
        return signalPassFailure();
    }
    uint64_t budget = getBudget(entries);
    for (EntryRecomputer &entry : entries)
      if (failed(entry.meet(std::min(entry.getOwnBudget(), budget))))
        return signalPassFailure();
  }

  /// For the arena that all entries share: the largest number if there is no limit.
  uint64_t getBudget(ArrayRef<EntryRecomputer> entries) const {
    if (budgetFraction <= 0)
      return budgetBytes > 0 ? uint64_t(budgetBytes) : unlimited;
    uint64_t arena = 0;
    for (const EntryRecomputer &entry : entries)
      arena = std::max(arena, entry.getArena());
    return uint64_t(std::floor(double(arena) * budgetFraction));
  }
};

} // namespace
