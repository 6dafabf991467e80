//===- CallPrototype.h - Calls that recorded several ops before -----------===//
//
// A function that is a composition (an interpolation, an attention) spends far
// more time on finding out what to record than the ops cost. What it records
// follows from the shapes and element types of its operands and from its other
// arguments, so that a call like an earlier one can be recorded by copying.
//
//===----------------------------------------------------------------------===//
#ifndef FERRULE_FRONTEND_CORE_CALLPROTOTYPE_H
#define FERRULE_FRONTEND_CORE_CALLPROTOTYPE_H

#include "frontend/core/LazyRecorder.h"

namespace ferrule::frontend {

/// A place in a record: what comes behind it was recorded later.
class RecordMark {
public:
  explicit RecordMark(LazyRecorder &recorder);

  /// The first op that was recorded since. Nothing if the record has been
  /// dropped meanwhile.
  std::optional<mlir::Block::iterator> getNext(LazyRecorder &recorder) const;

private:
  uint64_t streamId;
  mlir::Block *block;
  mlir::Operation *last; ///< Null: the block's beginning.
};

/// The ops of one call, to be copied for the next one like it.
class CallPrototype {
public:
  /// More ops than this are not worth their memory.
  static constexpr size_t maximumOps = 1000;
  /// Bytes of arrays that the call made itself, such as tables of positions.
  static constexpr size_t maximumConstantBytes = size_t(1) << 16;

  /// What the call recorded since `mark` to make `results` of `inputs`. Null if
  /// another call cannot be a copy of it: the record was run meanwhile, or the
  /// ops read a value that is no input and was there before, or are too many.
  static std::unique_ptr<CallPrototype> take(LazyRecorder &recorder, const RecordMark &mark,
                                             llvm::ArrayRef<TensorRef> inputs, llvm::ArrayRef<TensorRef> results);
  ~CallPrototype();

  /// Records the call for other inputs, of the same types, at `site`. The
  /// results come in the order in which `take` got them; one that was an input
  /// is that input.
  llvm::Expected<llvm::SmallVector<TensorRef, 2>> record(LazyRecorder &recorder, llvm::ArrayRef<TensorRef> inputs,
                                                         const CallSite &site) const;

private:
  class Taking;

  /// Values are numbered: the inputs, the constants, then the results of the ops.
  struct Step {
    mlir::Operation *op; ///< Without operands, in no block.
    llvm::SmallVector<unsigned, 3> operands;
  };

  CallPrototype() = default;

  std::vector<TensorRef> constants;
  std::vector<Step> steps;
  llvm::SmallVector<unsigned, 2> results;
};

} // namespace ferrule::frontend

#endif // FERRULE_FRONTEND_CORE_CALLPROTOTYPE_H
