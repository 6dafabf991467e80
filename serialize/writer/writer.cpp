#include "serialize/writer/writer.h"

#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "serialize/schema/program_schema.h"
#include "serialize/schema/sha256.h"
#include "serialize/writer/artifact_layout.h"
#include "serialize/writer/format_features.h"

namespace ferrule::serialize {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The weights segment under construction. What it holds is written when the file's memory is there; the description
// that it was given must live until then.
class WeightsPool {
 public:
  // Each returns the offset of the contents, 64-byte aligned; contents that are already there are used again.
  uint64_t add(const std::vector<uint8_t>& bytes) {
    if (bytes.empty()) return 0;
    std::array<uint8_t, kSha256Bytes> digest;
    sha256(bytes.data(), bytes.size(), digest.data());
    return place(offset_of_bytes_, {digest, bytes.size()}, bytes.size(),
                 [&bytes](uint8_t* at) { std::memcpy(at, bytes.data(), bytes.size()); });
  }
  uint64_t add(const GeneratedBytes& generated) {
    if (generated.size == 0) return 0;
    return place(offset_of_generated_, {generated.identity, generated.size}, generated.size, generated.write);
  }
  uint64_t size() const { return size_; }

  void write(uint8_t* segment) const {
    uint64_t written = 0;
    for (const Part& part : parts_) {
      std::memset(segment + written, 0, part.offset - written);
      part.write(segment + part.offset);
      written = part.offset + part.size;
    }
  }

 private:
  struct Part {
    uint64_t offset, size;
    std::function<void(uint8_t*)> write;
  };

  template <typename Map>
  uint64_t place(Map& offset_of, const typename Map::key_type& key, uint64_t size,
                 std::function<void(uint8_t*)> write) {
    const auto [position, inserted] = offset_of.try_emplace(key, 0);
    if (inserted) {
      position->second = (size_ + kSegmentAlignment - 1) & ~(kSegmentAlignment - 1);
      parts_.push_back({position->second, size, std::move(write)});
      size_ = position->second + size;
    }
    return position->second;
  }

  std::vector<Part> parts_;
  uint64_t size_ = 0;
  std::map<std::pair<std::array<uint8_t, kSha256Bytes>, size_t>, uint64_t> offset_of_bytes_;
  std::map<std::pair<std::array<uint64_t, 2>, uint64_t>, uint64_t> offset_of_generated_;
};

// One of the two forms holds the contents.
uint64_t byte_size(const std::vector<uint8_t>& bytes, const GeneratedBytes& generated) {
  return bytes.empty() ? generated.size : bytes.size();
}
uint64_t add_to(WeightsPool& weights, const std::vector<uint8_t>& bytes, const GeneratedBytes& generated) {
  return bytes.empty() ? weights.add(generated) : weights.add(bytes);
}

schema::DataType make_dtype(const DataTypeDescription& dtype) { return {dtype.code, dtype.bits, dtype.lanes}; }

// A vector of tables, each made by `make(item)`. Tables are finished before the vector starts, as flatbuffers demands.
template <typename Items, typename Make>
auto make_tables(FlatBufferBuilder& builder, const Items& items, Make make) {
  std::vector<decltype(make(*items.begin()))> tables;
  tables.reserve(items.size());
  for (const auto& item : items) tables.push_back(make(item));
  return builder.CreateVector(tables);
}

auto make_strings(FlatBufferBuilder& builder, const std::vector<std::string>& strings) {
  return make_tables(builder, strings, [&](const std::string& text) { return builder.CreateSharedString(text); });
}

auto make_tensor_specs(FlatBufferBuilder& builder, const std::vector<TensorDescription>& specs) {
  return make_tables(builder, specs, [&](const TensorDescription& spec) {
    const auto name = builder.CreateSharedString(spec.name);
    const auto shape = builder.CreateVector(spec.shape);
    const schema::DataType dtype = make_dtype(spec.dtype);
    return schema::CreateTensorSpec(builder, name, &dtype, shape);
  });
}

Offset<schema::Variable> make_variable(FlatBufferBuilder& builder, const VariableDescription& variable,
                                       uint64_t initial_offset) {
  const auto name = builder.CreateSharedString(variable.name);
  const auto aliases = make_strings(builder, variable.aliases);
  const auto shape = builder.CreateVector(variable.shape);
  const auto role = builder.CreateSharedString(variable.role);
  const schema::DataType dtype = make_dtype(variable.dtype);
  return schema::CreateVariable(builder, name, aliases, &dtype, shape, variable.layout, role, variable.trainable,
                                byte_size(variable.initial_value, variable.generated_value), initial_offset);
}

Offset<schema::Buffer> make_buffer(FlatBufferBuilder& builder, const BufferDescription& buffer) {
  const auto name = builder.CreateSharedString(buffer.debug_name);
  const schema::DataType dtype = make_dtype(buffer.dtype);
  return schema::CreateBuffer(builder, static_cast<schema::Storage>(buffer.storage), buffer.index, buffer.offset,
                              buffer.size, buffer.planned_size, buffer.begin, buffer.end, buffer.alias_group, name,
                              buffer.block, static_cast<schema::BufferKind>(buffer.kind), &dtype);
}

// What a malformed description lacks becomes number 0, which the verifier refuses if it matters.
schema::Operand operand_at(const InstructionDescription& instruction, size_t index) {
  if (index >= instruction.operands.size()) return {0, 0};
  return {instruction.operands[index].buffer, instruction.operands[index].offset};
}
uint32_t block_at(const InstructionDescription& instruction, size_t index) {
  return index < instruction.blocks.size() ? instruction.blocks[index] : 0;
}

Offset<schema::InstructionNode> make_kernel_call(FlatBufferBuilder& builder,
                                                 const InstructionDescription& instruction) {
  std::vector<schema::Operand> operands;
  for (const OperandDescription& operand : instruction.operands) operands.emplace_back(operand.buffer, operand.offset);
  const auto operand_vector = builder.CreateVectorOfStructs(operands);
  const auto dims = builder.CreateVector(instruction.dims);
  const auto params = builder.CreateVector(instruction.params);
  const auto output_sizes = builder.CreateVector(instruction.output_sizes);
  const auto call =
      schema::CreateKernelCall(builder, instruction.kernel, operand_vector, instruction.output_count, dims,
                               instruction.tiles, instruction.device, params, instruction.location, instruction.flops,
                               instruction.read_bytes, instruction.written_bytes, output_sizes);
  return schema::CreateInstructionNode(builder, schema::Instruction_KernelCall, call.Union());
}

Offset<schema::InstructionNode> make_instruction(FlatBufferBuilder& builder,
                                                 const InstructionDescription& instruction) {
  using Kind = InstructionDescription::Kind;
  const schema::Operand first = operand_at(instruction, 0), second = operand_at(instruction, 1);
  const auto node = [&](schema::Instruction kind, Offset<void> table) {
    return schema::CreateInstructionNode(builder, kind, table);
  };
  switch (instruction.kind) {
    case Kind::kKernelCall:
      return make_kernel_call(builder, instruction);
    case Kind::kCopy:
      return node(schema::Instruction_Copy, schema::CreateCopy(builder, &first, &second, instruction.byte_size,
                                                               instruction.device, instruction.location)
                                                .Union());
    case Kind::kIf:
      return node(schema::Instruction_If, schema::CreateIf(builder, &first, block_at(instruction, 0),
                                                           block_at(instruction, 1), instruction.location)
                                              .Union());
    case Kind::kWhile:
      return node(schema::Instruction_While, schema::CreateWhile(builder, &first, block_at(instruction, 0),
                                                                 block_at(instruction, 1), instruction.location)
                                                 .Union());
    case Kind::kLoop:
      return node(schema::Instruction_Loop, schema::CreateLoop(builder, instruction.count, instruction.dim,
                                                               block_at(instruction, 0), instruction.location)
                                                .Union());
    case Kind::kBindDim:
      return node(schema::Instruction_BindDim,
                  schema::CreateBindDim(builder, instruction.dim, &first, instruction.location).Union());
  }
  return node(schema::Instruction_NONE, Offset<void>());
}

Offset<schema::Entry> make_entry(FlatBufferBuilder& builder, const EntryDescription& entry) {
  const auto name = builder.CreateSharedString(entry.name);
  const auto inputs = make_tensor_specs(builder, entry.inputs);
  const auto outputs = make_tensor_specs(builder, entry.outputs);
  const auto dims = make_tables(builder, entry.dims, [&](const DimDescription& dim) {
    return schema::CreateDim(builder, builder.CreateSharedString(dim.name), dim.min, dim.max, dim.multiple_of,
                             static_cast<schema::DimSource>(dim.source), dim.limit);
  });
  std::vector<schema::Expression> nodes;
  for (const ExpressionDescription& node : entry.expressions) {
    nodes.emplace_back(static_cast<schema::ExpressionKind>(node.kind), node.left, node.right, 0, node.value);
  }
  const auto expressions = builder.CreateVectorOfStructs(nodes);
  const auto equalities = make_tables(builder, entry.equalities, [&](const EqualityDescription& equality) {
    return schema::CreateEquality(builder, equality.left, equality.right, equality.location);
  });
  const auto buffers = make_tables(builder, entry.buffers,
                                   [&](const BufferDescription& buffer) { return make_buffer(builder, buffer); });
  const auto blocks = make_tables(builder, entry.blocks, [&](const BlockDescription& block) {
    return schema::CreateBlock(builder,
                               make_tables(builder, block.instructions, [&](const InstructionDescription& instruction) {
                                 return make_instruction(builder, instruction);
                               }));
  });
  const auto assigned = builder.CreateVector(entry.assigned_variables);
  const auto signature = builder.CreateString(entry.signature);
  return schema::CreateEntry(builder, name, inputs, outputs, dims, expressions, equalities, buffers, blocks, assigned,
                             entry.peak_bytes, entry.lower_bound_bytes, entry.naive_bytes, signature);
}

Offset<schema::Kernel> make_kernel(FlatBufferBuilder& builder, const KernelDescription& kernel) {
  const auto name = builder.CreateSharedString(kernel.name);
  if (!kernel.symbol.empty()) {
    const auto external =
        schema::CreateExternalFunction(builder, builder.CreateSharedString(kernel.symbol), kernel.scratch_bytes);
    return schema::CreateKernel(builder, name, kernel.operand_count, kernel.output_count, kernel.dim_count,
                                schema::KernelImplementation_ExternalFunction, external.Union());
  }
  const auto offsets = builder.CreateVector(kernel.offsets);
  const auto function = schema::CreateCpuFunction(builder, offsets, kernel.scratch_bytes);
  return schema::CreateKernel(builder, name, kernel.operand_count, kernel.output_count, kernel.dim_count,
                              schema::KernelImplementation_CpuFunction, function.Union());
}

std::vector<uint8_t> make_metadata(const ProgramDescription& program, WeightsPool& weights) {
  FlatBufferBuilder builder(64 * 1024);
  builder.ForceDefaults(false);
  const auto producer = builder.CreateSharedString(program.producer);
  const auto targets = make_tables(builder, program.targets, [&](const TargetDescription& target) {
    const auto name = builder.CreateSharedString(target.name);
    return schema::CreateTarget(builder, name, make_strings(builder, target.features));
  });
  const auto devices = make_tables(builder, program.devices, [&](const std::string& kind) {
    return schema::CreateDevice(builder, builder.CreateSharedString(kind));
  });
  const auto layouts = make_tables(builder, program.layouts, [&](const LayoutDescription& layout) {
    const auto kind = builder.CreateSharedString(layout.kind);
    const auto n_axes = builder.CreateVector(layout.n_axes);
    const auto k_axes = builder.CreateVector(layout.k_axes);
    return schema::CreateLayout(builder, kind, n_axes, k_axes, layout.groups, layout.panel);
  });
  const auto variables = make_tables(builder, program.variables, [&](const VariableDescription& variable) {
    return make_variable(builder, variable, add_to(weights, variable.initial_value, variable.generated_value));
  });
  const auto constants = make_tables(builder, program.constants, [&](const ConstantDescription& constant) {
    return schema::CreateConstant(builder, byte_size(constant.bytes, constant.generated),
                                  add_to(weights, constant.bytes, constant.generated));
  });
  const auto arenas = make_tables(builder, program.arenas, [&](const ArenaDescription& arena) {
    return schema::CreateArena(builder, arena.device, arena.byte_size, arena.alignment);
  });
  const auto kernels = make_tables(builder, program.kernels,
                                   [&](const KernelDescription& kernel) { return make_kernel(builder, kernel); });
  const auto entries =
      make_tables(builder, program.entries, [&](const EntryDescription& entry) { return make_entry(builder, entry); });
  Offset<schema::WeightsEncryption> encryption;
  if (!program.weights_key_name.empty())
    encryption = schema::CreateWeightsEncryption(builder, static_cast<schema::WeightsCipher>(program.weights_cipher),
                                                 builder.CreateSharedString(program.weights_key_name));
  schema::FinishProgramBuffer(
      builder, schema::CreateProgram(builder, producer, targets, devices, layouts, variables, constants, arenas,
                                     kernels, entries, program.scratch_bytes, encryption));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> make_debug(const std::vector<std::string>& locations) {
  FlatBufferBuilder builder;
  builder.Finish(schema::CreateDebug(builder, make_strings(builder, locations)), schema::kDebugIdentifier);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

// A segment whose bytes are there.
Segment make_segment(SegmentKind kind, std::string name, const std::vector<uint8_t>& bytes) {
  return {kind, std::move(name), kSegmentAlignment, bytes.size(), [&bytes](uint8_t* at) {
            if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
          }};
}

// The segment of the weights, which must outlive it, encrypted if the program names a key.
Segment make_weights_segment(const ProgramDescription& program, const WeightsPool& weights,
                             const EncryptWeights& encrypt) {
  Segment segment{SegmentKind::kWeights, "", kSegmentAlignment, weights.size(),
                  [&weights](uint8_t* at) { weights.write(at); }};
  if (program.weights_key_name.empty()) return segment;
  const uint64_t byte_size = weights.size();
  segment.size += kWeightsSealBytes;
  segment.seal = [&encrypt, byte_size](uint8_t* at, const uint8_t* associated, uint64_t associated_byte_size) {
    uint8_t* tag = at + byte_size;
    return encrypt(at, byte_size, associated, associated_byte_size, tag, tag + kWeightsTagBytes);
  };
  return segment;
}

// Whether there are weights that a key may encrypt; else *error says why not.
bool check_encryption(const ProgramDescription& program, uint64_t weights_byte_size, const EncryptWeights& encrypt,
                      std::string* error) {
  if (program.weights_key_name.empty()) return true;
  if (encrypt == nullptr) {
    *error = "the weights are encrypted with the key '" + program.weights_key_name +
             "': without it the artifact cannot be written again";
  } else if (weights_byte_size == 0) {
    *error = "there are no weights to encrypt";
  } else if (weights_byte_size > kMaximumEncryptedBytes) {
    *error = "weights of " + std::to_string(weights_byte_size) + " bytes cannot be encrypted: the most is " +
             std::to_string(kMaximumEncryptedBytes);
  } else {
    return true;
  }
  return false;
}

// Whether the targets fit the format; else *error says which does not.
bool check_targets(const ProgramDescription& program, std::string* error) {
  const size_t segment_count = program.targets.size() + 3;
  if (segment_count > kMaximumSegments) {
    *error = "an artifact holds at most " + std::to_string(kMaximumSegments - 3) + " targets, not " +
             std::to_string(program.targets.size());
    return false;
  }
  for (const TargetDescription& target : program.targets) {
    if (target.name.empty() || target.name.size() >= sizeof(SegmentEntry::name)) {
      *error = "target name '" + target.name + "' must have 1 to " + std::to_string(sizeof(SegmentEntry::name) - 1) +
               " bytes";
      return false;
    }
  }
  return true;
}

}  // namespace

bool write_program(const ProgramDescription& program, const AllocateArtifact& allocate, std::string* error,
                   const EncryptWeights& encrypt) {
  if (!check_targets(program, error)) return false;
  WeightsPool weights;
  const std::vector<uint8_t> metadata = make_metadata(program, weights);
  if (metadata.size() > kMaximumMetadataBytes) {
    *error = "the program's metadata takes " + std::to_string(metadata.size()) + " bytes; the limit is " +
             std::to_string(kMaximumMetadataBytes);
    return false;
  }
  if (!check_encryption(program, weights.size(), encrypt, error)) return false;
  std::vector<Segment> segments;
  segments.push_back(make_segment(SegmentKind::kMetadata, "", metadata));
  for (const TargetDescription& target : program.targets) {
    segments.push_back(make_segment(SegmentKind::kCode, target.name, target.code));
  }
  std::vector<uint8_t> debug;
  if (!program.locations.empty()) {
    debug = make_debug(program.locations);
    segments.push_back(make_segment(SegmentKind::kDebug, "", debug));
  }
  if (weights.size() != 0) segments.push_back(make_weights_segment(program, weights, encrypt));
  if (frame_artifact(segments, allocate, minimum_reader_version(program))) return true;
  *error = program.weights_key_name.empty() ? "no memory for the artifact's bytes"
                                            : "no memory for the artifact's bytes, or its weights were not encrypted";
  return false;
}

std::vector<uint8_t> write_program(const ProgramDescription& program, std::string* error) {
  std::vector<uint8_t> artifact;
  const auto allocate = [&](uint64_t byte_size) {
    artifact.resize(byte_size);
    return artifact.data();
  };
  if (!write_program(program, allocate, error)) artifact.clear();
  return artifact;
}

}  // namespace ferrule::serialize
