#include "runtime/program/artifact_reader.h"

#include <string.h>

#include "runtime/base/arithmetic.h"
#include "serialize/schema/sha256.h"

namespace ferrule::runtime {
namespace {

using serialize::ArtifactHeader;
using serialize::SegmentEntry;
using serialize::SegmentKind;
using ull = unsigned long long;

Status check_magic(const ByteSource& source, const ArtifactHeader& header, uint64_t read_bytes) {
  const uint8_t* magic = header.magic;
  if (read_bytes >= sizeof header.magic && memcmp(magic, serialize::kArtifactMagic, sizeof header.magic) == 0) {
    return Status();
  }
  if (read_bytes >= 4 && memcmp(magic, serialize::kArtifactMagic, 4) == 0) {
    return Status::error(StatusCode::kInvalidArtifact,
                         "%s was a Ferrule artifact but its bytes were translated in a transfer (line ends?)",
                         source.name());
  }
  if (read_bytes == 0)
    return Status::error(StatusCode::kInvalidArtifact, "%s is not a Ferrule artifact: it is empty", source.name());
  return Status::error(StatusCode::kInvalidArtifact,
                       "%s is not a Ferrule artifact: it begins with bytes %02x %02x %02x %02x and not 89 46 45 52",
                       source.name(), magic[0], magic[1], magic[2], magic[3]);
}

Status check_version(const ByteSource& source, const ArtifactHeader& header) {
  if (header.format_version < serialize::kOldestReadableVersion) {
    return Status::error(StatusCode::kVersionMismatch,
                         "%s has format version %u, which was never frozen; this runtime reads versions %u to %u: compile "
                         "it again",
                         source.name(), header.format_version, serialize::kOldestReadableVersion,
                         serialize::kFormatVersion);
  }
  if (header.minimum_reader_version > serialize::kFormatVersion) {
    return Status::error(StatusCode::kVersionMismatch,
                         "%s has format version %u and needs a runtime that reads version %u; this one reads versions %u "
                         "to %u: take a newer runtime, or compile the model with the Ferrule that this runtime belongs to",
                         source.name(), header.format_version, header.minimum_reader_version,
                         serialize::kOldestReadableVersion, serialize::kFormatVersion);
  }
  return Status();
}

Status check_header(const ByteSource& source, const ArtifactHeader& header) {
  if (header.total_size != source.byte_size()) {
    return Status::error(StatusCode::kInvalidArtifact, "%s is %s: its header says %llu bytes and it holds %llu",
                         source.name(), source.byte_size() < header.total_size ? "truncated" : "too long",
                         static_cast<ull>(header.total_size), static_cast<ull>(source.byte_size()));
  }
  if (header.segment_count == 0 || header.segment_count > serialize::kMaximumSegments ||
      header.header_size != serialize::artifact_header_size(header.segment_count) ||
      header.header_size > header.total_size || header.minimum_reader_version > header.format_version) {
    return Status::error(StatusCode::kInvalidArtifact, "%s: the header is damaged (%u segments, header of %u bytes)",
                         source.name(), header.segment_count, header.header_size);
  }
  for (const uint8_t byte : header.reserved) {
    if (byte != 0) {
      return Status::error(StatusCode::kInvalidArtifact, "%s: the header is damaged: a reserved byte is %u", source.name(),
                           byte);
    }
  }
  return Status();
}

bool name_is_well_formed(const SegmentEntry& entry) {
  const size_t length = strnlen(entry.name, sizeof entry.name);
  for (size_t i = length; i < sizeof entry.name; ++i) {
    if (entry.name[i] != '\0') return false;
  }
  for (size_t i = 0; i < length; ++i) {
    if (entry.name[i] < 0x21 || entry.name[i] > 0x7e) return false;  // printable ASCII without blanks
  }
  const bool is_code = entry.kind == static_cast<uint32_t>(SegmentKind::kCode);
  return length < sizeof entry.name && (length != 0) == is_code;
}

// What a segment is, apart from where it lies.
Status check_entry(const ByteSource& source, const ArtifactFrame& frame, uint32_t segment) {
  const SegmentEntry& entry = frame.directory[segment];
  const bool is_weights = entry.kind == static_cast<uint32_t>(SegmentKind::kWeights);
  const bool is_metadata = entry.kind == static_cast<uint32_t>(SegmentKind::kMetadata);
  const char* wrong = nullptr;
  if (entry.kind < 1 || entry.kind > static_cast<uint32_t>(SegmentKind::kWeights)) wrong = "has an unknown kind";
  if (wrong == nullptr && is_metadata != (segment == 0)) wrong = "breaks the order: metadata is first, once";
  if (wrong == nullptr && is_weights && segment + 1 != frame.segment_count())
    wrong = "breaks the order: weights are last";
  if (wrong == nullptr && entry.reserved != 0) wrong = "has a reserved field that is not zero";
  if (wrong == nullptr && !name_is_well_formed(entry)) wrong = "has a malformed name";
  if (wrong == nullptr && frame.find(static_cast<SegmentKind>(entry.kind), entry.name) != segment)
    wrong = "occurs twice";
  const bool is_power_of_two = entry.alignment != 0 && (entry.alignment & (entry.alignment - 1)) == 0;
  if (wrong == nullptr && (!is_power_of_two || entry.alignment < serialize::kSegmentAlignment ||
                           entry.alignment > serialize::kMaximumSegmentAlignment)) {
    wrong = "has a wrong alignment";
  }
  if (wrong == nullptr) return Status();
  return Status::error(StatusCode::kInvalidArtifact, "%s: the directory is damaged: segment %u (kind %u) %s",
                       source.name(), segment, entry.kind, wrong);
}

Status check_zero(const ByteSource& source, uint64_t begin, uint64_t end) {
  uint8_t chunk[4096];
  while (begin < end) {
    const uint64_t count = end - begin < sizeof chunk ? end - begin : sizeof chunk;
    FERRULE_RETURN_IF_ERROR(source.read(begin, chunk, count));
    for (uint64_t i = 0; i < count; ++i) {
      if (chunk[i] != 0) {
        return Status::error(StatusCode::kInvalidArtifact,
                             "%s: byte %llu lies between segments and is %02x instead of zero", source.name(),
                             static_cast<ull>(begin + i), chunk[i]);
      }
    }
    begin += count;
  }
  return Status();
}

// Segments lie in order, aligned, inside the file, at the first place that their alignment allows, with zeros before
// and nothing behind. (So a file cannot make opening read long gaps.)
Status check_placement(const ByteSource& source, const ArtifactFrame& frame) {
  uint64_t end = frame.header.header_size;
  for (uint32_t i = 0; i < frame.segment_count(); ++i) {
    const SegmentEntry& entry = frame.directory[i];
    const uint64_t offset = frame.offsets[i];
    if (offset == 0) continue;
    if (offset % entry.alignment != 0 || offset < end || offset - end >= entry.alignment ||
        !range_fits(offset, entry.size, frame.header.total_size)) {
      return Status::error(StatusCode::kInvalidArtifact,
                           "%s: segment %u (%llu bytes at %llu) is misplaced: it must be %llu-byte aligned and lie in "
                           "bytes %llu to %llu",
                           source.name(), i, static_cast<ull>(entry.size), static_cast<ull>(offset),
                           static_cast<ull>(entry.alignment), static_cast<ull>(end),
                           static_cast<ull>(frame.header.total_size));
    }
    FERRULE_RETURN_IF_ERROR(check_zero(source, end, offset));
    end = offset + entry.size;
  }
  if (end != frame.header.total_size) {
    return Status::error(StatusCode::kInvalidArtifact, "%s has %llu bytes behind its last segment", source.name(),
                         static_cast<ull>(frame.header.total_size - end));
  }
  return Status();
}

}  // namespace

uint32_t ArtifactFrame::find(SegmentKind kind, const char* name) const {
  for (uint32_t i = 0; i < segment_count(); ++i) {
    const SegmentEntry& entry = directory[i];
    if (entry.kind == static_cast<uint32_t>(kind) && strncmp(entry.name, name, sizeof entry.name) == 0) return i;
  }
  return segment_count();
}

Status read_frame(const ByteSource& source, ArtifactFrame* out_frame) {
  ArtifactHeader& header = out_frame->header;
  memset(&header, 0, sizeof header);
  const uint64_t read_bytes = source.byte_size() < sizeof header ? source.byte_size() : sizeof header;
  FERRULE_RETURN_IF_ERROR(source.read(0, &header, read_bytes));
  FERRULE_RETURN_IF_ERROR(check_magic(source, header, read_bytes));
  if (read_bytes < sizeof header) {
    return Status::error(StatusCode::kInvalidArtifact, "%s is truncated: %llu bytes, less than its header of %zu",
                         source.name(), static_cast<ull>(source.byte_size()), sizeof header);
  }
  FERRULE_RETURN_IF_ERROR(check_version(source, header));
  FERRULE_RETURN_IF_ERROR(check_header(source, header));

  const uint64_t offsets_size = header.segment_count * sizeof(uint64_t);
  const uint64_t directory_size = header.segment_count * sizeof(SegmentEntry);
  FERRULE_RETURN_IF_ERROR(source.read(sizeof header, out_frame->offsets, offsets_size));
  FERRULE_RETURN_IF_ERROR(source.read(sizeof header + offsets_size, out_frame->directory, directory_size));
  uint8_t digest[serialize::kSha256Bytes];
  serialize::sha256(out_frame->directory, directory_size, digest);
  if (memcmp(digest, header.root_hash, sizeof digest) != 0) {
    return Status::error(StatusCode::kInvalidArtifact, "%s was edited: its directory does not have the root hash",
                         source.name());
  }
  for (uint32_t i = 0; i < header.segment_count; ++i) FERRULE_RETURN_IF_ERROR(check_entry(source, *out_frame, i));
  FERRULE_RETURN_IF_ERROR(check_placement(source, *out_frame));
  if (!out_frame->present(0)) {
    return Status::error(StatusCode::kInvalidArtifact, "%s has no metadata", source.name());
  }
  return Status();
}

Status check_segment_hash(const ByteSource& source, const ArtifactFrame& frame, uint32_t segment,
                          const uint8_t* bytes) {
  const SegmentEntry& entry = frame.directory[segment];
  uint8_t digest[serialize::kSha256Bytes];
  serialize::sha256(bytes, entry.size, digest);
  if (memcmp(digest, entry.sha256, sizeof digest) == 0) return Status();
  static const char* const kKindNames[] = {"", "metadata", "code", "debug", "weights"};
  return Status::error(StatusCode::kInvalidArtifact, "%s was edited: its %s%s%s do not have the recorded hash",
                       source.name(), kKindNames[entry.kind], entry.name[0] != '\0' ? " for " : "", entry.name);
}

}  // namespace ferrule::runtime
