// Makes the entries of the test program by hand.
#ifndef FERRULE_RUNTIME_TESTING_ENTRY_BUILDER_H_
#define FERRULE_RUNTIME_TESTING_ENTRY_BUILDER_H_

#include <utility>

#include "runtime/testing/test_program.h"

namespace ferrule::runtime::testing {

using serialize::BufferDescription;
using serialize::DataTypeDescription;
using serialize::EntryDescription;
using serialize::ExpressionKind;
using serialize::InstructionDescription;
using serialize::OperandDescription;
using serialize::Storage;

inline constexpr int64_t kColumns = 4;
inline constexpr int64_t kMaxBatch = 8;
inline constexpr DataTypeDescription kFloat32{2, 32, 1};
inline constexpr DataTypeDescription kInt32{0, 32, 1};

// Expressions and buffers of one entry, added as they are needed.
struct EntryBuilder {
  EntryDescription entry;

  explicit EntryBuilder(const char* name) {
    entry.name = name;
    entry.blocks.emplace_back();
    entry.signature = "{}";
  }

  uint32_t constant(int64_t value) {
    entry.expressions.push_back({ExpressionKind::kConstant, 0, 0, value});
    return static_cast<uint32_t>(entry.expressions.size() - 1);
  }
  uint32_t dim(const char* name, int64_t max = kMaxBatch) { return dim({name, 1, max, 1}); }
  uint32_t dim(const serialize::DimDescription& dim) {
    entry.dims.push_back(dim);
    entry.expressions.push_back({ExpressionKind::kDim, 0, 0, static_cast<int64_t>(entry.dims.size() - 1)});
    return static_cast<uint32_t>(entry.expressions.size() - 1);
  }
  uint32_t node(ExpressionKind kind, uint32_t left, uint32_t right) {
    entry.expressions.push_back({kind, left, right, 0});
    return static_cast<uint32_t>(entry.expressions.size() - 1);
  }
  uint32_t times(uint32_t left, int64_t factor) {
    const uint32_t right = constant(factor);
    return node(ExpressionKind::kMultiply, left, right);
  }

  uint32_t buffer(Storage storage, uint32_t index, uint32_t size, uint64_t planned_size) {
    BufferDescription buffer;
    buffer.storage = storage;
    buffer.index = index;
    buffer.size = size;
    buffer.planned_size = planned_size;
    entry.buffers.push_back(buffer);
    return static_cast<uint32_t>(entry.buffers.size() - 1);
  }
  // Says what a buffer holds.
  uint32_t named(uint32_t number, const char* name, DataTypeDescription dtype) {
    entry.buffers[number].debug_name = name;
    entry.buffers[number].dtype = dtype;
    return number;
  }
  uint32_t rows_input(const char* name, uint32_t batch) {
    entry.inputs.push_back({name, kFloat32, {batch, constant(kColumns)}});
    return named(buffer(Storage::kInput, static_cast<uint32_t>(entry.inputs.size() - 1), times(batch, 4 * kColumns),
                        4 * kColumns * kMaxBatch),
                 name, kFloat32);
  }
  uint32_t column_input(const char* name, uint32_t batch) {
    entry.inputs.push_back({name, kInt32, {batch}});
    return named(buffer(Storage::kInput, static_cast<uint32_t>(entry.inputs.size() - 1), times(batch, 4), 4 * kMaxBatch),
                 name, kInt32);
  }
  uint32_t output(const char* name, DataTypeDescription dtype, std::vector<uint32_t> shape, uint32_t size,
                  uint64_t planned_size) {
    entry.outputs.push_back({name, dtype, std::move(shape)});
    return named(buffer(Storage::kOutput, static_cast<uint32_t>(entry.outputs.size() - 1), size, planned_size), name,
                 dtype);
  }
  uint32_t variable(uint32_t index, uint64_t byte_size) {
    return named(buffer(Storage::kVariable, index, constant(static_cast<int64_t>(byte_size)), byte_size), "variable",
                 kFloat32);
  }

  // An arena buffer of `block`.
  uint32_t arena(uint32_t size, uint64_t planned_size, uint64_t offset, uint32_t begin, uint32_t end,
                 uint32_t block = 0) {
    const uint32_t number = buffer(Storage::kArena, 0, size, planned_size);
    BufferDescription& description = entry.buffers[number];
    description.offset = offset;
    description.begin = begin;
    description.end = end;
    description.block = block;
    return number;
  }

  // Instructions are added to block `current`.
  uint32_t current = 0;

  uint32_t block() {
    entry.blocks.emplace_back();
    return static_cast<uint32_t>(entry.blocks.size() - 1);
  }
  InstructionDescription& add(InstructionDescription::Kind kind) {
    InstructionDescription& instruction = entry.blocks[current].instructions.emplace_back();
    instruction.kind = kind;
    return instruction;
  }
  void copy(OperandDescription target, OperandDescription source, uint32_t byte_size) {
    InstructionDescription& instruction = add(InstructionDescription::Kind::kCopy);
    instruction.operands = {target, source};
    instruction.byte_size = byte_size;
  }
  void bind(uint32_t dim, OperandDescription value) {
    InstructionDescription& instruction = add(InstructionDescription::Kind::kBindDim);
    instruction.dim = static_cast<uint32_t>(entry.expressions[dim].value);
    instruction.operands = {value};
    instruction.location = 1;
  }
  // Returns the body, in which instructions are added from here on. `dim`: the node of an iteration dim.
  uint32_t loop(uint32_t count, uint32_t dim) {
    const uint32_t body = block();
    InstructionDescription& instruction = add(InstructionDescription::Kind::kLoop);
    instruction.count = count;
    instruction.dim = static_cast<uint32_t>(entry.expressions[dim].value);
    instruction.blocks = {body};
    instruction.location = 1;
    return current = body;
  }
  uint32_t iteration(const char* name, int64_t max) { return dim({name, 0, max, 1, serialize::DimSource::kIteration}); }

  InstructionDescription& call(TestKernel kernel, std::vector<uint32_t> buffers, uint32_t batch, uint32_t tiles) {
    InstructionDescription instruction;
    instruction.kernel = static_cast<uint32_t>(kernel);
    const uint32_t zero = constant(0);
    for (const uint32_t buffer : buffers) instruction.operands.push_back({buffer, zero});
    instruction.output_count = 1;
    instruction.dims = {batch};
    instruction.tiles = tiles;
    entry.blocks[current].instructions.push_back(instruction);
    return entry.blocks[current].instructions.back();
  }
};

// test_control_flow.cpp
void add_control_flow_entries(serialize::ProgramDescription& program);

}  // namespace ferrule::runtime::testing

#endif  // FERRULE_RUNTIME_TESTING_ENTRY_BUILDER_H_
