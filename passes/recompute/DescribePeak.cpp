#include "passes/recompute/DescribePeak.h"

using namespace mlir;
using namespace mlir::ferrule;

/// Buffers named in a message.
static constexpr size_t maxNamed = 8;

/// The instruction of the body at which most bytes of the body's own buffers are live.
static unsigned findFullest(const EntryPlan &plan) {
  std::vector<int64_t> changes(plan.body.instructions.size() + 1);
  for (unsigned number : plan.body.buffers) {
    const PlannedBuffer &buffer = plan.buffers[number];
    if (buffer.storage != plan::Storage::Arena)
      continue;
    changes[buffer.begin] += buffer.plannedBytes;
    changes[buffer.end + 1] -= buffer.plannedBytes;
  }
  int64_t live = 0, most = -1;
  unsigned fullest = 0;
  for (auto [time, change] : llvm::enumerate(changes))
    if ((live += change) > most) {
      most = live;
      fullest = time;
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

void mlir::ferrule::describePeak(const EntryPlan &plan, InFlightDiagnostic &error) {
  unsigned fullest = findFullest(plan);
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
  llvm::stable_sort(live, [&](unsigned a, unsigned b) {
    return plan.buffers[a].plannedBytes > plan.buffers[b].plannedBytes;
  });
  error.attachNote() << "when most is live, " << live.size() << " values are, of " << total << " bytes; the largest:";
  for (unsigned number : ArrayRef(live).take_front(maxNamed)) {
    Diagnostic &note = error.attachNote();
    Operation *maker = findMaker(plan, number);
    note << plan.buffers[number].plannedBytes << " bytes: "
         << (maker ? maker->getName().stripDialect() : StringRef(plan.buffers[number].name));
    if (!maker)
      continue;
    if (auto file = maker->getLoc()->findInstanceOf<FileLineColLoc>())
      note << " at " << file.getFilename().getValue() << ":" << file.getLine();
  }
}
