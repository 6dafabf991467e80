#include "serialize/writer/artifact_layout.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "serialize/schema/sha256.h"

namespace ferrule::serialize {
namespace {

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) & ~(alignment - 1); }

}  // namespace

bool frame_artifact(const std::vector<Segment>& segments, const AllocateArtifact& allocate,
                    uint32_t minimum_reader_version) {
  const uint64_t header_size = artifact_header_size(segments.size());
  std::vector<uint64_t> offsets;
  uint64_t end = header_size;
  for (const Segment& segment : segments) {
    offsets.push_back(align_up(end, segment.alignment));
    end = offsets.back() + segment.size;
  }
  uint8_t* artifact = allocate(end);
  if (artifact == nullptr) return false;

  std::vector<SegmentEntry> directory;
  uint64_t written = header_size;
  for (size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    std::memset(artifact + written, 0, offsets[i] - written);
    segment.write(artifact + offsets[i]);
    written = offsets[i] + segment.size;
    SegmentEntry entry = {};
    entry.kind = static_cast<uint32_t>(segment.kind);
    std::memcpy(entry.name, segment.name.data(), std::min(segment.name.size(), sizeof entry.name - 1));
    entry.size = segment.size;
    entry.alignment = segment.alignment;
    directory.push_back(entry);
    if (segment.seal != nullptr &&
        !segment.seal(artifact + offsets[i], reinterpret_cast<const uint8_t*>(directory.data()),
                      weights_associated_bytes(directory.size())))
      return false;
    sha256(artifact + offsets[i], segment.size, directory.back().sha256);
  }
  ArtifactHeader header = {};
  std::memcpy(header.magic, kArtifactMagic, sizeof header.magic);
  header.format_version = kFormatVersion;
  header.minimum_reader_version = minimum_reader_version;
  header.total_size = end;
  header.header_size = static_cast<uint32_t>(header_size);
  header.segment_count = static_cast<uint32_t>(segments.size());
  sha256(directory.data(), directory.size() * sizeof(SegmentEntry), header.root_hash);

  uint8_t* at = artifact;
  std::memset(at, 0, header_size);
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  std::memcpy(at, offsets.data(), offsets.size() * sizeof(uint64_t));
  at += offsets.size() * sizeof(uint64_t);
  std::memcpy(at, directory.data(), directory.size() * sizeof(SegmentEntry));
  return true;
}

std::vector<uint8_t> frame_artifact(const std::vector<Segment>& segments) {
  std::vector<uint8_t> artifact;
  frame_artifact(segments, [&](uint64_t byte_size) {
    artifact.resize(byte_size);
    return artifact.data();
  });
  return artifact;
}

Segment hold_segment(SegmentKind kind, std::string name, uint64_t alignment, std::vector<uint8_t> bytes) {
  const uint64_t size = bytes.size();
  return {kind, std::move(name), alignment, size, [held = std::move(bytes)](uint8_t* at) {
            if (!held.empty()) std::memcpy(at, held.data(), held.size());
          }};
}

bool reseal_artifact(std::vector<uint8_t>& artifact) {
  if (artifact.size() < sizeof(ArtifactHeader)) return false;
  ArtifactHeader header;
  std::memcpy(&header, artifact.data(), sizeof header);
  const uint64_t count = header.segment_count;
  if (count > kMaximumSegments || artifact_header_size(count) > artifact.size()) return false;
  const uint8_t* offsets = artifact.data() + sizeof header;
  uint8_t* directory = artifact.data() + sizeof header + count * sizeof(uint64_t);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t offset;
    SegmentEntry entry;
    std::memcpy(&offset, offsets + i * sizeof offset, sizeof offset);
    std::memcpy(&entry, directory + i * sizeof entry, sizeof entry);
    if (offset == 0 || entry.size > artifact.size() || offset > artifact.size() - entry.size) continue;
    sha256(artifact.data() + offset, entry.size, entry.sha256);
    std::memcpy(directory + i * sizeof entry, &entry, sizeof entry);
  }
  sha256(directory, count * sizeof(SegmentEntry), header.root_hash);
  std::memcpy(artifact.data(), &header, sizeof header);
  return true;
}

}  // namespace ferrule::serialize
