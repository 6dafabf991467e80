//===- LazyRecorder.h - Dynamic mode: record now, run when looked at ------===//
//
// Ops pend in one block, the record, until a value is looked at. A flush cuts
// out what computes the values that are still wanted, compiles it (or finds it
// in the cache) and runs it; handles then become concrete.
//
// What fails to compile or to run spoils only the tensors that need it: each of
// them keeps the error for whoever looks at it, and the others get their values.
//
// Outside a gradient scope the record is dropped after each flush. Inside one
// it stays, because a later gradient must see the forward ops; what a flush
// computed is kept beside it, so that no forward op runs twice.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_LAZYRECORDER_H
#define FERRULE_FRONTEND_CORE_LAZYRECORDER_H

#include "frontend/core/OpStream.h"
#include "frontend/core/ProgramCache.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace ferrule::frontend {

class LazyRecorder : public OpStream {
public:
  /// A record longer than this is flushed, so that a program that never looks
  /// at a value does not grow without bound.
  static constexpr unsigned maximumPendingOps = 10000;

  LazyRecorder(mlir::MLIRContext *context, ProgramCache &cache);

  llvm::Expected<mlir::Value> getValue(const TensorRef &tensor, const CallSite &site) override;
  TensorRef wrap(mlir::Value value, const SourceLocation &location) override;
  const DimConstraints &getConstraints() const override;
  void recordEquality(const DimExpr &lhs, const DimExpr &rhs, const SourceLocation &location) override;
  llvm::Error didRecord() override;

  /// Runs everything that a living handle waits for, and under a gradient scope
  /// the residuals of what has been recorded. Afterwards each handle is concrete
  /// or has failed.
  void flush();

  /// Test mode: every op runs at once.
  void setFlushEveryOp(bool enabled) { flushEveryOp = enabled; }

  void enterGradientScope() { ++gradientScopeDepth; }
  void exitGradientScope();
  bool isInGradientScope() const { return gradientScopeDepth != 0; }

  /// The concrete tensor that is the input `value` of the record; null for any
  /// other value.
  TensorRef findLeaf(mlir::Value value) const;

  unsigned getPendingCount() const { return pendingCount; }

private:
  void startRecord();
  void sortNewHandles();
  bool isConcrete(mlir::Value value) const { return elements.contains(value); }
  /// The ops recorded since the last flush.
  llvm::iterator_range<mlir::Block::iterator> getPendingOps();
  llvm::SetVector<mlir::Value> collectOutputs();
  void collectResiduals(mlir::Operation *op, llvm::SetVector<mlir::Value> &outputs);
  void runAll(llvm::ArrayRef<mlir::Value> outputs);
  llvm::Error run(mlir::ValueRange outputs);
  void fail(mlir::Value value, std::shared_ptr<const ErrorText> reason);
  std::shared_ptr<const ErrorText> findFailure(mlir::Value value) const;
  void publish(mlir::Value value, std::shared_ptr<HostBuffer> buffer);

  ProgramCache &cache;
  mlir::OwningOpRef<mlir::ModuleOp> record;
  mlir::Operation *lastFlushed = nullptr; ///< Null: nothing of this record.
  mlir::Operation *lastCounted = nullptr;
  unsigned pendingCount = 0;
  /// Where the elements of a value are, if it has any: leaves and results.
  llvm::DenseMap<mlir::Value, std::shared_ptr<HostBuffer>> elements;
  /// Values that could not be computed.
  llvm::DenseMap<mlir::Value, std::shared_ptr<const ErrorText>> failures;
  /// Who waits for a value, found by value while a flush runs. Between flushes
  /// handles only queue up: most of them are gone when the next one comes.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<std::weak_ptr<Tensor>, 1>> handles;
  std::vector<std::pair<mlir::Value, std::weak_ptr<Tensor>>> newHandles;
  /// Concrete tensors used as inputs. Keyed by the handle, not by its memory:
  /// two parameters that share initial values are two inputs. The record keeps
  /// the handles alive, so no address is used twice.
  llvm::DenseMap<Tensor *, std::pair<TensorRef, mlir::Value>> leaves;
  DimConstraints constraints; ///< Empty: every size here is a constant.
  unsigned gradientScopeDepth = 0;
  bool flushEveryOp = false;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_LAZYRECORDER_H
