// The frame of a Ferrule artifact (.fer): what stands before and around the flatbuffer. Little-endian, no padding.
//
//   ArtifactHeader | file offsets: uint64 a segment | directory: SegmentEntry a segment | segments, each at its
//   alignment
//
// Segments lie in directory order; an offset of 0 means absent (sliced away) or held outside the file. Bytes between
// segments are zero. The root hash covers the directory and not the offsets, so slicing leaves it valid.
#ifndef FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_
#define FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_

#include <stdint.h>

namespace ferrule::serialize {

// The high bit and the line ends catch transfers that strip or translate bytes.
inline constexpr uint8_t kArtifactMagic[8] = {0x89, 'F', 'E', 'R', '\r', '\n', 0x1A, '\n'};

inline constexpr uint32_t kFormatVersion = 0;
// The oldest reader that understands what this writer writes.
inline constexpr uint32_t kMinimumReaderVersion = 0;

// A page of most machines. Where pages are larger the loader maps from the page border below.
inline constexpr uint64_t kWeightsAlignment = 4096;
inline constexpr uint64_t kSegmentAlignment = 64;
inline constexpr uint32_t kMaximumSegments = 64;
// Blocks of instructions lie in at most as many others.
inline constexpr uint32_t kMaximumBlockDepth = 64;

inline constexpr uint64_t kMaximumMetadataBytes = uint64_t{1} << 30;  // a flatbuffer must stay below 2 GiB

struct ArtifactHeader {
  uint8_t magic[8];
  uint32_t format_version;
  uint32_t minimum_reader_version;
  uint64_t total_size;   // bytes of the file
  uint32_t header_size;  // bytes of header, offsets and directory
  uint32_t segment_count;
  uint8_t schema_hash[32];  // version 0 only: an artifact is read by the schema that wrote it
  uint8_t root_hash[32];    // SHA-256 of the directory
};
static_assert(sizeof(ArtifactHeader) == 96);

enum class SegmentKind : uint32_t {
  kMetadata = 1,  // the flatbuffer Program, exactly one, first
  kCode = 2,      // one image a target, `name` is the target's
  kDebug = 3,     // the flatbuffer Debug, at most one
  kWeights = 4,   // initial values and constants, at most one, last
};

struct SegmentEntry {
  uint32_t kind;       // a SegmentKind
  uint32_t reserved;   // zero
  char name[32];       // zero-terminated and zero-filled
  uint64_t size;       // bytes, without the gap after it
  uint64_t alignment;  // of the file offset
  uint8_t sha256[32];
};
static_assert(sizeof(SegmentEntry) == 88);

// Bytes of header, offsets and directory.
inline constexpr uint64_t artifact_header_size(uint64_t segment_count) {
  return sizeof(ArtifactHeader) + segment_count * (sizeof(uint64_t) + sizeof(SegmentEntry));
}

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_
