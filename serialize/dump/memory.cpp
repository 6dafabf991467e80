#include "serialize/dump/memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "serialize/dump/facts.h"

namespace ferrule::serialize {
namespace {

using Kind = InstructionDescription::Kind;

constexpr uint32_t kNever = UINT32_MAX;
constexpr uint64_t kGranule = 64;  // no two buffers share one

// Number of the steps by block and position, in the order in which a walk meets them.
class TimelineBuilder {
 public:
  TimelineBuilder(const EntryDescription& entry, std::vector<TimelineStep>& timeline)
      : entry_(entry), timeline_(timeline), times_(entry.blocks.size()), shown_(entry.blocks.size(), false) {
    walk(0, 0);
  }

  // The time of an instruction; the nearest one that there is where the block has no such position.
  uint32_t time(uint32_t block, uint32_t position) const {
    if (block >= times_.size() || times_[block].empty()) return 0;
    return times_[block][std::min<size_t>(position, times_[block].size() - 1)];
  }

 private:
  void walk(uint32_t block, uint32_t depth) {
    if (block >= times_.size() || shown_[block] || depth > kMaximumBlockDepth) return;
    shown_[block] = true;
    for (const InstructionDescription& instruction : entry_.blocks[block].instructions) {
      const auto time = static_cast<uint32_t>(timeline_.size());
      times_[block].push_back(time);
      timeline_.push_back({&instruction, block, 0});
      for (const uint32_t inner : instruction.blocks) walk(inner, depth + 1);
      timeline_[time].end = static_cast<uint32_t>(timeline_.size());
    }
  }

  const EntryDescription& entry_;
  std::vector<TimelineStep>& timeline_;
  std::vector<std::vector<uint32_t>> times_;
  std::vector<bool> shown_;
};

uint32_t output_count(const InstructionDescription& instruction) {
  if (instruction.kind == Kind::kCopy) return 1;
  if (instruction.kind != Kind::kKernelCall) return 0;
  return std::min<uint32_t>(instruction.output_count, static_cast<uint32_t>(instruction.operands.size()));
}

// Who computes what from what: the part of describe_memory that knows the kinds.
class DataFlow {
 public:
  DataFlow(const ProgramDescription& program, const EntryDescription& entry, const std::vector<TimelineStep>& timeline)
      : program_(program),
        entry_(entry),
        timeline_(timeline),
        maker_(entry.buffers.size(), kNever),
        kept_(entry.buffers.size(), false),
        becomes_variable_(entry.buffers.size(), false),
        steps_(timeline.size()) {
    for (uint32_t time = 0; time < timeline.size(); ++time)
      each_written(time, [&](uint32_t buffer) { maker_[buffer] = std::min(maker_[buffer], time); });
    find_data();
    find_backward();
    find_recomputed();
    find_readers();
  }

  uint32_t maker(uint32_t buffer) const { return maker_[buffer]; }

  BufferKind kind(uint32_t buffer) const {
    if (maker_[buffer] == kNever) return BufferKind::kWorkspace;
    const Step& maker = steps_[maker_[buffer]];
    if (becomes_variable_[buffer]) return BufferKind::kState;
    if (!maker.depends_on_data) return BufferKind::kWorkspace;
    if (maker.is_recomputed) return BufferKind::kRecomputed;
    if (is_backward(maker)) return BufferKind::kGradient;
    return kept_[buffer] ? BufferKind::kResidual : BufferKind::kActivation;
  }

 private:
  struct Step {
    bool depends_on_data = false;
    bool reaches_result = false, reaches_update = false;
    bool is_behind_gradient = false;
    bool is_recomputed = false;
  };

  static bool is_backward(const Step& step) {
    return step.is_behind_gradient || (step.reaches_update && !step.reaches_result);
  }

  template <typename Function>
  void each_written(uint32_t time, Function function) const {
    const InstructionDescription& instruction = *timeline_[time].instruction;
    for (uint32_t i = 0; i < output_count(instruction); ++i)
      if (instruction.operands[i].buffer < entry_.buffers.size()) function(instruction.operands[i].buffer);
  }
  template <typename Function>
  void each_read(uint32_t time, Function function) const {
    const InstructionDescription& instruction = *timeline_[time].instruction;
    for (size_t i = output_count(instruction); i < instruction.operands.size(); ++i)
      if (instruction.operands[i].buffer < entry_.buffers.size()) function(instruction.operands[i].buffer);
  }

  Storage storage(uint32_t buffer) const { return entry_.buffers[buffer].storage; }
  std::string role(uint32_t buffer) const {
    const uint32_t variable = entry_.buffers[buffer].index;
    return variable < program_.variables.size() ? program_.variables[variable].role : "";
  }

  // Sets a fact of steps from those before or behind them until nothing changes: once where there is no loop.
  template <typename Update>
  void settle(bool forward, Update update) {
    for (bool changed = true; changed;) {
      changed = false;
      for (uint32_t i = 0; i < steps_.size(); ++i)
        changed |= update(forward ? i : static_cast<uint32_t>(steps_.size()) - 1 - i);
    }
  }

  // An entry without inputs computes from its variables; any other one prepares its parameters for what comes in.
  void find_data() {
    std::vector<bool> data(entry_.buffers.size(), false);
    for (uint32_t buffer = 0; buffer < data.size(); ++buffer) {
      if (storage(buffer) == Storage::kInput) data[buffer] = true;
      if (storage(buffer) == Storage::kVariable) data[buffer] = entry_.inputs.empty() || role(buffer) != "parameter";
    }
    settle(/*forward=*/true, [&](uint32_t time) {
      if (steps_[time].depends_on_data) return false;
      bool found = false;
      each_read(time, [&](uint32_t buffer) { found = found || data[buffer]; });
      if (!found) return false;
      steps_[time].depends_on_data = true;
      each_written(time, [&](uint32_t buffer) { data[buffer] = data[buffer] || storage(buffer) == Storage::kArena; });
      return true;
    });
  }

  void find_backward() {
    std::vector<bool> to_result(entry_.buffers.size(), false), to_update(to_result), gradient(to_result);
    for (uint32_t buffer = 0; buffer < entry_.buffers.size(); ++buffer) {
      if (storage(buffer) == Storage::kOutput) to_result[buffer] = true;
      if (storage(buffer) != Storage::kVariable) continue;
      const std::string what = role(buffer);
      const bool is_trained = what == "parameter" || what == "gradient" || what == "optimizer_state";
      (is_trained ? to_update : to_result)[buffer] = true;
    }
    settle(/*forward=*/false, [&](uint32_t time) {
      Step& step = steps_[time];
      const Step before = step;
      each_written(time, [&](uint32_t buffer) {
        step.reaches_result = step.reaches_result || to_result[buffer];
        step.reaches_update = step.reaches_update || to_update[buffer];
      });
      each_read(time, [&](uint32_t buffer) {
        if (storage(buffer) != Storage::kArena) return;
        to_result[buffer] = to_result[buffer] || step.reaches_result;
        to_update[buffer] = to_update[buffer] || step.reaches_update;
      });
      return step.reaches_result != before.reaches_result || step.reaches_update != before.reaches_update;
    });
    settle(/*forward=*/true, [&](uint32_t time) {
      Step& step = steps_[time];
      if (step.is_behind_gradient) return false;
      bool found = step_name(program_, timeline_[time]).find("_gradient") != std::string::npos;
      each_read(time, [&](uint32_t buffer) { found = found || gradient[buffer]; });
      if (!found) return false;
      step.is_behind_gradient = true;
      each_written(time, [&](uint32_t buffer) { gradient[buffer] = storage(buffer) == Storage::kArena; });
      return true;
    });
  }

  // Numbers values; a call of a kernel with the values of an earlier one makes the same values. What is written in
  // blocks below depends on how often they run, so it is always new.
  void find_recomputed() {
    std::vector<uint64_t> value(entry_.buffers.size());
    uint64_t next = 0;
    for (uint64_t& number : value) number = next++;
    std::map<std::vector<uint64_t>, std::vector<uint64_t>> made;
    for (uint32_t time = 0; time < timeline_.size(); ++time) {
      const InstructionDescription& instruction = *timeline_[time].instruction;
      if (timeline_[time].block != 0 || instruction.kind != Kind::kKernelCall) {
        each_written(time, [&](uint32_t buffer) { value[buffer] = next++; });
        continue;
      }
      std::vector<uint64_t> key = {instruction.kernel, instruction.output_count};
      for (size_t i = output_count(instruction); i < instruction.operands.size(); ++i)
        key.push_back(instruction.operands[i].offset);
      each_read(time, [&](uint32_t buffer) { key.push_back(value[buffer]); });
      key.insert(key.end(), instruction.dims.begin(), instruction.dims.end());
      key.insert(key.end(), instruction.params.begin(), instruction.params.end());
      auto [same, is_new] = made.try_emplace(std::move(key));
      steps_[time].is_recomputed = !is_new;
      size_t output = 0;
      each_written(time, [&](uint32_t buffer) {
        if (output == same->second.size()) same->second.push_back(next++);
        value[buffer] = same->second[output++];
      });
    }
  }

  void find_readers() {
    for (uint32_t time = 0; time < steps_.size(); ++time) {
      if (is_backward(steps_[time])) each_read(time, [&](uint32_t buffer) { kept_[buffer] = true; });
      if (timeline_[time].instruction->kind != Kind::kCopy) continue;
      bool to_variable = false;
      each_written(time, [&](uint32_t buffer) { to_variable = storage(buffer) == Storage::kVariable; });
      if (to_variable) each_read(time, [&](uint32_t buffer) { becomes_variable_[buffer] = true; });
    }
  }

  const ProgramDescription& program_;
  const EntryDescription& entry_;
  const std::vector<TimelineStep>& timeline_;
  std::vector<uint32_t> maker_;          // by buffer
  std::vector<bool> kept_;               // by buffer: the backward pass reads it
  std::vector<bool> becomes_variable_;   // by buffer
  std::vector<Step> steps_;              // by time
};

// Buffers of one alias group are one piece of memory from the first to the last.
struct LivePiece {
  uint32_t first = kNever, last = 0;
  uint64_t begin = UINT64_MAX, end = 0;
};

void count_live_bytes(const EntryDescription& entry, EntryMemory& memory) {
  if (memory.timeline.empty()) return;
  std::map<std::pair<uint32_t, uint64_t>, LivePiece> pieces;
  for (size_t b = 0; b < entry.buffers.size(); ++b) {
    const BufferDescription& buffer = entry.buffers[b];
    if (buffer.storage != Storage::kArena || buffer.planned_size == 0) continue;
    const uint64_t number = buffer.alias_group != 0 ? buffer.alias_group : (uint64_t{1} << 32) + b;
    LivePiece& piece = pieces[{buffer.block, number}];
    piece.first = std::min(piece.first, memory.buffers[b].first);
    piece.last = std::max(piece.last, memory.buffers[b].last);
    piece.begin = std::min(piece.begin, buffer.offset);
    piece.end = std::max(piece.end, buffer.offset + buffer.planned_size);
  }
  std::vector<uint64_t> changes(memory.timeline.size() + 1, 0);  // differences, modulo 2^64
  for (const auto& [key, piece] : pieces) {
    const uint64_t bytes = (piece.end - piece.begin + kGranule - 1) / kGranule * kGranule;
    changes[piece.first] += bytes;
    changes[piece.last + 1] -= bytes;
  }
  uint64_t live = 0;
  for (size_t time = 0; time < memory.timeline.size(); ++time) {
    memory.live_bytes.push_back(live += changes[time]);
    if (live > memory.live_bytes[memory.fullest]) memory.fullest = static_cast<uint32_t>(time);
  }
}

}  // namespace

const char* buffer_kind_name(BufferKind kind) {
  static const char* const kNames[] = {"unspecified", "activation", "residual", "recomputed",
                                       "gradient",    "state",      "workspace"};
  return static_cast<uint8_t>(kind) < 7 ? kNames[static_cast<uint8_t>(kind)] : "?";
}

EntryMemory describe_memory(const ProgramDescription& program, const EntryDescription& entry) {
  EntryMemory memory;
  const TimelineBuilder times(entry, memory.timeline);
  const DataFlow flow(program, entry, memory.timeline);
  for (uint32_t b = 0; b < entry.buffers.size(); ++b) {
    const BufferDescription& buffer = entry.buffers[b];
    BufferMemory facts;
    if (!memory.timeline.empty()) {
      facts.first = times.time(buffer.block, buffer.begin);
      facts.last = std::max(facts.first, memory.timeline[times.time(buffer.block, buffer.end)].end - 1);
    }
    facts.maker = flow.maker(b) == kNever ? facts.first : flow.maker(b);
    if (buffer.storage == Storage::kArena) {
      facts.kind = buffer.kind != BufferKind::kUnspecified ? buffer.kind : flow.kind(b);
    }
    memory.buffers.push_back(facts);
  }
  count_live_bytes(entry, memory);
  return memory;
}

std::string step_name(const ProgramDescription& program, const TimelineStep& step) {
  if (step.instruction->kind != Kind::kKernelCall) return instruction_kind_name(step.instruction->kind);
  const uint32_t kernel = step.instruction->kernel;
  return kernel < program.kernels.size() ? program.kernels[kernel].name : "?";
}

std::string step_location(const ProgramDescription& program, const TimelineStep& step) {
  const uint32_t location = step.instruction->location;
  return location == 0 ? "" : text_at(program.locations, location - 1);
}

}  // namespace ferrule::serialize
