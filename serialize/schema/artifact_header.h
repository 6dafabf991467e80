// The frame of a Ferrule artifact (.fer): what stands before and around the flatbuffer. Little-endian, no padding.
//
//   ArtifactHeader | file offsets: uint64 a segment | directory: SegmentEntry a segment | segments, each at its
//   alignment
//
// Segments lie in directory order; an offset of 0 means absent (sliced away) or held outside the file. Bytes between
// segments are zero. The root hash covers the directory and not the offsets, so slicing leaves it valid.
#ifndef FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_
#define FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_

#include <stddef.h>
#include <stdint.h>

namespace ferrule::serialize {

// The high bit and the line ends catch transfers that strip or translate bytes.
inline constexpr uint8_t kArtifactMagic[8] = {0x89, 'F', 'E', 'R', '\r', '\n', 0x1A, '\n'};

inline constexpr uint32_t kFormatVersion = 2;
// Version 0 was never frozen: nobody reads it any more.
inline constexpr uint32_t kOldestReadableVersion = 1;

// What this writer aligns segments to. A reader takes any power of two up to the maximum.
inline constexpr uint64_t kSegmentAlignment = 64;
inline constexpr uint64_t kMaximumSegmentAlignment = 64 * 1024;
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
  uint8_t reserved[32];   // zero
  uint8_t root_hash[32];  // SHA-256 of the directory
};
static_assert(sizeof(ArtifactHeader) == 96 && offsetof(ArtifactHeader, format_version) == 8 &&
              offsetof(ArtifactHeader, minimum_reader_version) == 12 && offsetof(ArtifactHeader, total_size) == 16 &&
              offsetof(ArtifactHeader, header_size) == 24 && offsetof(ArtifactHeader, segment_count) == 28 &&
              offsetof(ArtifactHeader, reserved) == 32 && offsetof(ArtifactHeader, root_hash) == 64);

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
static_assert(sizeof(SegmentEntry) == 88 && offsetof(SegmentEntry, kind) == 0 && offsetof(SegmentEntry, reserved) == 4 &&
              offsetof(SegmentEntry, name) == 8 && offsetof(SegmentEntry, size) == 40 &&
              offsetof(SegmentEntry, alignment) == 48 && offsetof(SegmentEntry, sha256) == 56);

// What follows encrypted weights in their segment: the tag of AES-256-GCM, then the nonce. The tag vouches for the weights
// and, as associated data, for the directory up to the hash of the weights, its last field: what every other segment is
// and contains. So the key opens them only in the artifact that they were encrypted for, or in a slice of it.
inline constexpr uint64_t kWeightsTagBytes = 16;
inline constexpr uint64_t kWeightsNonceBytes = 12;
inline constexpr uint64_t kWeightsSealBytes = kWeightsTagBytes + kWeightsNonceBytes;
// More than one nonce may encrypt.
inline constexpr uint64_t kMaximumEncryptedBytes = (uint64_t{1} << 36) - 32;

inline constexpr uint64_t weights_associated_bytes(uint64_t segment_count) {
  return segment_count * sizeof(SegmentEntry) - sizeof(SegmentEntry::sha256);
}

// Bytes of header, offsets and directory.
inline constexpr uint64_t artifact_header_size(uint64_t segment_count) {
  return sizeof(ArtifactHeader) + segment_count * (sizeof(uint64_t) + sizeof(SegmentEntry));
}

}  // namespace ferrule::serialize

#endif  // FERRULE_SERIALIZE_SCHEMA_ARTIFACT_HEADER_H_
