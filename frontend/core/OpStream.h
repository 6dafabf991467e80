//===- OpStream.h - Where recorded ops go ---------------------------------===//
//
// A stream is a block under construction. There are two: the lazy recorder of
// dynamic mode and a trace. Everything above them (promotion, broadcasting,
// gradients) is written against this class and never asks which one it has.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_OPSTREAM_H
#define FERRULE_FRONTEND_CORE_OPSTREAM_H

#include "frontend/core/OpPrototypes.h"
#include "frontend/core/Tensor.h"
#include "ir/dims/DimConstraints.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <set>

namespace ferrule::frontend {

struct RegionRecording;

/// The user's line and module path of the op being recorded. The path belongs to
/// the caller.
struct CallSite {
  SourceLocation location;
  llvm::StringRef modulePath;
};

class OpStream {
public:
  virtual ~OpStream();

  /// Never reused in a process, so that a handle of a stream that has ended is
  /// recognised without following its value.
  uint64_t getId() const { return id; }

  mlir::MLIRContext *getContext() { return builder.getContext(); }

  /// Inserts at the end of the stream's block.
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The ops that were recorded here, one of each kind.
  OpPrototypes &getPrototypes() { return prototypes; }

  /// The MLIR location of `location`: a FileLineColLoc, or an unknown one.
  mlir::Location toMLIRLocation(const SourceLocation &location);

  /// The value that `tensor` has in this stream. A concrete tensor becomes an
  /// input of the lazy recorder and a constant of a trace; a tensor of another
  /// trace is a TraceError.
  virtual llvm::Expected<mlir::Value> getValue(const TensorRef &tensor, const CallSite &site) = 0;

  /// A handle on `value`, which an op of this stream made.
  virtual TensorRef wrap(mlir::Value value, const SourceLocation &location) = 0;

  //===--- Regions (RegionRecording.h) -------------------------------------===//

  bool isInRegion() const { return !regions.empty(); }
  /// The innermost region that is open; there must be one.
  RegionRecording &getRegion() { return *regions.back(); }
  /// Starts a region: the builder stands in its block until it is closed.
  RegionRecording &openRegion(std::string name);
  std::unique_ptr<RegionRecording> closeRegion();

  /// What is known of the dims here: their ranges and the equalities recorded.
  virtual const DimConstraints &getConstraints() const = 0;

  /// Two dims that must be equal whenever the program runs.
  virtual void recordEquality(const DimExpr &lhs, const DimExpr &rhs, const SourceLocation &location) = 0;

  /// Called after each op of the user, before its handles are returned.
  virtual llvm::Error didRecord() { return llvm::Error::success(); }

protected:
  explicit OpStream(mlir::MLIRContext *context);

  /// While it lives, ops are made in the stream's own block, whatever regions
  /// are open: before the op that they will be part of.
  class OutsideRegions {
  public:
    explicit OutsideRegions(OpStream &stream);

  private:
    mlir::OpBuilder::InsertionGuard guard;
  };

  /// The block outside of all open regions.
  mlir::Block *getOwnBlock() const;

  /// Whether the handle is one of this stream, or of a region that is open.
  bool isMine(const Tensor &tensor) const;
  /// The number that handles made now get.
  uint64_t getHandleId() const;
  /// For a traced handle that is not: a TraceError that says why.
  llvm::Error refuseHandle(const Tensor &tensor, const std::string &user, const CallSite &site) const;

  /// Makes every handle so far one of a stream that has ended.
  void takeNewId();

  uint64_t id;
  mlir::OpBuilder builder;

private:
  std::vector<std::unique_ptr<RegionRecording>> regions; ///< Outermost first.
  std::set<uint64_t> closedRegions;
  OpPrototypes prototypes;
  /// By the file's name, of which there is one copy, and the line.
  llvm::DenseMap<std::pair<const char *, unsigned>, mlir::LocationAttr> locations;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_OPSTREAM_H
