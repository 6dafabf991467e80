//===- EntryEmitter.h - A planned entry as schema data --------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H
#define FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H

#include "ir/plan/PlanOps.h"
#include "serialize/writer/program_description.h"

#include "llvm/ADT/StringMap.h"

namespace mlir::ferrule {

/// Deduplicated source positions of the whole program.
class LocationTable {
public:
  explicit LocationTable(std::vector<std::string> &locations) : locations(locations) {}
  /// 1 + index, or 0 for an unknown location.
  uint32_t add(Location location);

private:
  std::vector<std::string> &locations;
  llvm::StringMap<uint32_t> numbers;
};

::ferrule::serialize::DataTypeDescription describeDataType(Type element);

/// The numbers that the schema uses for what the plan names.
struct PlanNumbers {
  llvm::StringMap<unsigned> variables, constants, kernels, arenas;
};

/// Translates one entry: 1:1 from the plan, with every size as an expression over the entry's dims. Its calls must have
/// their dims and tiles.
FailureOr<::ferrule::serialize::EntryDescription> emitEntry(plan::EntryOp entry, const PlanNumbers &numbers,
                                                            LocationTable &locations);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H
