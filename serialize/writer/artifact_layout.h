// Frames segments as an artifact: offsets, directory, hashes, zeroed gaps. The one place that lays out a file.
#ifndef FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_
#define FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "serialize/schema/artifact_header.h"

namespace ferrule::serialize {

struct Segment {
  SegmentKind kind;
  std::string name;  // at most 31 bytes
  uint64_t alignment;
  uint64_t size;
  // Writes `size` bytes to memory of unknown contents.
  std::function<void(uint8_t*)> write;
  // Null, or, of weights to encrypt, called once they are written: `associated` are the bytes of the directory that the tag
  // vouches for, see artifact_header.h. False: it cannot.
  std::function<bool(uint8_t* segment, const uint8_t* associated, uint64_t associated_byte_size)> seal = nullptr;
};

// Memory for the `byte_size` bytes of an artifact, or null.
using AllocateArtifact = std::function<uint8_t*(uint64_t byte_size)>;

// Segments keep their order. At most kMaximumSegments of them; the caller has checked names and alignments. False if
// `allocate` gives no memory, or the last segment cannot be sealed. `minimum_reader_version`: the oldest format version whose readers understand the segments.
bool frame_artifact(const std::vector<Segment>& segments, const AllocateArtifact& allocate,
                    uint32_t minimum_reader_version = kOldestReadableVersion);

// For tests: the bytes of an artifact, and a segment that keeps its own.
std::vector<uint8_t> frame_artifact(const std::vector<Segment>& segments);
Segment hold_segment(SegmentKind kind, std::string name, uint64_t alignment, std::vector<uint8_t> bytes);

// Recomputes every hash of an artifact whose bytes were edited, as far as its header and directory still make sense;
// for tests that must get past the hashes. Returns false when nothing could be resealed.
bool reseal_artifact(std::vector<uint8_t>& artifact);

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_WRITER_ARTIFACT_LAYOUT_H_
