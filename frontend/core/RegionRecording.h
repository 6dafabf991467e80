//===- RegionRecording.h - Branches and loop bodies under construction ----===//
//
// A region is recorded into a block of its own, in which values of the blocks
// around may be used freely. When the op is made, what a region uses from
// outside becomes an operand (a capture), a variable that a branch assigns a
// result, and a variable that a loop body assigns a carry; the variable is then
// assigned outside. So entries read and assign variables at their top level only.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_REGIONRECORDING_H
#define FERRULE_FRONTEND_CORE_REGIONRECORDING_H

#include "frontend/core/OpStream.h"
#include "frontend/core/Variable.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace ferrule::frontend {

/// A variable as a region sees it.
struct RegionVariable {
  VariableRef variable;
  mlir::Value initial;     ///< An argument of the region, once the variable was read in it.
  mlir::Value current;     ///< What a read gives now.
  bool isAssigned = false;
  SourceLocation assignedAt;
};

/// A region that is being recorded, or has been and waits for its op.
struct RegionRecording {
  std::string name;              ///< For messages: "the body of F.scan".
  uint64_t id = 0;               ///< Of the handles of its values.
  mlir::Region region;           ///< One block, whose first arguments are those that were asked for.
  unsigned argumentCount = 0;
  mlir::SmallVector<mlir::Value> yielded;
  llvm::MapVector<Variable *, RegionVariable> variables;
  mlir::OpBuilder::InsertPoint around; ///< Where the stream goes on after it.

  mlir::Block &getBlock() { return region.front(); }
};

struct RegionArgument {
  DataType type;
  Shape shape;
};

/// Starts a region in `stream`; everything goes into it until it is finished or
/// dropped. Returns handles on its arguments.
std::vector<TensorRef> beginRegion(OpStream &stream, std::string name, llvm::ArrayRef<RegionArgument> arguments,
                                   const SourceLocation &location);

/// Ends the innermost region, which yields these tensors.
llvm::Expected<std::unique_ptr<RegionRecording>> finishRegion(OpStream &stream, llvm::ArrayRef<TensorRef> yielded,
                                                              const CallSite &site);

/// Ends the innermost region without an op. Its handles are dead.
void dropRegion(OpStream &stream);

/// The value of a variable in the innermost region.
TensorRef readInRegion(OpStream &stream, const VariableRef &variable, const SourceLocation &location);
llvm::Error assignInRegion(OpStream &stream, const VariableRef &variable, const TensorRef &value,
                           const CallSite &site);

/// A branch or loop whose regions have been recorded.
struct ControlFlowCall {
  std::string op;                ///< "if", "while", "scan" or "custom_gradient".
  TensorRef predicate;           ///< Of a branch: a bool of rank 0.
  std::vector<TensorRef> inits;  ///< Of a loop; the values with a gradient of their own.
  std::vector<TensorRef> xs;     ///< Of a scan; the first size of each is `steps`. What that gradient is for.
  std::optional<DimExpr> steps;  ///< A scan's length, or a while loop's limit.
  bool isReversed = false;
  std::vector<RegionRecording *> regions;
  CallSite site;
};

/// How the caller reads and assigns variables where the op stands.
struct VariableAccess {
  llvm::function_ref<llvm::Expected<TensorRef>(const VariableRef &)> read;
  llvm::function_ref<llvm::Error(const VariableRef &, const TensorRef &)> assign;
};

/// Makes the op and returns a handle for each result that the caller asked for:
/// what the branches yield, or the carries and the stacked slices. The types of
/// carries and yields must fit; the caller has checked them.
llvm::Expected<std::vector<TensorRef>> recordControlFlow(OpStream &stream, const ControlFlowCall &call,
                                                         VariableAccess variables);

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_REGIONRECORDING_H
