#include "passes/memory/VerifyPlan.h"

#include "passes/Passes.h"
#include "passes/memory/MemoryPlan.h"
#include "runtime/memory/planner/validator.h"

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

/// Members of an alias group are one interval: they must start at the same byte.
static LogicalResult verifyPlacement(EntryOp entry) {
  std::vector<::ferrule::memory::Interval> intervals;
  std::vector<uint64_t> offsets;
  DenseMap<uint64_t, unsigned> intervalOfGroup;
  for (BufferOp buffer : entry.getBuffers()) {
    if (buffer.getStorage() != Storage::Arena)
      continue;
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
  return success();
}

//===------------------------------------------------------------------------------------------------------------===//
// Contents
//===------------------------------------------------------------------------------------------------------------===//

namespace {

/// Runs an entry on what buffers hold: a graph value each, or the buffer itself where the graph is gone.
class PlanRun {
public:
  PlanRun(EntryOp entry, const PlanMeaning *meaning) : entry(entry), meaning(meaning) {}

  LogicalResult run() {
    for (BufferOp buffer : entry.getBuffers())
      if (buffer.getStorage() != Storage::Arena && buffer.getStorage() != Storage::Output)
        contents[buffer] = meaning ? meaning->initial.lookup(buffer) : buffer.getResult();
    for (Operation *instruction : entry.getInstructions()) {
      if (auto call = dyn_cast<CallOp>(instruction)) {
        if (failed(runInstruction(call, call.getOutputs(), call.getInputs())))
          return failure();
      } else {
        auto copy = cast<CopyOp>(instruction);
        if (failed(runInstruction(copy, copy.getTarget(), copy.getSource())))
          return failure();
      }
      ++time;
    }
    return checkEnd();
  }

private:
  LogicalResult runInstruction(Operation *op, ValueRange outputs, ValueRange inputs) {
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

  Value getMeaning(Operation *op, unsigned operand, Value buffer) const {
    return meaning ? meaning->operands.at(op)[operand] : buffer;
  }

  LogicalResult checkRead(Operation *op, unsigned operand, Value buffer) {
    Value held = contents.lookup(buffer);
    if (held && held == getMeaning(op, operand, buffer))
      return success();
    auto overwritten = overwriter.find(buffer);
    InFlightDiagnostic error = op->emitError() << "instruction " << time << " reads the buffer \""
                                               << plan::getBuffer(buffer).getName() << "\", which "
                                               << (held                              ? "holds another value"
                                                   : overwritten != overwriter.end() ? "was overwritten"
                                                                                     : "nothing has written");
    if (!held && overwritten != overwriter.end())
      error.attachNote(overwritten->second->getLoc()) << "overwritten here";
    return error;
  }

  static bool shareBytes(Value a, Value b) { return a == b || plan::getBuffer(a).overlaps(plan::getBuffer(b)); }

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
      bool samePlace = plan::getBuffer(input).getOffset() == plan::getBuffer(outputs[output]).getOffset();
      if (!call || !samePlace || !canShareStorage(getDispatch(call), output, index))
        return op->emitError() << "instruction " << time << " writes over the buffer \""
                               << plan::getBuffer(input).getName() << "\" and reads it in another order";
    }
    return success();
  }

  DispatchOp getDispatch(CallOp call) {
    return symbols.lookupNearestSymbolFrom<plan::KernelOp>(call, call.getKernelAttr()).getDispatch();
  }

  void write(Operation *op, unsigned operand, Value buffer) {
    auto isOver = [&](Value other) {
      if (other != buffer && shareBytes(buffer, other)) {
        contents.erase(other);
        overwriter[other] = op;
        return true;
      }
      // What is never read again need not be looked at again.
      return plan::getBuffer(other).getEnd() < time;
    };
    llvm::erase_if(arenaContents, isOver);
    contents[buffer] = getMeaning(op, operand, buffer);
    overwriter.erase(buffer);
    if (plan::getBuffer(buffer).getStorage() == Storage::Arena && !llvm::is_contained(arenaContents, buffer))
      arenaContents.push_back(buffer);
  }

  LogicalResult checkEnd() {
    for (BufferOp buffer : entry.getBuffers()) {
      bool isResult = buffer.getStorage() == Storage::Output || (meaning && buffer.getStorage() == Storage::Variable);
      Value held = contents.lookup(buffer);
      if (isResult && (!held || (meaning && held != meaning->final.lookup(buffer))))
        return buffer.emitError() << "the " << stringifyStorage(buffer.getStorage()) << " \"" << buffer.getName()
                                  << "\" does not hold its value when the entry returns";
    }
    return success();
  }

  EntryOp entry;
  const PlanMeaning *meaning;
  SymbolTableCollection symbols;
  uint64_t time = 0;
  DenseMap<Value, Value> contents;
  /// Arena buffers that hold something; the others share bytes with nobody.
  SmallVector<Value> arenaContents;
  DenseMap<Value, Operation *> overwriter;
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
  if (failed(verifyPlacement(entry)))
    return failure();
  return PlanRun(entry, meaning).run();
}
