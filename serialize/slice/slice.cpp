#include "serialize/slice/slice.h"

#include <algorithm>
#include <cstring>

#include "serialize/reader/reader.h"
#include "serialize/writer/writer.h"

namespace ferrule::serialize {
namespace {

constexpr uint32_t kDropped = UINT32_MAX;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Empty when each of `wanted` is one of `known`.
std::string unknown_name(const char* what, const std::vector<std::string>& wanted,
                         const std::vector<std::string>& known) {
  for (const std::string& name : wanted) {
    if (contains(known, name)) continue;
    std::string all;
    for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
    return std::string("there is no ") + what + " '" + name + "'; there are: " + all;
  }
  return "";
}

// Which members of a table are used, and then their new numbers.
class Renumbering {
 public:
  explicit Renumbering(size_t size) : numbers_(size, kDropped) {}

  void use(uint32_t index) { numbers_[index] = 0; }
  template <typename T>
  void apply(std::vector<T>* table) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] == kDropped) continue;
      numbers_[i] = next;
      if (next != i) (*table)[next] = std::move((*table)[i]);
      ++next;
    }
    table->resize(next);
  }
  void renumber(uint32_t* index) const { *index = numbers_[*index]; }

 private:
  std::vector<uint32_t> numbers_;
};

uint64_t arena_bytes(const ProgramDescription& program, uint32_t arena) {
  uint64_t most = 0;
  for (const EntryDescription& entry : program.entries)
    for (const BufferDescription& buffer : entry.buffers)
      if (buffer.storage == Storage::kArena && buffer.index == arena)
        most = std::max(most, buffer.offset + buffer.planned_size);
  return most;
}

void keep_entries(const std::vector<std::string>& names, ProgramDescription* program) {
  std::vector<EntryDescription>& entries = program->entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [&](const EntryDescription& entry) { return !contains(names, entry.name); }),
                entries.end());
  Renumbering variables(program->variables.size()), constants(program->constants.size());
  Renumbering kernels(program->kernels.size());
  for (const EntryDescription& entry : entries) {
    for (const uint32_t variable : entry.assigned_variables) variables.use(variable);
    for (const BufferDescription& buffer : entry.buffers) {
      if (buffer.storage == Storage::kVariable) variables.use(buffer.index);
      if (buffer.storage == Storage::kConstant) constants.use(buffer.index);
    }
    for (const BlockDescription& block : entry.blocks)
      for (const InstructionDescription& instruction : block.instructions)
        if (instruction.kind == InstructionDescription::Kind::kKernelCall) kernels.use(instruction.kernel);
  }
  variables.apply(&program->variables);
  constants.apply(&program->constants);
  kernels.apply(&program->kernels);
  for (EntryDescription& entry : entries) {
    for (uint32_t& variable : entry.assigned_variables) variables.renumber(&variable);
    for (BufferDescription& buffer : entry.buffers) {
      if (buffer.storage == Storage::kVariable) variables.renumber(&buffer.index);
      if (buffer.storage == Storage::kConstant) constants.renumber(&buffer.index);
    }
    for (BlockDescription& block : entry.blocks)
      for (InstructionDescription& instruction : block.instructions)
        if (instruction.kind == InstructionDescription::Kind::kKernelCall) kernels.renumber(&instruction.kernel);
  }
  for (uint32_t a = 0; a < program->arenas.size(); ++a) program->arenas[a].byte_size = arena_bytes(*program, a);
  program->scratch_bytes = 0;
  for (const KernelDescription& kernel : program->kernels)
    program->scratch_bytes = std::max(program->scratch_bytes, kernel.scratch_bytes);
}

std::string segment_name(const SegmentEntry& entry) { return {entry.name, strnlen(entry.name, sizeof entry.name)}; }

// The same directory with fewer bytes behind it.
std::vector<uint8_t> drop_segments(const std::vector<uint8_t>& artifact, const ArtifactContents& contents,
                                   const SliceOptions& options) {
  const size_t count = contents.directory.size();
  std::vector<uint64_t> offsets(count, 0);
  uint64_t end = contents.header.header_size;
  std::vector<uint8_t> sliced(artifact.begin(), artifact.begin() + static_cast<std::ptrdiff_t>(end));
  for (size_t i = 0; i < count; ++i) {
    const SegmentEntry& entry = contents.directory[i];
    const auto kind = static_cast<SegmentKind>(entry.kind);
    if (contents.offsets[i] == 0 || (kind == SegmentKind::kDebug && !options.debug) ||
        (kind == SegmentKind::kCode && !options.targets.empty() && !contains(options.targets, segment_name(entry))))
      continue;
    offsets[i] = (end + entry.alignment - 1) / entry.alignment * entry.alignment;
    end = offsets[i] + entry.size;
    sliced.resize(end, 0);
    if (entry.size != 0) std::memcpy(sliced.data() + offsets[i], artifact.data() + contents.offsets[i], entry.size);
  }
  ArtifactHeader header = contents.header;
  header.total_size = end;
  std::memcpy(sliced.data(), &header, sizeof header);
  std::memcpy(sliced.data() + sizeof header, offsets.data(), count * sizeof(uint64_t));
  return sliced;
}

std::string check_names(const ArtifactContents& contents, const SliceOptions& options) {
  std::vector<std::string> targets, entries;
  for (size_t i = 0; i < contents.directory.size(); ++i)
    if (contents.directory[i].kind == static_cast<uint32_t>(SegmentKind::kCode) && contents.offsets[i] != 0)
      targets.push_back(segment_name(contents.directory[i]));
  for (const EntryDescription& entry : contents.program.entries) entries.push_back(entry.name);
  const std::string error = unknown_name("target", options.targets, targets);
  return error.empty() ? unknown_name("entry", options.entries, entries) : error;
}

}  // namespace

bool slice_artifact(const uint8_t* bytes, size_t byte_size, const SliceOptions& options,
                    std::vector<uint8_t>* out_artifact, std::string* error) {
  ArtifactContents contents;
  if (!read_artifact(bytes, byte_size, &contents, error)) return false;
  *error = check_names(contents, options);
  if (!error->empty()) return false;
  std::vector<uint8_t> artifact(bytes, bytes + byte_size);
  if (!options.entries.empty()) {
    if (!prepare_to_write("dropping entries", &contents, error)) return false;
    keep_entries(options.entries, &contents.program);
    artifact = write_program(contents.program, error);
    if (artifact.empty() || !read_artifact(artifact.data(), artifact.size(), &contents, error)) return false;
  }
  *out_artifact = drop_segments(artifact, contents, options);
  return true;
}

}  // namespace ferrule::serialize
