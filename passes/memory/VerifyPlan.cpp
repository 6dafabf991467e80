#include "passes/memory/VerifyPlan.h"

#include "passes/Passes.h"
#include "passes/memory/MemoryPlan.h"
#include "runtime/memory/planner/validator.h"

#include <map>

namespace mlir::ferrule {
#define GEN_PASS_DEF_VERIFYPLANPASS
#include "passes/Passes.h.inc"
} // namespace mlir::ferrule

using namespace mlir;
using namespace mlir::ferrule;
using plan::BufferOp;
using plan::CallOp;
using plan::CopyOp;
using plan::EntryOp;
using plan::Storage;

//===------------------------------------------------------------------------------------------------------------===//
// Placement
//===------------------------------------------------------------------------------------------------------------===//

/// The arena buffers that an instruction's blocks declare, at any depth, share no byte with what is live around it.
static LogicalResult verifyDeeperBuffers(EntryOp entry, Operation *instruction, uint64_t time,
                                         ArrayRef<BufferOp> around) {
  SmallVector<BufferOp> live;
  llvm::copy_if(around, std::back_inserter(live),
                [&](BufferOp outer) { return outer.getBegin() <= time && time <= outer.getEnd(); });
  WalkResult result = instruction->walk([&](BufferOp inner) {
    if (inner.getStorage() != Storage::Arena)
      return WalkResult::advance();
    if (inner.getOffset() + inner.getPlannedSize() > entry.getPeakBytes()) {
      inner.emitOpError("ends beyond the entry's peak of ") << entry.getPeakBytes() << " bytes";
      return WalkResult::interrupt();
    }
    for (BufferOp outer : live)
      if (inner.overlaps(outer)) {
        inner.emitOpError("shares bytes with \"")
            << outer.getName() << "\", which is live at instruction " << time << " around it";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Members of an alias group are one interval: they must start at the same byte.
static LogicalResult verifyPlacement(EntryOp entry, Block &block) {
  std::vector<::ferrule::memory::Interval> intervals;
  std::vector<uint64_t> offsets;
  SmallVector<BufferOp> buffers;
  DenseMap<uint64_t, unsigned> intervalOfGroup;
  for (BufferOp buffer : block.getOps<BufferOp>()) {
    if (buffer.getStorage() != Storage::Arena)
      continue;
    buffers.push_back(buffer);
    ::ferrule::memory::Interval interval{int64_t(buffer.getBegin()), int64_t(buffer.getEnd()), buffer.getPlannedSize(),
                                         64};
    if (buffer.getAliasGroup() != 0) {
      auto [it, inserted] = intervalOfGroup.try_emplace(buffer.getAliasGroup(), intervals.size());
      if (!inserted) {
        ::ferrule::memory::Interval &group = intervals[it->second];
        if (offsets[it->second] != buffer.getOffset() || group.size != interval.size)
          return buffer.emitOpError("does not lie where the others of alias group ")
                 << buffer.getAliasGroup() << " lie";
        group.begin = std::min(group.begin, interval.begin);
        group.end = std::max(group.end, interval.end);
        continue;
      }
    }
    intervals.push_back(interval);
    offsets.push_back(buffer.getOffset());
  }
  ::ferrule::memory::PlanVerdict verdict = ::ferrule::memory::validate_plan(intervals, offsets, entry.getPeakBytes());
  if (!verdict.ok())
    return entry.emitOpError() << "has an invalid placement: "
                               << ::ferrule::memory::describe(verdict, intervals, offsets);
  for (auto [time, instruction] : llvm::enumerate(plan::getInstructions(block))) {
    if (!plan::isControlFlow(instruction))
      continue;
    if (failed(verifyDeeperBuffers(entry, instruction, time, buffers)))
      return failure();
    for (Region &region : instruction->getRegions())
      if (failed(verifyPlacement(entry, region.front())))
        return failure();
  }
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Contents
//===------------------------------------------------------------------------------------------------------------===//

namespace {

/// Which buffers hold something, by the bytes of their arena: cut where one of them begins or ends, so that finding those
/// under some bytes takes no look at the others.
class HoldersByByte {
public:
  void insert(BufferOp buffer) {
    auto [begin, end] = getBytes(buffer);
    Arena &arena = arenas[buffer.getSymbolAttr()];
    cut(arena, begin);
    cut(arena, end);
    for (uint64_t at = begin; at < end;) {
      auto next = arena.lower_bound(at);
      if (next == arena.end() || next->first != at)
        next = arena.try_emplace(next, at, Piece{next == arena.end() ? end : std::min(end, next->first), {}});
      if (!llvm::is_contained(next->second.holders, buffer.getResult()))
        next->second.holders.push_back(buffer.getResult());
      at = next->second.end;
    }
  }

  void erase(BufferOp buffer) {
    auto [begin, end] = getBytes(buffer);
    auto found = arenas.find(buffer.getSymbolAttr());
    if (found == arenas.end())
      return;
    Arena &arena = found->second;
    for (auto piece = arena.lower_bound(begin); piece != arena.end() && piece->first < end;) {
      llvm::erase(piece->second.holders, buffer.getResult());
      piece = piece->second.holders.empty() ? arena.erase(piece) : std::next(piece);
    }
  }

  /// The holders that share bytes with `buffer`, itself included.
  SmallVector<Value> find(BufferOp buffer) const {
    auto [begin, end] = getBytes(buffer);
    SmallVector<Value> result;
    auto found = arenas.find(buffer.getSymbolAttr());
    if (found == arenas.end())
      return result;
    const Arena &arena = found->second;
    auto piece = arena.upper_bound(begin);
    if (piece != arena.begin() && std::prev(piece)->second.end > begin)
      --piece;
    for (; piece != arena.end() && piece->first < end; ++piece)
      for (Value holder : piece->second.holders)
        if (!llvm::is_contained(result, holder))
          result.push_back(holder);
    return result;
  }

private:
  struct Piece {
    uint64_t end;
    SmallVector<Value, 1> holders;
  };
  /// By first byte; pieces do not overlap, and each has a holder.
  using Arena = std::map<uint64_t, Piece>;

  static std::pair<uint64_t, uint64_t> getBytes(BufferOp buffer) {
    return {buffer.getOffset(), buffer.getOffset() + buffer.getPlannedSize()};
  }

  /// No piece goes over `at` afterwards.
  static void cut(Arena &arena, uint64_t at) {
    auto above = arena.lower_bound(at);
    if (above == arena.begin())
      return;
    Piece &below = std::prev(above)->second;
    if (below.end <= at)
      return;
    arena.try_emplace(above, at, below);
    below.end = at;
  }

  DenseMap<Attribute, Arena> arenas;
};

/// What is known of the bytes at one moment.
struct Contents {
  struct Held {
    BufferRange range;
    Value value;
  };
  /// By buffer: the whole, or parts of it.
  DenseMap<Value, SmallVector<Held, 1>> held;
  /// Arena buffers that hold something; the others share bytes with nobody.
  HoldersByByte arena;
  /// Who destroyed what a buffer held.
  DenseMap<Value, Operation *> overwriter;

  Value lookup(const BufferRange &range) const {
    auto found = held.find(range.buffer);
    if (found != held.end())
      for (const Held &each : found->second)
        if (each.range == range)
          return each.value;
    return {};
  }

  void forget(Value buffer) {
    held.erase(buffer);
    if (plan::getBuffer(buffer).getStorage() == Storage::Arena)
      arena.erase(plan::getBuffer(buffer));
  }

  /// What both know.
  void intersect(const Contents &other) {
    SmallVector<Value> lost;
    for (auto &[buffer, all] : held) {
      llvm::erase_if(all, [&](const Held &each) { return other.lookup(each.range) != each.value; });
      if (all.empty())
        lost.push_back(buffer);
    }
    llvm::for_each(lost, [&](Value buffer) { forget(buffer); });
    overwriter.insert(other.overwriter.begin(), other.overwriter.end());
  }
};

/// Runs an entry on what buffers hold: a graph value each, or the buffer itself where the graph is gone.
class PlanRun {
public:
  PlanRun(EntryOp entry, const PlanMeaning *meaning) : entry(entry), meaning(meaning) {}

  LogicalResult run() {
    entry.walk([&](BufferOp buffer) {
      if (buffer.getStorage() == Storage::Arena || buffer.getStorage() == Storage::Output)
        return;
      if (Value value = meaning ? meaning->initial.lookup(buffer) : buffer.getResult())
        set({buffer, false, DimExpr(0), buffer.getBytes()}, value);
    });
    if (failed(runBlock(entry.getBody().front())))
      return failure();
    return checkEnd();
  }

private:
  //===--- Ranges ------------------------------------------------------------------------------------------------===//

  /// Where the graph is gone, who writes a part counts as the writer of the whole.
  BufferRange getRange(Value operand) const {
    BufferOp buffer = plan::getBuffer(operand);
    bool isPart = meaning && operand != buffer.getResult();
    if (!isPart)
      return {buffer, false, DimExpr(0), buffer.getBytes()};
    return {buffer, true, plan::getOffset(operand), plan::getBytes(operand)};
  }

  /// Whether one part of a buffer ends before the other begins, whatever the dims are.
  static bool isBefore(Value a, Value b) {
    std::optional<int64_t> distance = (plan::getOffset(b) - plan::getOffset(a) - plan::getBytes(a)).getConstant();
    return distance && *distance >= 0;
  }

  static bool shareBytes(Value a, Value b) {
    BufferOp bufferA = plan::getBuffer(a), bufferB = plan::getBuffer(b);
    return bufferA == bufferB ? !isBefore(a, b) && !isBefore(b, a) : bufferA.overlaps(bufferB);
  }

  Value getMeaning(Operation *op, unsigned operand, Value buffer) const {
    return meaning ? meaning->operands.at(op)[operand] : plan::getBuffer(buffer).getResult();
  }

  /// The range holds the value, and parts of it what the value's parts are there, if it is where they are read.
  void hold(const BufferRange &range, Value value) {
    SmallVector<Contents::Held, 1> &all = contents.held[range.buffer];
    all.push_back({range, value});
    auto parts = meaning ? meaning->parts.lookup(value) : SmallVector<PlanMeaning::Part, 1>();
    for (const PlanMeaning::Part &part : parts)
      if (part.range.buffer == range.buffer)
        all.push_back({part.range, part.value});
  }

  /// A write to a part leaves the other parts to those who write them; the whole is what it was no more.
  void set(const BufferRange &range, Value value) {
    contents.held[range.buffer].clear();
    hold(range, value);
    contents.overwriter.erase(range.buffer);
    BufferOp buffer = plan::getBuffer(range.buffer);
    if (buffer.getStorage() == Storage::Arena)
      contents.arena.insert(buffer);
  }

  void write(Operation *op, unsigned operand, Value buffer) {
    BufferRange range = getRange(buffer);
    BufferOp written = plan::getBuffer(range.buffer);
    if (written.getStorage() == Storage::Arena)
      for (Value other : contents.arena.find(written)) {
        if (other == range.buffer || !shareBytes(range.buffer, other))
          continue;
        contents.forget(other);
        contents.overwriter[other] = op;
      }
    set(range, getMeaning(op, operand, buffer));
  }

  //===--- Checks ------------------------------------------------------------------------------------------------===//

  LogicalResult require(Operation *op, const BufferRange &range, Value expected, const Twine &reader) {
    Value held = contents.lookup(range);
    if (held && held == expected)
      return success();
    auto overwritten = contents.overwriter.find(range.buffer);
    bool isOverwritten = overwritten != contents.overwriter.end();
    InFlightDiagnostic error = op->emitError() << reader << " reads the buffer \""
                                               << plan::getBuffer(range.buffer).getName() << "\", which "
                                               << (held            ? "holds another value"
                                                   : isOverwritten ? "was overwritten"
                                                                   : "nothing has written");
    if (!held && isOverwritten)
      error.attachNote(overwritten->second->getLoc()) << "overwritten here";
    return error;
  }

  LogicalResult checkRead(Operation *op, unsigned operand, Value buffer) {
    return require(op, getRange(buffer), getMeaning(op, operand, buffer), "instruction " + Twine(time));
  }

  /// What an instruction writes may share bytes with what it reads only element for element.
  LogicalResult checkShared(Operation *op, unsigned output, ValueRange outputs, ValueRange inputs) {
    for (Value other : outputs.drop_front(output + 1))
      if (shareBytes(outputs[output], other))
        return op->emitError() << "instruction " << time << " writes the bytes of \""
                               << plan::getBuffer(other).getName() << "\" twice";
    for (auto [index, input] : llvm::enumerate(inputs)) {
      if (!shareBytes(outputs[output], input))
        continue;
      auto call = dyn_cast<CallOp>(op);
      BufferOp target = plan::getBuffer(outputs[output]), source = plan::getBuffer(input);
      bool samePlace =
          target.getOffset() == source.getOffset() && plan::getOffset(outputs[output]) == plan::getOffset(input);
      if (!call || !samePlace || !canShareStorage(getDispatch(call), output, index))
        return op->emitError() << "instruction " << time << " writes over the buffer \"" << source.getName()
                               << "\" and reads it in another order";
    }
    return success();
  }

  DispatchOp getDispatch(CallOp call) {
    return symbols.lookupNearestSymbolFrom<plan::KernelOp>(call, call.getKernelAttr()).getDispatch();
  }

  LogicalResult checkEnd() {
    for (BufferOp buffer : entry.getBuffers()) {
      bool isResult = buffer.getStorage() == Storage::Output || (meaning && buffer.getStorage() == Storage::Variable);
      Value held = contents.lookup({buffer, false, DimExpr(0), buffer.getBytes()});
      if (isResult && (!held || (meaning && held != meaning->final.lookup(buffer))))
        return buffer.emitError() << "the " << stringifyStorage(buffer.getStorage()) << " \"" << buffer.getName()
                                  << "\" does not hold its value when the entry returns";
    }
    return success();
  }

  //===--- Instructions ------------------------------------------------------------------------------------------===//

  LogicalResult runBlock(Block &block) {
    uint64_t outerTime = time;
    time = 0;
    for (Operation *instruction : plan::getInstructions(block)) {
      if (failed(runInstruction(instruction)))
        return failure();
      ++time;
    }
    time = outerTime;
    // Nothing survives a block in its own buffers.
    if (&block != &entry.getBody().front())
      for (BufferOp buffer : block.getOps<BufferOp>())
        if (buffer.getStorage() == Storage::Arena)
          contents.forget(buffer);
    return success();
  }

  LogicalResult runInstruction(Operation *op) {
    if (auto call = dyn_cast<CallOp>(op))
      return runStep(call, call.getOutputs(), call.getInputs());
    if (auto copy = dyn_cast<CopyOp>(op))
      return runStep(copy, copy.getTarget(), copy.getSource());
    if (auto branch = dyn_cast<plan::IfOp>(op))
      return runIf(branch);
    if (auto loop = dyn_cast<plan::WhileOp>(op))
      return runWhile(loop);
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      return runLoop(loop);
    return runStep(op, {}, op->getOperands());
  }

  LogicalResult runStep(Operation *op, ValueRange outputs, ValueRange inputs) {
    for (auto [index, input] : llvm::enumerate(inputs))
      if (failed(checkRead(op, outputs.size() + index, input)))
        return failure();
    for (auto [index, output] : llvm::enumerate(outputs))
      if (failed(checkShared(op, index, outputs, inputs)))
        return failure();
    for (auto [index, output] : llvm::enumerate(outputs))
      write(op, index, output);
    return success();
  }

  using Border = SmallVector<PlanMeaning::Renaming> PlanMeaning::Borders::*;

  /// Crosses the border of a block. A place that stays may hold a second value under a part of it: the slices of what
  /// a loop reads.
  LogicalResult cross(Operation *op, Region &region, Border border, StringRef what) {
    if (!meaning)
      return success();
    ArrayRef<PlanMeaning::Renaming> renamings = meaning->blocks.at(&region).*border;
    for (const PlanMeaning::Renaming &renaming : renamings)
      if (failed(require(op, renaming.before, renaming.valueBefore, what)))
        return failure();
    for (const PlanMeaning::Renaming &renaming : renamings) {
      if (renaming.after == renaming.before || border == &PlanMeaning::Borders::exit)
        set(renaming.after, renaming.valueAfter);
      else
        hold(renaming.after, renaming.valueAfter);
    }
    return success();
  }

  LogicalResult runIf(plan::IfOp op) {
    if (failed(checkRead(op, 0, op.getCondition())))
      return failure();
    Contents before = contents;
    if (failed(runBranch(op, op.getThenBlock())))
      return failure();
    std::swap(before, contents);
    if (failed(runBranch(op, op.getElseBlock())))
      return failure();
    contents.intersect(before);
    return success();
  }

  LogicalResult runBranch(plan::IfOp op, Region &region) {
    return success(succeeded(cross(op, region, &PlanMeaning::Borders::entry, "the branch")) &&
                   succeeded(runBlock(region.front())) &&
                   succeeded(cross(op, region, &PlanMeaning::Borders::exit, "the end of the branch")));
  }

  LogicalResult runLoop(plan::LoopOp op) {
    Region &body = op.getBodyBlock();
    return success(succeeded(cross(op, body, &PlanMeaning::Borders::entry, "the loop")) &&
                   succeeded(runBlock(body.front())) &&
                   succeeded(cross(op, body, &PlanMeaning::Borders::next, "the next step")) &&
                   succeeded(runBlock(body.front())) &&
                   succeeded(cross(op, body, &PlanMeaning::Borders::exit, "the end of the loop")));
  }

  LogicalResult runWhile(plan::WhileOp op) {
    Region &condition = op.getConditionBlock(), &body = op.getBodyBlock();
    if (failed(cross(op, condition, &PlanMeaning::Borders::entry, "the loop")))
      return failure();
    for (unsigned step = 0; step < 2; ++step)
      if (failed(runBlock(condition.front())) || failed(checkRead(op, 0, op.getCondition())) ||
          failed(cross(op, condition, &PlanMeaning::Borders::next, "the step")) || failed(runBlock(body.front())) ||
          failed(cross(op, body, &PlanMeaning::Borders::next, "the next step")))
        return failure();
    return success(succeeded(runBlock(condition.front())) && succeeded(checkRead(op, 0, op.getCondition())) &&
                   succeeded(cross(op, condition, &PlanMeaning::Borders::exit, "the end of the loop")));
  }

  EntryOp entry;
  const PlanMeaning *meaning;
  SymbolTableCollection symbols;
  uint64_t time = 0;
  Contents contents;
};

struct VerifyPlanPass : mlir::ferrule::impl::VerifyPlanPassBase<VerifyPlanPass> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<EntryOp>())
      if (failed(verifyPlan(entry)))
        return signalPassFailure();
  }
};

} // namespace

LogicalResult mlir::ferrule::verifyPlan(EntryOp entry, const PlanMeaning *meaning) {
  if (failed(verifyPlacement(entry, entry.getBody().front())))
    return failure();
  return PlanRun(entry, meaning).run();
}
