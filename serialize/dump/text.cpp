#include <cstdio>

#include "serialize/dump/dump.h"
#include "serialize/dump/facts.h"

namespace ferrule::serialize {
namespace {

std::string byte_count(uint64_t bytes) {
  char text[64];
  if (bytes < 10000) {
    std::snprintf(text, sizeof text, "%llu B", static_cast<unsigned long long>(bytes));
  } else if (bytes < 10000000) {
    std::snprintf(text, sizeof text, "%.1f KB", static_cast<double>(bytes) / 1e3);
  } else {
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  }
  return text;
}

// Pads to a column; at least one blank.
std::string column(std::string text, size_t width) {
  text.resize(text.size() + 1 > width ? text.size() + 1 : width, ' ');
  return text;
}

std::string joined(const std::vector<std::string>& texts, const char* separator) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : separator) + text;
  return result;
}

std::string tensor_text(const TensorDescription& tensor, const std::vector<std::string>& expressions) {
  std::vector<std::string> dims;
  for (uint32_t expression : tensor.shape) dims.push_back(text_at(expressions, expression));
  return tensor.name + ": " + dtype_name(tensor.dtype) + "[" + joined(dims, ", ") + "]";
}

std::string signature_text(const EntryDescription& entry, const std::vector<std::string>& expressions) {
  std::vector<std::string> inputs, outputs;
  for (const TensorDescription& input : entry.inputs) inputs.push_back(tensor_text(input, expressions));
  for (const TensorDescription& output : entry.outputs) outputs.push_back(tensor_text(output, expressions));
  return entry.name + "(" + joined(inputs, ", ") + ") -> (" + joined(outputs, ", ") + ")";
}

std::string dim_text(const DimDescription& dim) {
  std::string text = dim.name + " from " + std::to_string(dim.min);
  text += dim.max == std::numeric_limits<int64_t>::max() ? " up" : " to " + std::to_string(dim.max);
  if (dim.multiple_of != 1) text += " in multiples of " + std::to_string(dim.multiple_of);
  return text;
}

void append_buffers(const EntryDescription& entry, const std::vector<std::string>& expressions, std::string* out) {
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const BufferDescription& buffer = entry.buffers[i];
    *out += "    buffer " + column(std::to_string(i), 5) + column(storage_name(buffer.storage), 9) +
            column(std::to_string(buffer.index), 4);
    if (buffer.storage == Storage::kArena) {
      *out += "bytes " +
              column(std::to_string(buffer.offset) + " to " + std::to_string(buffer.offset + buffer.planned_size), 22) +
              "live " + column(std::to_string(buffer.begin) + " to " + std::to_string(buffer.end), 12);
    }
    *out += text_at(expressions, buffer.size) + " bytes  " + buffer.debug_name;
    if (buffer.alias_group != 0) *out += "  (alias group " + std::to_string(buffer.alias_group) + ")";
    *out += "\n";
  }
}

void append_instructions(const ProgramDescription& program, const EntryDescription& entry, std::string* out) {
  for (const BlockDescription& block : entry.blocks) {
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      const InstructionDescription& instruction = block.instructions[i];
      const bool is_copy = instruction.kind == InstructionDescription::Kind::kCopy;
      std::string name = is_copy ? "copy" : "?";
      if (!is_copy && instruction.kernel < program.kernels.size()) name = program.kernels[instruction.kernel].name;
      *out += "    " + column(std::to_string(i), 5) + name + "(";
      for (size_t operand = 0; operand < instruction.operands.size(); ++operand) {
        const size_t written = is_copy ? 1 : instruction.output_count;
        *out += operand == 0 ? "" : operand == written ? " <- " : ", ";
        *out += std::to_string(instruction.operands[operand].buffer);
      }
      *out += ")";
      if (instruction.location != 0) *out += "  " + text_at(program.locations, instruction.location - 1);
      *out += "\n";
    }
  }
}

void append_entry(const ProgramDescription& program, const EntryDescription& entry, const DumpOptions& options,
                  std::string* out) {
  const std::vector<std::string> expressions = expression_texts(entry);
  *out += "  " + signature_text(entry, expressions) + "\n";
  for (const DimDescription& dim : entry.dims) *out += "    " + dim_text(dim) + "\n";
  size_t instruction_count = 0;
  for (const BlockDescription& block : entry.blocks) instruction_count += block.instructions.size();
  *out += "    " + std::to_string(instruction_count) + " instructions; memory: peak " + byte_count(entry.peak_bytes) +
          ", lower bound " + byte_count(entry.lower_bound_bytes) + ", sum of all buffers " +
          byte_count(entry.naive_bytes) + "\n";
  if (!entry.assigned_variables.empty()) {
    *out += "    assigns " + std::to_string(entry.assigned_variables.size()) + " variables\n";
  }
  if (options.memory) append_buffers(entry, expressions, out);
  if (options.instructions) append_instructions(program, entry, out);
}

void append_variables(const ProgramDescription& program, std::string* out) {
  *out += "variables\n";
  for (const VariableDescription& variable : program.variables) {
    std::vector<std::string> dims;
    for (int64_t dim : variable.shape) dims.push_back(std::to_string(dim));
    *out += "  " + column(variable.name, 36) + column(dtype_name(variable.dtype) + "[" + joined(dims, ", ") + "]", 26) +
            column(variable.role, 16) + byte_count(variable.initial_value.size());
    if (variable.layout < program.layouts.size() && program.layouts[variable.layout].kind != "row_major") {
      *out += ", " + program.layouts[variable.layout].kind;
    }
    if (!variable.trainable && variable.role == "parameter") *out += ", frozen";
    if (!variable.aliases.empty()) *out += ", also " + joined(variable.aliases, ", ");
    *out += "\n";
  }
}

}  // namespace

std::string dump_text(const ArtifactContents& contents, const DumpOptions& options) {
  const ProgramDescription& program = contents.program;
  std::string out = "Ferrule artifact, format version " + std::to_string(contents.header.format_version) + ", " +
                    byte_count(contents.header.total_size) + ", made by " + program.producer + "\nroot hash " +
                    hex_digest(contents.header.root_hash) + "\nsegments\n";
  for (size_t i = 0; i < contents.directory.size(); ++i) {
    const SegmentEntry& entry = contents.directory[i];
    out += "  " + column(std::string(segment_kind_name(entry.kind)) + " " + segment_name(entry), 24) +
           byte_count(entry.size) + (contents.offsets[i] == 0 ? ", absent" : "") + "\n";
  }
  out += "entries\n";
  for (const EntryDescription& entry : program.entries) append_entry(program, entry, options, &out);
  uint64_t arena_bytes = 0;
  for (const ArenaDescription& arena : program.arenas) arena_bytes += arena.byte_size;
  out += "memory of a session: arena " + byte_count(arena_bytes) + ", and " + byte_count(program.scratch_bytes) +
         " of scratch a thread\n";
  append_variables(program, &out);
  out += "kernels: " + std::to_string(program.kernels.size()) + "\n";
  return out;
}

}  // namespace ferrule::serialize
