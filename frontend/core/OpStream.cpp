//===- OpStream.cpp - Where recorded ops go -------------------------------===//

#include "frontend/core/OpStream.h"

#include "frontend/core/Error.h"
#include "frontend/core/GraphOps.h"
#include "frontend/core/RegionRecording.h"

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

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

RegionRecording &OpStream::openRegion(std::string name) {
  auto recording = std::make_unique<RegionRecording>();
  recording->name = std::move(name);
  recording->id = takeNextStreamId();
  recording->around = builder.saveInsertionPoint();
  builder.setInsertionPointToEnd(&recording->region.emplaceBlock());
  regions.push_back(std::move(recording));
  return *regions.back();
}

std::unique_ptr<RegionRecording> OpStream::closeRegion() {
  std::unique_ptr<RegionRecording> closed = std::move(regions.back());
  regions.pop_back();
  builder.restoreInsertionPoint(closed->around);
  closedRegions.insert(closed->id);
  return closed;
}

mlir::Block *OpStream::getOwnBlock() const {
  return regions.empty() ? builder.getBlock() : regions.front()->around.getBlock();
}

OpStream::OutsideRegions::OutsideRegions(OpStream &stream) : guard(stream.builder) {
  stream.builder.setInsertionPointToEnd(stream.getOwnBlock());
}

bool OpStream::isMine(const Tensor &tensor) const {
  return tensor.getStreamId() == id || llvm::any_of(regions, [&](const std::unique_ptr<RegionRecording> &region) {
           return region->id == tensor.getStreamId();
         });
}

uint64_t OpStream::getHandleId() const { return regions.empty() ? id : regions.back()->id; }

llvm::Error OpStream::refuseHandle(const Tensor &tensor, const std::string &user, const CallSite &site) const {
  if (closedRegions.count(tensor.getStreamId()))
    return makeError(ErrorKind::Trace, "a tensor made at " + tensor.getLocation().str() +
                                           " in a branch or loop body is used outside of it; return it from "
                                           "there instead" +
                                           describeSite(site));
  return makeError(ErrorKind::Trace, "a tensor made at " + tensor.getLocation().str() + " " + user +
                                         describeSite(site));
}

mlir::Location OpStream::toMLIRLocation(const SourceLocation &location) {
  if (!location.isKnown())
    return builder.getUnknownLoc();
  mlir::LocationAttr &known = locations[{location.file.data(), location.line}];
  if (!known)
    known = mlir::FileLineColLoc::get(getContext(), location.file, location.line, 0);
  return known;
}

} // namespace ferrule::frontend
