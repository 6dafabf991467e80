#include "serialize/reader/reader.h"

#include <cstring>

#include "serialize/schema/program_schema.h"
#include "serialize/schema/sha256.h"

namespace ferrule::serialize {
namespace {

bool fail(std::string* error, const std::string& text) {
  *error = text;
  return false;
}

bool read_directory(const uint8_t* bytes, size_t byte_size, ArtifactContents* contents, std::string* error) {
  ArtifactHeader& header = contents->header;
  if (byte_size < sizeof header || std::memcmp(bytes, kArtifactMagic, sizeof kArtifactMagic) != 0) {
    return fail(error, "not a Ferrule artifact");
  }
  std::memcpy(&header, bytes, sizeof header);
  if (header.format_version < kOldestReadableVersion || header.minimum_reader_version > kFormatVersion) {
    return fail(error, "format version " + std::to_string(header.format_version) + ", for readers from version " +
                           std::to_string(header.minimum_reader_version) + "; this tool reads versions " +
                           std::to_string(kOldestReadableVersion) + " to " + std::to_string(kFormatVersion));
  }
  if (header.total_size != byte_size || header.segment_count > kMaximumSegments ||
      artifact_header_size(header.segment_count) > byte_size) {
    return fail(error, "truncated, or its header is damaged");
  }
  contents->offsets.resize(header.segment_count);
  contents->directory.resize(header.segment_count);
  const size_t offsets_size = header.segment_count * sizeof(uint64_t);
  std::memcpy(contents->offsets.data(), bytes + sizeof header, offsets_size);
  std::memcpy(contents->directory.data(), bytes + sizeof header + offsets_size,
              header.segment_count * sizeof(SegmentEntry));
  for (uint32_t i = 0; i < header.segment_count; ++i) {
    const uint64_t offset = contents->offsets[i], size = contents->directory[i].size;
    if (offset == 0) continue;
    uint8_t digest[kSha256Bytes];
    if (size > byte_size || offset > byte_size - size || offset % kSegmentAlignment != 0) {
      return fail(error, "segment " + std::to_string(i) + " is misplaced");
    }
    sha256(bytes + offset, size, digest);
    if (std::memcmp(digest, contents->directory[i].sha256, sizeof digest) != 0) {
      return fail(error, "segment " + std::to_string(i) + " does not have its recorded hash");
    }
  }
  return true;
}

std::vector<uint8_t> segment_bytes(const uint8_t* bytes, const ArtifactContents& contents, SegmentKind kind,
                                   const std::string& name) {
  for (size_t i = 0; i < contents.directory.size(); ++i) {
    const SegmentEntry& entry = contents.directory[i];
    if (entry.kind != static_cast<uint32_t>(kind) || contents.offsets[i] == 0) continue;
    if (std::string(entry.name, strnlen(entry.name, sizeof entry.name)) != name) continue;
    const uint8_t* begin = bytes + contents.offsets[i];
    return {begin, begin + entry.size};
  }
  return {};
}

DataTypeDescription read_dtype(const schema::DataType& dtype) { return {dtype.code(), dtype.bits(), dtype.lanes()}; }

template <typename T>
std::vector<T> read_vector(const flatbuffers::Vector<T>& vector) {
  return {vector.begin(), vector.end()};
}

std::vector<std::string> read_strings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>& strings) {
  std::vector<std::string> result;
  for (const flatbuffers::String* text : strings) result.push_back(text->str());
  return result;
}

std::vector<TensorDescription> read_specs(const flatbuffers::Vector<flatbuffers::Offset<schema::TensorSpec>>& specs) {
  std::vector<TensorDescription> result;
  for (const schema::TensorSpec* spec : specs) {
    result.push_back({spec->name()->str(), read_dtype(*spec->dtype()), read_vector(*spec->shape())});
  }
  return result;
}

// The part of the weights at [offset, offset + size), or nothing when it lies outside or the weights are absent.
std::vector<uint8_t> cut(const std::vector<uint8_t>& weights, uint64_t offset, uint64_t size) {
  if (size > weights.size() || offset > weights.size() - size) return {};
  return {weights.begin() + static_cast<ptrdiff_t>(offset), weights.begin() + static_cast<ptrdiff_t>(offset + size)};
}

OperandDescription read_operand(const schema::Operand& operand) { return {operand.buffer(), operand.offset()}; }

void read_call(const schema::KernelCall& call, InstructionDescription* out) {
  out->kernel = call.kernel();
  for (const schema::Operand* operand : *call.operands()) out->operands.push_back(read_operand(*operand));
  out->output_count = call.output_count();
  out->dims = read_vector(*call.dims());
  out->tiles = call.tiles();
  out->device = call.device();
  out->params = read_vector(*call.params());
  out->location = call.location();
  out->flops = call.flops();
  out->read_bytes = call.read_bytes();
  out->written_bytes = call.written_bytes();
  out->output_sizes = read_vector(*call.output_sizes());
}

bool read_instruction(const schema::InstructionNode& node, InstructionDescription* out) {
  using Kind = InstructionDescription::Kind;
  if (const schema::KernelCall* call = node.instruction_as_KernelCall()) {
    read_call(*call, out);
  } else if (const schema::Copy* copy = node.instruction_as_Copy()) {
    out->kind = Kind::kCopy;
    out->operands = {read_operand(*copy->target()), read_operand(*copy->source())};
    out->byte_size = copy->byte_size();
    out->device = copy->device();
    out->location = copy->location();
  } else if (const schema::If* branch = node.instruction_as_If()) {
    out->kind = Kind::kIf;
    out->operands = {read_operand(*branch->condition())};
    out->blocks = {branch->then_block(), branch->else_block()};
    out->location = branch->location();
  } else if (const schema::While* loop = node.instruction_as_While()) {
    out->kind = Kind::kWhile;
    out->operands = {read_operand(*loop->condition())};
    out->blocks = {loop->condition_block(), loop->body_block()};
    out->location = loop->location();
  } else if (const schema::Loop* counted = node.instruction_as_Loop()) {
    out->kind = Kind::kLoop;
    out->count = counted->count();
    out->dim = counted->dim();
    out->blocks = {counted->body_block()};
    out->location = counted->location();
  } else if (const schema::BindDim* bind = node.instruction_as_BindDim()) {
    out->kind = Kind::kBindDim;
    out->dim = bind->dim();
    out->operands = {read_operand(*bind->value())};
    out->location = bind->location();
  } else {
    return false;
  }
  return true;
}

bool read_entry(const schema::Entry& entry, EntryDescription* out, std::string* error) {
  out->name = entry.name()->str();
  out->inputs = read_specs(*entry.inputs());
  out->outputs = read_specs(*entry.outputs());
  for (const schema::Dim* dim : *entry.dims()) {
    out->dims.push_back({dim->name()->str(), dim->min(), dim->max(), dim->multiple_of(),
                         static_cast<DimSource>(dim->source()), dim->limit()});
  }
  for (const schema::Expression* node : *entry.expressions()) {
    out->expressions.push_back({static_cast<ExpressionKind>(node->kind()), node->left(), node->right(), node->value()});
  }
  for (const schema::Equality* equality : *entry.equalities()) {
    out->equalities.push_back({equality->left(), equality->right(), equality->location()});
  }
  for (const schema::Buffer* buffer : *entry.buffers()) {
    out->buffers.push_back({static_cast<Storage>(buffer->storage()), buffer->index(), buffer->offset(), buffer->size(),
                            buffer->planned_size(), buffer->begin(), buffer->end(), buffer->alias_group(),
                            buffer->debug_name()->str(), buffer->block(),
                            static_cast<BufferKind>(buffer->kind()), read_dtype(*buffer->dtype())});
  }
  for (const schema::Block* block : *entry.blocks()) {
    BlockDescription& description = out->blocks.emplace_back();
    for (const schema::InstructionNode* node : *block->instructions()) {
      if (!read_instruction(*node, &description.instructions.emplace_back())) {
        return fail(error, "entry '" + out->name + "' has an instruction of unknown kind");
      }
    }
  }
  out->assigned_variables = read_vector(*entry.assigned_variables());
  out->peak_bytes = entry.peak_bytes();
  out->lower_bound_bytes = entry.lower_bound_bytes();
  out->naive_bytes = entry.naive_bytes();
  out->signature = entry.signature()->str();
  return true;
}

bool read_kernels(const schema::Program& metadata, ProgramDescription* out, std::string* error) {
  for (const schema::Kernel* kernel : *metadata.kernels()) {
    KernelDescription& description = out->kernels.emplace_back();
    description.name = kernel->name()->str();
    description.operand_count = kernel->operand_count();
    description.output_count = kernel->output_count();
    description.dim_count = kernel->dim_count();
    if (const schema::CpuFunction* function = kernel->implementation_as_CpuFunction()) {
      description.offsets = read_vector(*function->offsets());
      description.scratch_bytes = function->scratch_bytes();
    } else if (const schema::ExternalFunction* external = kernel->implementation_as_ExternalFunction()) {
      description.symbol = external->symbol()->str();
      description.scratch_bytes = external->scratch_bytes();
    } else {
      return fail(error, "kernel '" + description.name + "' is of unknown kind");
    }
  }
  return true;
}

void read_variables(const schema::Program& metadata, const std::vector<uint8_t>& weights, ProgramDescription* out) {
  for (const schema::Layout* layout : *metadata.layouts()) {
    out->layouts.push_back({layout->kind()->str(), read_vector(*layout->n_axes()), read_vector(*layout->k_axes()),
                            layout->groups(), layout->panel()});
  }
  for (const schema::Variable* variable : *metadata.variables()) {
    out->variables.push_back({variable->name()->str(), read_strings(*variable->aliases()),
                              read_dtype(*variable->dtype()), read_vector(*variable->shape()), variable->layout(),
                              variable->role()->str(), variable->trainable(),
                              cut(weights, variable->initial_offset(), variable->byte_size())});
  }
  for (const schema::Constant* constant : *metadata.constants()) {
    out->constants.push_back({cut(weights, constant->offset(), constant->byte_size())});
  }
  for (const schema::Arena* arena : *metadata.arenas()) {
    out->arenas.push_back({arena->device(), arena->byte_size(), arena->alignment()});
  }
}

// Locations are numbers into the debug segment: without it none may be named.
void forget_locations(ProgramDescription* program) {
  for (EntryDescription& entry : program->entries) {
    for (EqualityDescription& equality : entry.equalities) equality.location = 0;
    for (BlockDescription& block : entry.blocks)
      for (InstructionDescription& instruction : block.instructions) instruction.location = 0;
  }
}

// Copies the flatbuffer to an aligned place and verifies its structure.
template <typename Table>
const Table* verified_root(const std::vector<uint8_t>& bytes, const char* identifier, std::vector<uint64_t>* storage) {
  if (bytes.empty() || bytes.size() > kMaximumMetadataBytes) return nullptr;
  storage->resize((bytes.size() + 7) / 8);
  std::memcpy(storage->data(), bytes.data(), bytes.size());
  const uint8_t* aligned = reinterpret_cast<const uint8_t*>(storage->data());
  flatbuffers::Verifier verifier(aligned, bytes.size());
  return verifier.VerifyBuffer<Table>(identifier) ? flatbuffers::GetRoot<Table>(aligned) : nullptr;
}

}  // namespace

bool read_artifact(const uint8_t* bytes, size_t byte_size, ArtifactContents* out_contents, std::string* error) {
  if (!read_directory(bytes, byte_size, out_contents, error)) return false;
  std::vector<uint64_t> storage, debug_storage;
  const auto metadata_bytes = segment_bytes(bytes, *out_contents, SegmentKind::kMetadata, "");
  const auto* metadata = verified_root<schema::Program>(metadata_bytes, schema::ProgramIdentifier(), &storage);
  if (metadata == nullptr) return fail(error, "the metadata is not a well-formed flatbuffer");

  ProgramDescription& program = out_contents->program;
  program = ProgramDescription();
  program.devices.clear();
  program.layouts.clear();
  program.producer = metadata->producer()->str();
  for (const schema::Target* target : *metadata->targets()) {
    program.targets.push_back({target->name()->str(), read_strings(*target->features()),
                               segment_bytes(bytes, *out_contents, SegmentKind::kCode, target->name()->str())});
  }
  for (const schema::Device* device : *metadata->devices()) program.devices.push_back(device->kind()->str());
  read_variables(*metadata, segment_bytes(bytes, *out_contents, SegmentKind::kWeights, ""), &program);
  if (!read_kernels(*metadata, &program, error)) return false;
  for (const schema::Entry* entry : *metadata->entries()) {
    if (!read_entry(*entry, &program.entries.emplace_back(), error)) return false;
  }
  program.scratch_bytes = metadata->scratch_bytes();
  if (const schema::WeightsEncryption* encryption = metadata->weights_encryption()) {
    program.weights_key_name = encryption->key_name()->str();
    program.weights_cipher = encryption->cipher();
  }
  const auto debug_bytes = segment_bytes(bytes, *out_contents, SegmentKind::kDebug, "");
  if (!debug_bytes.empty()) {
    const auto* debug = verified_root<schema::Debug>(debug_bytes, schema::kDebugIdentifier, &debug_storage);
    if (debug == nullptr) return fail(error, "the debug segment is not a well-formed flatbuffer");
    program.locations = read_strings(*debug->locations());
  }
  return true;
}

bool prepare_to_write(const std::string& change, ArtifactContents* contents, std::string* error) {
  if (!contents->program.weights_key_name.empty())
    return fail(error, change + " needs plain weights, and these are encrypted with the key '" +
                           contents->program.weights_key_name + "': do it before you encrypt them");
  for (size_t i = 0; i < contents->directory.size(); ++i) {
    const SegmentEntry& entry = contents->directory[i];
    if (contents->offsets[i] == 0 && entry.kind != static_cast<uint32_t>(SegmentKind::kDebug))
      return fail(error, change + " needs a whole artifact, and this one lacks segment " + std::to_string(i) + " " +
                             std::string(entry.name, strnlen(entry.name, sizeof entry.name)) +
                             ": do it first, drop targets afterwards");
  }
  if (contents->program.locations.empty()) forget_locations(&contents->program);
  return true;
}

}  // namespace ferrule::serialize
