#include <cstdio>

#include "serialize/dump/dump.h"
#include "serialize/dump/facts.h"

namespace ferrule::serialize {
namespace {

// Writes JSON in order: begin/end an object or array, name members, put values. Commas are its own business.
class JsonWriter {
 public:
  void begin(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
  }
  void end(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  void key(const char* name) {
    put(std::string(name));
    text_ += ": ";
    first_ = true;
  }
  void put(const std::string& value) {
    separate();
    text_ += '"';
    for (const char c : value) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
        text_ += c;
      } else if (static_cast<unsigned char>(c) < 0x20) {
        char escape[8];
        std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(static_cast<unsigned char>(c)));
        text_ += escape;
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }
  void put_number(int64_t value) { put_raw(std::to_string(value)); }
  void put_unsigned(uint64_t value) { put_raw(std::to_string(value)); }
  void put_bool(bool value) { put_raw(value ? "true" : "false"); }

  void member(const char* name, const std::string& value) {
    key(name);
    put(value);
  }
  void member_unsigned(const char* name, uint64_t value) {
    key(name);
    put_unsigned(value);
  }
  void member_bool(const char* name, bool value) {
    key(name);
    put_bool(value);
  }
  // One element of `items` each: put_item(item).
  template <typename Items, typename PutItem>
  void member_array(const char* name, const Items& items, PutItem put_item) {
    key(name);
    begin('[');
    for (const auto& item : items) put_item(item);
    end(']');
  }
  std::string take() { return std::move(text_); }

 private:
  void put_raw(const std::string& text) {
    separate();
    text_ += text;
  }
  void separate() {
    if (!first_) text_ += ", ";
    first_ = false;
  }
  std::string text_;
  bool first_ = true;
};

// A constant dim is a number, any other its text.
void put_dim(JsonWriter& json, const EntryDescription& entry, const std::vector<std::string>& texts, uint32_t index) {
  if (index < entry.expressions.size() && entry.expressions[index].kind == ExpressionKind::kConstant) {
    json.put_number(entry.expressions[index].value);
  } else {
    json.put(text_at(texts, index));
  }
}

void put_tensors(JsonWriter& json, const char* name, const EntryDescription& entry,
                 const std::vector<TensorDescription>& tensors, const std::vector<std::string>& texts) {
  json.member_array(name, tensors, [&](const TensorDescription& tensor) {
    json.begin('{');
    json.member("name", tensor.name);
    json.member("dtype", dtype_name(tensor.dtype));
    json.member_array("shape", tensor.shape, [&](uint32_t index) { put_dim(json, entry, texts, index); });
    json.end('}');
  });
}

void put_buffers(JsonWriter& json, const EntryDescription& entry, const std::vector<std::string>& texts) {
  json.member_array("buffers", entry.buffers, [&](const BufferDescription& buffer) {
    json.begin('{');
    json.member("name", buffer.debug_name);
    json.member("storage", storage_name(buffer.storage));
    json.member_unsigned("index", buffer.index);
    json.member_unsigned("offset", buffer.offset);
    json.member("size", text_at(texts, buffer.size));
    json.member_unsigned("planned_bytes", buffer.planned_size);
    json.member_unsigned("begin", buffer.begin);
    json.member_unsigned("end", buffer.end);
    json.member_unsigned("alias_group", buffer.alias_group);
    json.end('}');
  });
}

void put_instructions(JsonWriter& json, const ProgramDescription& program, const EntryDescription& entry) {
  json.key("instructions");
  json.begin('[');
  for (const BlockDescription& block : entry.blocks) {
    for (const InstructionDescription& instruction : block.instructions) {
      const bool is_copy = instruction.kind == InstructionDescription::Kind::kCopy;
      json.begin('{');
      json.member("kind", is_copy ? "copy" : "kernel_call");
      if (!is_copy) {
        json.member("kernel",
                    instruction.kernel < program.kernels.size() ? program.kernels[instruction.kernel].name : "?");
      }
      json.member_array("operands", instruction.operands,
                        [&](const OperandDescription& operand) { json.put_unsigned(operand.buffer); });
      json.member_unsigned("outputs", is_copy ? 1 : instruction.output_count);
      json.member("location", instruction.location == 0 ? "" : text_at(program.locations, instruction.location - 1));
      json.end('}');
    }
  }
  json.end(']');
}

void put_entry(JsonWriter& json, const ProgramDescription& program, const EntryDescription& entry,
               const DumpOptions& options) {
  const std::vector<std::string> texts = expression_texts(entry);
  json.begin('{');
  json.member("name", entry.name);
  put_tensors(json, "inputs", entry, entry.inputs, texts);
  put_tensors(json, "outputs", entry, entry.outputs, texts);
  json.member_array("dims", entry.dims, [&](const DimDescription& dim) {
    json.begin('{');
    json.member("name", dim.name);
    json.key("min");
    json.put_number(dim.min);
    if (dim.max != std::numeric_limits<int64_t>::max()) {
      json.key("max");
      json.put_number(dim.max);
    }
    json.key("multiple_of");
    json.put_number(dim.multiple_of);
    json.end('}');
  });
  json.member_array("assigns", entry.assigned_variables, [&](uint32_t variable) {
    json.put(variable < program.variables.size() ? program.variables[variable].name : "?");
  });
  json.member_unsigned("peak_bytes", entry.peak_bytes);
  json.member_unsigned("lower_bound_bytes", entry.lower_bound_bytes);
  json.member_unsigned("naive_bytes", entry.naive_bytes);
  if (options.memory) put_buffers(json, entry, texts);
  if (options.instructions) put_instructions(json, program, entry);
  json.end('}');
}

void put_variable(JsonWriter& json, const ProgramDescription& program, const VariableDescription& variable) {
  json.begin('{');
  json.member("name", variable.name);
  json.member_array("aliases", variable.aliases, [&](const std::string& alias) { json.put(alias); });
  json.member("dtype", dtype_name(variable.dtype));
  json.member_array("shape", variable.shape, [&](int64_t dim) { json.put_number(dim); });
  json.member("role", variable.role);
  json.member_bool("trainable", variable.trainable);
  json.member("layout", variable.layout < program.layouts.size() ? program.layouts[variable.layout].kind : "?");
  json.member_unsigned("bytes", variable.initial_value.size());
  json.end('}');
}

}  // namespace

std::string dump_json(const ArtifactContents& contents, const DumpOptions& options) {
  const ProgramDescription& program = contents.program;
  JsonWriter json;
  json.begin('{');
  json.member_unsigned("format_version", contents.header.format_version);
  json.member("producer", program.producer);
  json.member_unsigned("file_bytes", contents.header.total_size);
  json.member("root_sha256", hex_digest(contents.header.root_hash));
  json.key("segments");
  json.begin('[');
  for (size_t i = 0; i < contents.directory.size(); ++i) {
    const SegmentEntry& entry = contents.directory[i];
    json.begin('{');
    json.member("kind", segment_kind_name(entry.kind));
    json.member("name", segment_name(entry));
    json.member_unsigned("bytes", entry.size);
    json.member_unsigned("offset", contents.offsets[i]);
    json.member("sha256", hex_digest(entry.sha256));
    json.end('}');
  }
  json.end(']');
  json.member_array("targets", program.targets, [&](const TargetDescription& target) { json.put(target.name); });
  json.member_array("entries", program.entries,
                    [&](const EntryDescription& entry) { put_entry(json, program, entry, options); });
  json.member_array("variables", program.variables,
                    [&](const VariableDescription& variable) { put_variable(json, program, variable); });
  json.member_array("arenas", program.arenas,
                    [&](const ArenaDescription& arena) { json.put_unsigned(arena.byte_size); });
  json.member_unsigned("scratch_bytes_per_thread", program.scratch_bytes);
  json.member_array("kernels", program.kernels, [&](const KernelDescription& kernel) {
    json.begin('{');
    json.member("name", kernel.name);
    json.member_unsigned("operands", kernel.operand_count);
    json.member_unsigned("outputs", kernel.output_count);
    json.member_unsigned("scratch_bytes", kernel.scratch_bytes);
    json.end('}');
  });
  json.end('}');
  return json.take();
}

}  // namespace ferrule::serialize
