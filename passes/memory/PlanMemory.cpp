#include "ir/graph/State.h"
#include "passes/memory/BlockPlanner.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::ferrule;

using plan::Storage;

namespace {

/// Plans the body of an entry: its leaves are the inputs and the variables' old values.
class EntryPlanner {
public:
  EntryPlanner(func::FuncOp entry, const ::ferrule::DimConstraints &constraints, const MemoryOptions &options)
      : entry(entry), context(entry, constraints, options) {}

  FailureOr<EntryPlan> run() {
    createInputs();
    createVariables();
    SmallVector<PlaceResult> outputs = createOutputs();
    FailureOr<MemoryUse> use =
        BlockPlanner(context, entry.getBody().front(), updates, outputs).run(context.plan.body);
    if (failed(use) || context.hasError)
      return failure();
    context.plan.memory = *use;
    return std::move(context.plan);
  }

private:
  Place addBuffer(Storage storage, unsigned index, Value value, StringRef name) {
    return context.getWhole(context.addBuffer(context.plan.body, storage, index,
                                              cast<RankedTensorType>(value.getType()), name));
  }

  void createInputs() {
    for (BlockArgument argument : entry.getArguments()) {
      auto name = entry.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "ferrule.name");
      context.plan.places[argument] =
          addBuffer(Storage::Input, argument.getArgNumber(), argument, name ? name.getValue() : "");
    }
  }

  void createVariables() {
    llvm::MapVector<StringRef, SmallVector<Value>> reads;
    llvm::StringMap<Place> variables;
    Block &body = entry.getBody().front();
    for (ReadOp read : body.getOps<ReadOp>()) {
      auto [it, inserted] = variables.try_emplace(read.getVariable());
      if (inserted)
        it->second = addBuffer(Storage::Variable, 0, read.getResult(), read.getVariable());
      context.plan.places[read.getResult()] = it->second;
      reads[read.getVariable()].push_back(read.getResult());
    }
    for (AssignOp assign : body.getOps<AssignOp>()) {
      auto [it, inserted] = variables.try_emplace(assign.getVariable());
      if (inserted)
        it->second = addBuffer(Storage::Variable, 0, assign.getValue(), assign.getVariable());
      updates.push_back({it->second, reads.lookup(assign.getVariable()), assign.getValue(), assign.getLoc()});
    }
  }

  SmallVector<PlaceResult> createOutputs() {
    SmallVector<PlaceResult> outputs;
    Operation *terminator = entry.getBody().front().getTerminator();
    for (auto [index, value] : llvm::enumerate(terminator->getOperands())) {
      auto name = entry.getResultAttrOfType<StringAttr>(index, "ferrule.name");
      Place place = addBuffer(Storage::Output, index, value, name ? name.getValue() : "");
      outputs.push_back({place, value, terminator->getLoc()});
    }
    return outputs;
  }

  func::FuncOp entry;
  PlanningContext context;
  SmallVector<PlaceUpdate> updates;
};

} // namespace

FailureOr<EntryPlan> mlir::ferrule::planMemory(func::FuncOp entry, const ::ferrule::DimConstraints &constraints,
                                               const MemoryOptions &options) {
  return EntryPlanner(entry, constraints, options).run();
}
