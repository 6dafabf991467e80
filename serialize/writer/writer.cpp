#include "serialize/writer/writer.h"

#include <array>
#include <map>
#include <utility>

#include "serialize/schema/program_schema.h"
#include "serialize/schema/sha256.h"
#include "serialize/writer/artifact_layout.h"

namespace ferrule::serialize {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The weights segment under construction.
class WeightsPool {
 public:
  // Returns the offset of `bytes`, 64-byte aligned; contents that are already there are used again.
  uint64_t add(const std::vector<uint8_t>& bytes) {
    if (bytes.empty()) return 0;
    std::array<uint8_t, kSha256Bytes> digest;
    sha256(bytes.data(), bytes.size(), digest.data());
    const auto [position, inserted] = offset_of_.try_emplace({digest, bytes.size()}, 0);
    if (inserted) {
      pool_.resize((pool_.size() + kSegmentAlignment - 1) & ~(kSegmentAlignment - 1), 0);
      position->second = pool_.size();
      pool_.insert(pool_.end(), bytes.begin(), bytes.end());
    }
    return position->second;
  }
  std::vector<uint8_t> take() { return std::move(pool_); }

 private:
  std::vector<uint8_t> pool_;
  std::map<std::pair<std::array<uint8_t, kSha256Bytes>, size_t>, uint64_t> offset_of_;
};

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
                                variable.initial_value.size(), initial_offset);
}

Offset<schema::Buffer> make_buffer(FlatBufferBuilder& builder, const BufferDescription& buffer) {
  const auto name = builder.CreateSharedString(buffer.debug_name);
  return schema::CreateBuffer(builder, static_cast<schema::Storage>(buffer.storage), buffer.index, buffer.offset,
                              buffer.size, buffer.planned_size, buffer.begin, buffer.end, buffer.alias_group, name,
                              buffer.block);
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
  const auto call = schema::CreateKernelCall(builder, instruction.kernel, operand_vector, instruction.output_count,
                                             dims, instruction.tiles, instruction.device, params, instruction.location);
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
    return make_variable(builder, variable, weights.add(variable.initial_value));
  });
  const auto constants = make_tables(builder, program.constants, [&](const ConstantDescription& constant) {
    return schema::CreateConstant(builder, constant.bytes.size(), weights.add(constant.bytes));
  });
  const auto arenas = make_tables(builder, program.arenas, [&](const ArenaDescription& arena) {
    return schema::CreateArena(builder, arena.device, arena.byte_size, arena.alignment);
  });
  const auto kernels = make_tables(builder, program.kernels,
                                   [&](const KernelDescription& kernel) { return make_kernel(builder, kernel); });
  const auto entries =
      make_tables(builder, program.entries, [&](const EntryDescription& entry) { return make_entry(builder, entry); });
  schema::FinishProgramBuffer(
      builder, schema::CreateProgram(builder, producer, targets, devices, layouts, variables, constants, arenas,
                                     kernels, entries, program.scratch_bytes));
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

std::vector<uint8_t> make_debug(const std::vector<std::string>& locations) {
  FlatBufferBuilder builder;
  builder.Finish(schema::CreateDebug(builder, make_strings(builder, locations)), schema::kDebugIdentifier);
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

std::vector<uint8_t> write_program(const ProgramDescription& program, std::string* error) {
  const size_t segment_count = program.targets.size() + 3;
  if (segment_count > kMaximumSegments) {
    *error = "an artifact holds at most " + std::to_string(kMaximumSegments - 3) + " targets, not " +
             std::to_string(program.targets.size());
    return {};
  }
  for (const TargetDescription& target : program.targets) {
    if (target.name.empty() || target.name.size() >= sizeof(SegmentEntry::name)) {
      *error = "target name '" + target.name + "' must have 1 to " + std::to_string(sizeof(SegmentEntry::name) - 1) +
               " bytes";
      return {};
    }
  }
  WeightsPool weights;
  std::vector<Segment> segments;
  segments.push_back({SegmentKind::kMetadata, "", kSegmentAlignment, make_metadata(program, weights)});
  if (segments[0].bytes.size() > kMaximumMetadataBytes) {
    *error = "the program's metadata takes " + std::to_string(segments[0].bytes.size()) + " bytes; the limit is " +
             std::to_string(kMaximumMetadataBytes);
    return {};
  }
  for (const TargetDescription& target : program.targets) {
    segments.push_back({SegmentKind::kCode, target.name, kSegmentAlignment, target.code});
  }
  if (!program.locations.empty()) {
    segments.push_back({SegmentKind::kDebug, "", kSegmentAlignment, make_debug(program.locations)});
  }
  std::vector<uint8_t> pool = weights.take();
  if (!pool.empty()) segments.push_back({SegmentKind::kWeights, "", kWeightsAlignment, std::move(pool)});
  return frame_artifact(segments);
}

}  // namespace ferrule::serialize
