#include "serialize/dump/memory.h"

#include "catch2/catch.hpp"

namespace ferrule::serialize {
namespace {

using Kind = InstructionDescription::Kind;

// A training step with hand-made numbers: x is an input (buffer 0), w a parameter (1), mean a running statistic (2),
// loss an output (3); buffers from 4 on lie in the arena, `bytes` long and live as said.
struct Step {
  ProgramDescription program;
  EntryDescription entry;

  Step() {
    program.variables.resize(2);
    program.variables[0].name = "w";
    program.variables[1].name = "mean";
    program.variables[1].role = "buffer";
    program.locations = {"net.py:3"};
    entry.inputs.resize(1);
    entry.blocks.resize(1);
    add(Storage::kInput, 0);
    add(Storage::kVariable, 0);
    add(Storage::kVariable, 1);
    add(Storage::kOutput, 0);
  }

  uint32_t add(Storage storage, uint32_t index) {
    BufferDescription buffer;
    buffer.storage = storage;
    buffer.index = index;
    entry.buffers.push_back(buffer);
    return static_cast<uint32_t>(entry.buffers.size()) - 1;
  }
  uint32_t arena(uint64_t offset, uint64_t bytes, uint32_t begin, uint32_t end, uint32_t group = 0) {
    const uint32_t number = add(Storage::kArena, 0);
    BufferDescription& buffer = entry.buffers[number];
    buffer.offset = offset;
    buffer.planned_size = bytes;
    buffer.begin = begin;
    buffer.end = end;
    buffer.alias_group = group;
    return number;
  }
  void call(const std::string& kernel, std::vector<uint32_t> operands, uint32_t block = 0) {
    InstructionDescription instruction;
    instruction.kernel = 0;
    while (instruction.kernel < program.kernels.size() && program.kernels[instruction.kernel].name != kernel)
      ++instruction.kernel;
    if (instruction.kernel == program.kernels.size()) program.kernels.emplace_back().name = kernel;
    for (const uint32_t buffer : operands) instruction.operands.push_back({buffer, 0});
    instruction.output_count = 1;
    instruction.location = 1;
    entry.blocks[block].instructions.push_back(instruction);
  }
  void copy(uint32_t target, uint32_t source) {
    InstructionDescription instruction;
    instruction.kind = Kind::kCopy;
    instruction.operands = {{target, 0}, {source, 0}};
    entry.blocks[0].instructions.push_back(instruction);
  }
  std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    const EntryMemory memory = describe_memory(program, entry);
    for (size_t b = 0; b < entry.buffers.size(); ++b)
      if (entry.buffers[b].storage == Storage::kArena) names.push_back(buffer_kind_name(memory.buffers[b].kind));
    return names;
  }
};

constexpr uint32_t kX = 0, kW = 1, kMean = 2, kLoss = 3;

}  // namespace

TEST_CASE("kinds follow from who reads whom") {
  Step step;
  const uint32_t hidden = step.arena(0, 64, 0, 5), score = step.arena(64, 64, 1, 2), packed = step.arena(128, 64, 3, 4),
                 slope = step.arena(64, 64, 4, 5), update = step.arena(128, 64, 5, 6);
  step.call("linear", {hidden, kX, kW});    // 0: read by the backward pass, at 5
  step.call("square", {score, hidden});     // 1: only the loss reads it
  step.call("sum", {kLoss, score});         // 2
  step.call("transpose", {packed, kW});     // 3: of no input
  step.call("multiply", {slope, packed, kX});       // 4: reaches the parameter only
  step.call("outer", {update, slope, hidden, kW});  // 5
  step.copy(kW, update);                            // 6
  CHECK(step.kinds() == std::vector<std::string>{"residual", "activation", "workspace", "gradient", "state"});
}

TEST_CASE("what reaches an output is of the backward pass if it depends on a gradient kernel") {
  Step step;
  const uint32_t score = step.arena(0, 64, 0, 1), slope = step.arena(64, 64, 1, 2), norm = step.arena(0, 64, 2, 3);
  step.call("linear", {score, kX, kW});
  step.call("loss_gradient.1", {slope, score});
  step.call("square", {norm, slope});
  step.call("sum", {kLoss, norm});  // the norm of the gradient is returned
  CHECK(step.kinds() == std::vector<std::string>{"residual", "gradient", "gradient"});
}

TEST_CASE("running statistics belong to the forward pass") {
  Step step;
  const uint32_t batch_mean = step.arena(0, 64, 0, 1), loss = step.arena(64, 64, 2, 3);
  step.call("mean", {batch_mean, kX});
  step.call("blend", {kMean, batch_mean, kMean});
  step.call("square", {loss, kX});
  step.call("sum", {kLoss, loss});
  CHECK(step.kinds() == std::vector<std::string>{"activation", "activation"});
}

TEST_CASE("the same kernel over the same values computes again, over others it does not") {
  Step step;
  const uint32_t first = step.arena(0, 64, 0, 1), other = step.arena(64, 64, 1, 2), again = step.arena(0, 64, 3, 4),
                 other_again = step.arena(64, 64, 4, 5);
  step.call("linear", {first, kX, kW});
  step.call("relu", {other, first});
  step.call("sum", {kLoss, other});
  step.call("linear", {again, kX, kW});
  step.call("relu", {other_again, again});  // the value of `again` is that of `first`
  step.call("outer", {kW, other_again, kX});
  CHECK(step.kinds() == std::vector<std::string>{"activation", "activation", "recomputed", "recomputed"});
  // After a write the variable has another value.
  step.entry.blocks[0].instructions[3].operands[1].buffer = kMean;
  CHECK(step.kinds() == std::vector<std::string>{"activation", "activation", "gradient", "gradient"});
}

TEST_CASE("live bytes: rounded to 64, groups once from their first to their last") {
  Step step;
  const uint32_t a = step.arena(0, 100, 0, 1), b = step.arena(128, 64, 1, 2, 7), c = step.arena(128, 60, 2, 3, 7);
  step.call("one", {a, kX});
  step.call("two", {b, a});
  step.call("three", {c, b});
  step.call("four", {kLoss, c});
  const EntryMemory memory = describe_memory(step.program, step.entry);
  CHECK(memory.live_bytes == std::vector<uint64_t>{128, 192, 64, 64});
  CHECK(memory.fullest == 1);
  CHECK(step_name(step.program, memory.timeline[1]) == "two");
  CHECK(step_location(step.program, memory.timeline[1]) == "net.py:3");
  CHECK(memory.buffers[c].maker == 2);
}

TEST_CASE("blocks below an instruction have their times behind it") {
  Step step;
  const uint32_t carry = step.arena(0, 64, 0, 2), inner = step.arena(64, 64, 0, 0);
  step.entry.buffers[inner].block = 1;
  step.entry.blocks.resize(2);
  step.call("start", {carry, kX});
  InstructionDescription loop;
  loop.kind = Kind::kLoop;
  loop.blocks = {1};
  step.entry.blocks[0].instructions.push_back(loop);
  step.call("twice", {inner, carry}, 1);
  step.call("back", {carry, inner}, 1);
  step.call("sum", {kLoss, carry});
  const EntryMemory memory = describe_memory(step.program, step.entry);
  REQUIRE(memory.timeline.size() == 5);
  CHECK(memory.timeline[1].end == 4);
  CHECK(memory.buffers[carry].last == 4);
  CHECK(memory.buffers[inner].first == 2);
  CHECK(memory.buffers[inner].last == 2);
  CHECK(memory.live_bytes == std::vector<uint64_t>{64, 64, 128, 64, 64});
}

TEST_CASE("what an artifact that would be refused holds does no harm") {
  Step step;
  const uint32_t lost = step.arena(UINT64_MAX, UINT64_MAX, 9, 3);
  step.entry.buffers[lost].block = 12;
  step.call("one", {99, 98});
  InstructionDescription loop;
  loop.kind = Kind::kLoop;
  loop.blocks = {0, 77};
  step.entry.blocks[0].instructions.push_back(loop);
  step.entry.blocks[0].instructions[0].kernel = 55;
  step.entry.blocks[0].instructions[0].location = 44;
  const EntryMemory memory = describe_memory(step.program, step.entry);
  CHECK(memory.timeline.size() == 2);
  CHECK(step_name(step.program, memory.timeline[0]) == "?");
  CHECK(step_location(step.program, memory.timeline[0]) == "?");
  step.entry.blocks.clear();
  CHECK(describe_memory(step.program, step.entry).timeline.empty());
}

}  // namespace ferrule::serialize
