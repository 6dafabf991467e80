//===- EntryEmitter.h - A planned entry as schema data --------*- C++ -*-===//
#ifndef FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H
#define FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H

#include "codegen/emit/KernelTable.h"
#include "passes/memory/MemoryPlan.h"
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

/// Translates one entry: 1:1 from the plan, with every size as an expression over the entry's dims.
FailureOr<::ferrule::serialize::EntryDescription>
emitEntry(func::FuncOp entry, const EntryPlan &plan, const ::ferrule::DimConstraints &constraints,
          KernelTable &kernels, LocationTable &locations);

} // namespace mlir::ferrule

#endif // FERRULE_CODEGEN_EMIT_ENTRYEMITTER_H
