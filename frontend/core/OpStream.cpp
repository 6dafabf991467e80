//===- OpStream.cpp - Where recorded ops go -------------------------------===//

#include "frontend/core/OpStream.h"

#include <atomic>

namespace ferrule::frontend {
namespace {

uint64_t takeNextStreamId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

} // namespace

OpStream::OpStream(mlir::MLIRContext *context) : id(takeNextStreamId()), builder(context) {}

OpStream::~OpStream() = default;

void OpStream::takeNewId() { id = takeNextStreamId(); }

mlir::Location toMLIRLocation(const SourceLocation &location, mlir::MLIRContext *context) {
  if (!location.isKnown())
    return mlir::UnknownLoc::get(context);
  return mlir::FileLineColLoc::get(context, location.file, location.line, 0);
}

} // namespace ferrule::frontend
