#include <cstdio>

#include "serialize/dump/dump.h"
#include "serialize/dump/facts.h"
#include "serialize/dump/memory.h"
#include "serialize/writer/format_features.h"

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

std::string dim_text(const DimDescription& dim, const std::vector<std::string>& expressions) {
  std::string text = dim.name + " from " + std::to_string(dim.min);
  text += dim.max == std::numeric_limits<int64_t>::max() ? " up" : " to " + std::to_string(dim.max);
  if (dim.multiple_of != 1) text += " in multiples of " + std::to_string(dim.multiple_of);
  if (dim.source == DimSource::kIteration) text += ", of a loop";
  if (dim.source == DimSource::kInstruction) text += ", at most " + text_at(expressions, dim.limit) + ", known late";
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
      if (buffer.block != 0) *out += "of block " + column(std::to_string(buffer.block), 4);
    }
    *out += text_at(expressions, buffer.size) + " bytes  " + dtype_name(buffer.dtype) + " " + buffer.debug_name;
    if (buffer.kind != BufferKind::kUnspecified) *out += std::string(", ") + buffer_kind_name(buffer.kind);
    if (buffer.alias_group != 0) *out += "  (alias group " + std::to_string(buffer.alias_group) + ")";
    *out += "\n";
  }
}

// Instructions, those of the blocks below indented. A malformed artifact can name a block twice: it is shown once.
class InstructionsText {
 public:
  InstructionsText(const ProgramDescription& program, const EntryDescription& entry,
                   const std::vector<std::string>& expressions, std::string* out)
      : program_(program), entry_(entry), expressions_(expressions), out_(out), shown_(entry.blocks.size(), false) {}

  void append_block(uint32_t block, uint32_t depth) {
    if (block >= entry_.blocks.size() || shown_[block] || depth > kMaximumBlockDepth) return;
    shown_[block] = true;
    const size_t indent = 4 + size_t{depth} * 7;
    const std::vector<InstructionDescription>& instructions = entry_.blocks[block].instructions;
    for (size_t i = 0; i < instructions.size(); ++i) {
      const InstructionDescription& instruction = instructions[i];
      *out_ += std::string(indent, ' ') + column(std::to_string(i), 5) + instruction_text(instruction);
      *out_ += costs_text(instruction);
      if (instruction.location != 0) *out_ += "  " + text_at(program_.locations, instruction.location - 1);
      *out_ += "\n";
      for (size_t below = 0; below < instruction.blocks.size(); ++below) {
        *out_ += std::string(indent + 5, ' ') + block_role(instruction.kind, below) + " (block " +
                 std::to_string(instruction.blocks[below]) + ")\n";
        append_block(instruction.blocks[below], depth + 1);
      }
    }
  }

 private:
  using Kind = InstructionDescription::Kind;

  std::string instruction_text(const InstructionDescription& instruction) const {
    const std::string first = instruction.operands.empty() ? "?" : std::to_string(instruction.operands[0].buffer);
    const std::string dim = instruction.dim < entry_.dims.size() ? entry_.dims[instruction.dim].name : "?";
    switch (instruction.kind) {
      case Kind::kKernelCall:
        return (instruction.kernel < program_.kernels.size() ? program_.kernels[instruction.kernel].name : "?") +
               operands_text(instruction, instruction.output_count);
      case Kind::kCopy:
        return "copy" + operands_text(instruction, 1);
      case Kind::kIf:
        return "if " + first;
      case Kind::kWhile:
        return "while " + first;
      case Kind::kLoop:
        return "loop " + dim + " below " + text_at(expressions_, instruction.count);
      case Kind::kBindDim:
        return "bind " + dim + " from " + first;
    }
    return "?";
  }

  std::string costs_text(const InstructionDescription& instruction) const {
    std::string text;
    const auto add = [&](uint32_t cost, const char* unit) {
      if (cost != 0) text += (text.empty() ? "  " : ", ") + cost_text(expressions_, cost) + unit;
    };
    add(instruction.flops, " flops");
    add(instruction.read_bytes, " bytes read");
    add(instruction.written_bytes, " bytes written");
    return text;
  }

  static std::string operands_text(const InstructionDescription& instruction, size_t written) {
    std::string text = "(";
    for (size_t operand = 0; operand < instruction.operands.size(); ++operand) {
      text += operand == 0 ? "" : operand == written ? " <- " : ", ";
      text += std::to_string(instruction.operands[operand].buffer);
    }
    return text + ")";
  }

  const ProgramDescription& program_;
  const EntryDescription& entry_;
  const std::vector<std::string>& expressions_;
  std::string* out_;
  std::vector<bool> shown_;
};

void append_entry(const ProgramDescription& program, const EntryDescription& entry, const DumpOptions& options,
                  std::string* out) {
  const std::vector<std::string> expressions = expression_texts(entry);
  *out += "  " + signature_text(entry, expressions) + "\n";
  for (const DimDescription& dim : entry.dims) *out += "    " + dim_text(dim, expressions) + "\n";
  size_t instruction_count = 0;
  for (const BlockDescription& block : entry.blocks) instruction_count += block.instructions.size();
  *out += "    " + std::to_string(instruction_count) + " instructions; memory: peak " + byte_count(entry.peak_bytes) +
          ", lower bound " + byte_count(entry.lower_bound_bytes) + ", sum of all buffers " +
          byte_count(entry.naive_bytes) + "\n";
  if (!entry.assigned_variables.empty()) {
    *out += "    assigns " + std::to_string(entry.assigned_variables.size()) + " variables\n";
  }
  if (options.memory) append_buffers(entry, expressions, out);
  if (options.instructions) InstructionsText(program, entry, expressions, out).append_block(0, 0);
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

std::string check_runtime(const ArtifactContents& contents, uint32_t version, bool* out_runs) {
  const ArtifactHeader& header = contents.header;
  const std::string artifact = "the artifact (format version " + std::to_string(header.format_version) + ", for readers from version " +
                               std::to_string(header.minimum_reader_version) + ")";
  const std::string runtime = "a runtime of format version " + std::to_string(version);
  *out_runs = version >= header.minimum_reader_version;
  if (*out_runs) return artifact + " runs on " + runtime;
  std::string missing = joined(missing_features(contents.program, version), ", ");
  if (missing.empty()) missing = "version " + std::to_string(header.minimum_reader_version);
  return artifact + " does not run on " + runtime + ", which lacks: " + missing +
         "; take a newer runtime, or compile the model with the Ferrule that the runtime belongs to";
}

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
  if (!program.weights_key_name.empty()) out += "weights encrypted with the key '" + program.weights_key_name + "'\n";
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
