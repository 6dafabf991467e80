// Reads and checks an artifact's frame: header, directory, placement of the segments, zero gaps, hashes.
#ifndef FERRULE_RUNTIME_PROGRAM_ARTIFACT_READER_H_
#define FERRULE_RUNTIME_PROGRAM_ARTIFACT_READER_H_

#include <stdint.h>

#include "runtime/base/status.h"
#include "runtime/program/byte_source.h"
#include "serialize/schema/artifact_header.h"

namespace ferrule::runtime {

// The frame after it passed every check. Segment 0 is the metadata and present; weights, if any, are last.
struct ArtifactFrame {
  serialize::ArtifactHeader header;
  uint64_t offsets[serialize::kMaximumSegments];
  serialize::SegmentEntry directory[serialize::kMaximumSegments];

  uint32_t segment_count() const { return header.segment_count; }
  bool present(uint32_t segment) const { return offsets[segment] != 0; }
  // The index of the segment of that kind and name, or segment_count().
  uint32_t find(serialize::SegmentKind kind, const char* name) const;
};

// Errors: kInvalidArtifact or kVersionMismatch; the version is checked before anything else is looked at.
Status read_frame(const ByteSource& source, ArtifactFrame* out_frame);

// Compares the hash of bytes that were read from `segment`.
Status check_segment_hash(const ByteSource& source, const ArtifactFrame& frame, uint32_t segment, const uint8_t* bytes);

}  // namespace ferrule::runtime

#endif  // FERRULE_RUNTIME_PROGRAM_ARTIFACT_READER_H_
