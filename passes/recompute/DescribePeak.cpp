#include "passes/recompute/DescribePeak.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Buffers named in a message.
static constexpr size_t maxNamed = 8;

namespace {

/// The fullest moment of a block.
struct Fullest {
  unsigned time = 0;
  /// Of what is live then, and of it what the blocks of the branch or loop hold that runs then.
  int64_t bytes = -1, inside = 0;
};

} // namespace

static Fullest findFullest(const EntryPlan &plan, const PlannedBlock &block) {
  // Buffers that share their bytes are one, from the first one's begin to the last one's end.
  llvm::MapVector<std::pair<unsigned, unsigned>, PlannedBuffer> intervals;
  for (unsigned number : block.buffers) {
    const PlannedBuffer &buffer = plan.buffers[number];
    if (buffer.storage != plan::Storage::Arena)
      continue;
    std::pair<unsigned, unsigned> key{buffer.aliasGroup, buffer.aliasGroup ? 0 : number};
    PlannedBuffer &interval = intervals.insert({key, buffer}).first->second;
    interval.begin = std::min(interval.begin, buffer.begin);
    interval.end = std::max(interval.end, buffer.end);
  }
  std::vector<int64_t> changes(block.instructions.size() + 1);
  for (auto &[key, interval] : intervals) {
    changes[interval.begin] += interval.plannedBytes;
    changes[interval.end + 1] -= interval.plannedBytes;
  }
  int64_t live = 0;
  Fullest fullest;
  for (auto [time, instruction] : llvm::enumerate(block.instructions)) {
    live += changes[time];
    int64_t inside = 0;
    for (const PlannedBlock &inner : instruction.blocks)
      inside = std::max(inside, findFullest(plan, inner).bytes);
    if (live + inside > fullest.bytes)
      fullest = {unsigned(time), live + inside, inside};
  }
  return fullest;
}

/// The op in the graph whose value is in the buffer first; null for a copy.
static Operation *findMaker(const EntryPlan &plan, unsigned number) {
  const PlannedInstruction &instruction = plan.body.instructions[plan.buffers[number].begin];
  DispatchOp dispatch = instruction.getDispatch();
  if (!dispatch)
    return instruction.op;
  for (auto [operand, yielded] : llvm::zip(instruction.operands, dispatch.getYielded()))
    if (operand.buffer == number && yielded.getDefiningOp())
      return yielded.getDefiningOp();
  return dispatch;
}

static void addPlace(Diagnostic &note, Operation *maker) {
  if (auto file = maker->getLoc()->findInstanceOf<FileLineColLoc>())
    note << " at " << file.getFilename().getValue() << ":" << file.getLine();
}

void mlir::ferrule::describePeak(const EntryPlan &plan, InFlightDiagnostic &error) {
  auto [fullest, bytes, inside] = findFullest(plan, plan.body);
  SmallVector<unsigned> live;
  uint64_t total = 0;
  DenseSet<unsigned> groups;
  for (unsigned number : plan.body.buffers) {
    const PlannedBuffer &buffer = plan.buffers[number];
    if (buffer.storage != plan::Storage::Arena || buffer.begin > fullest || buffer.end < fullest)
      continue;
    // Of buffers that share their bytes, one.
    if (buffer.aliasGroup != 0 && !groups.insert(buffer.aliasGroup).second)
      continue;
    live.push_back(number);
    total += buffer.plannedBytes;
  }
  llvm::stable_sort(
      live, [&](unsigned a, unsigned b) { return plan.buffers[a].plannedBytes > plan.buffers[b].plannedBytes; });
  error.attachNote() << "when most is live, " << live.size() << " values are, of " << total << " bytes; the largest:";
  for (unsigned number : ArrayRef(live).take_front(maxNamed)) {
    Diagnostic &note = error.attachNote();
    Operation *maker = findMaker(plan, number);
    note << plan.buffers[number].plannedBytes
         << " bytes: " << (maker ? maker->getName().stripDialect() : StringRef(plan.buffers[number].name));
    if (maker)
      addPlace(note, maker);
  }
  if (inside > 0) {
    Operation *loop = plan.body.instructions[fullest].op;
    Diagnostic &note = error.attachNote();
    note << inside << " bytes besides: inside of " << loop->getName().stripDialect();
    addPlace(note, loop);
  }
}
