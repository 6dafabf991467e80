#include <cstdio>

#include "serialize/dump/dump.h"
#include "serialize/dump/facts.h"
#include "serialize/dump/memory.h"

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

void put_memory(JsonWriter& json, const ProgramDescription& program, const EntryDescription& entry,
                const std::vector<std::string>& texts) {
  const EntryMemory memory = describe_memory(program, entry);
  size_t number = 0;
  json.member_array("buffers", entry.buffers, [&](const BufferDescription& buffer) {
    const BufferMemory& facts = memory.buffers[number++];
    const bool is_arena = buffer.storage == Storage::kArena;
    json.begin('{');
    json.member("name", buffer.debug_name);
    json.member("storage", storage_name(buffer.storage));
    json.member("kind", is_arena ? buffer_kind_name(facts.kind) : storage_name(buffer.storage));
    json.member("dtype", dtype_name(buffer.dtype));
    json.member_unsigned("index", buffer.index);
    json.member_unsigned("offset", buffer.offset);
    json.member("size", text_at(texts, buffer.size));
    json.member_unsigned("planned_bytes", buffer.planned_size);
    json.member_unsigned("begin", buffer.begin);
    json.member_unsigned("end", buffer.end);
    json.member_unsigned("alias_group", buffer.alias_group);
    json.member_unsigned("block", buffer.block);
    json.member_unsigned("first_time", facts.first);
    json.member_unsigned("last_time", facts.last);
    json.member_unsigned("maker_time", facts.maker);
    json.end('}');
  });
  size_t time = 0;
  json.member_array("timeline", memory.timeline, [&](const TimelineStep& step) {
    json.begin('{');
    json.member("op", step_name(program, step));
    json.member("location", step_location(program, step));
    json.member_unsigned("live_bytes", memory.live_bytes[time++]);
    json.end('}');
  });
  json.member_unsigned("fullest_time", memory.fullest);
}

// Instructions, those of the blocks below in place. A malformed artifact can name a block twice: it is shown once.
class InstructionsJson {
 public:
  InstructionsJson(JsonWriter& json, const ProgramDescription& program, const EntryDescription& entry,
                   const std::vector<std::string>& texts)
      : json_(json), program_(program), entry_(entry), texts_(texts), shown_(entry.blocks.size(), false) {}

  void put_block(const char* name, uint32_t block) {
    json_.key(name);
    json_.begin('[');
    if (block < entry_.blocks.size() && !shown_[block] && depth_ <= kMaximumBlockDepth) {
      shown_[block] = true;
      ++depth_;
      for (const InstructionDescription& instruction : entry_.blocks[block].instructions) put(instruction);
      --depth_;
    }
    json_.end(']');
  }

 private:
  using Kind = InstructionDescription::Kind;

  void put(const InstructionDescription& instruction) {
    const bool is_call = instruction.kind == Kind::kKernelCall;
    json_.begin('{');
    json_.member("kind", instruction_kind_name(instruction.kind));
    if (is_call) {
      json_.member("kernel",
                   instruction.kernel < program_.kernels.size() ? program_.kernels[instruction.kernel].name : "?");
    }
    json_.member_array("operands", instruction.operands,
                       [&](const OperandDescription& operand) { json_.put_unsigned(operand.buffer); });
    if (is_call || instruction.kind == Kind::kCopy) {
      json_.member_unsigned("outputs", is_call ? instruction.output_count : 1);
    }
    if (instruction.kind == Kind::kLoop) json_.member("count", text_at(texts_, instruction.count));
    if (instruction.kind == Kind::kLoop || instruction.kind == Kind::kBindDim) {
      json_.member("dim", instruction.dim < entry_.dims.size() ? entry_.dims[instruction.dim].name : "?");
    }
    if (is_call) {
      put_cost("flops", instruction.flops);
      put_cost("read_bytes", instruction.read_bytes);
      put_cost("written_bytes", instruction.written_bytes);
    }
    json_.member("location", instruction.location == 0 ? "" : text_at(program_.locations, instruction.location - 1));
    for (size_t i = 0; i < instruction.blocks.size(); ++i) {
      put_block(block_role(instruction.kind, i), instruction.blocks[i]);
    }
    json_.end('}');
  }

  // Nothing where it is not known.
  void put_cost(const char* name, uint32_t cost) {
    if (cost == 0) return;
    json_.key(name);
    put_dim(json_, entry_, texts_, cost - 1);
  }

  JsonWriter& json_;
  const ProgramDescription& program_;
  const EntryDescription& entry_;
  const std::vector<std::string>& texts_;
  std::vector<bool> shown_;
  uint32_t depth_ = 0;
};

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
    if (dim.source != DimSource::kInput) json.member("source", dim_source_name(dim.source));
    if (dim.source == DimSource::kInstruction) json.member("limit", text_at(texts, dim.limit));
    json.end('}');
  });
  json.member_array("assigns", entry.assigned_variables, [&](uint32_t variable) {
    json.put(variable < program.variables.size() ? program.variables[variable].name : "?");
  });
  json.member_unsigned("peak_bytes", entry.peak_bytes);
  json.member_unsigned("lower_bound_bytes", entry.lower_bound_bytes);
  json.member_unsigned("naive_bytes", entry.naive_bytes);
  if (options.memory) put_memory(json, program, entry, texts);
  if (options.instructions) InstructionsJson(json, program, entry, texts).put_block("instructions", 0);
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
  if (!program.weights_key_name.empty()) json.member("weights_key_name", program.weights_key_name);
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
    if (!kernel.symbol.empty()) json.member("symbol", kernel.symbol);
    json.end('}');
  });
  json.end('}');
  return json.take();
}

}  // namespace ferrule::serialize
