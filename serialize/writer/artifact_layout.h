// Frames segments as an artifact: offsets, directory, hashes, zeroed gaps. The one place that lays out a file.
#ifndef FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_
#define FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "serialize/schema/artifact_header.h"

namespace ferrule::serialize {

struct Segment {
  SegmentKind kind;
  std::string name;  // at most 31 bytes
  uint64_t alignment;
  std::vector<uint8_t> bytes;
};

// Segments keep their order. At most kMaximumSegments of them; the caller has checked names and alignments.
std::vector<uint8_t> frame_artifact(const std::vector<Segment>& segments);

// Recomputes every hash of an artifact whose bytes were edited, as far as its header and directory still make sense;
// for tests that must get past the hashes. Returns false when nothing could be resealed.
bool reseal_artifact(std::vector<uint8_t>& artifact);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_
