#include "runtime/program/call.h"

#include <vector>

#include "catch2/catch.hpp"
#include "runtime/program/expression.h"
#include "runtime/program/test_support.h"

namespace ferrule::runtime {
namespace {

using serialize::ExpressionKind;
using serialize::ProgramDescription;
using serialize::sample_program;

// The whole preparation of a call of entry 0 with one input; "" when it is allowed.
std::string prepare(const Program& program, const std::vector<int64_t>& shape) {
  const schema::Entry& entry = *program.metadata()->entries()->Get(0);
  const Shape input = {shape.data(), static_cast<uint32_t>(shape.size())};
  const EntryMap& map = program.entry_map(0);
  std::vector<int64_t> dims(entry.dims()->size()), values(entry.expressions()->size());
  std::vector<uint64_t> output_bytes(entry.outputs()->size());
  Status status = bind_dims(entry, &input, dims.data());
  if (status.ok()) status = evaluate_expressions(entry, map, dims.data(), values.data());
  if (status.ok()) status = check_call(entry, map, &input, {dims.data(), values.data(), output_bytes.data()});
  return status.message();
}

ProgramPointer open(const ProgramDescription& description) {
  std::string error;
  ProgramPointer program = open_description(description, &error);
  INFO(error);
  REQUIRE(program != nullptr);
  return program;
}

}  // namespace

TEST_CASE("dims are bound from the inputs and checked against their range") {
  const ProgramPointer program = open(sample_program());
  CHECK(prepare(*program, {1}) == "");
  CHECK(prepare(*program, {8}) == "");
  CHECK(prepare(*program, {0}) == "entry 'double_twice', input 'x', axis 0: dim 'batch' is 0; allowed is 1 to 8");
  CHECK(prepare(*program, {9}) == "entry 'double_twice', input 'x', axis 0: dim 'batch' is 9; allowed is 1 to 8");
  CHECK(prepare(*program, {-1}) == "entry 'double_twice', input 'x', axis 0: dim 'batch' is -1; allowed is 1 to 8");
  CHECK(prepare(*program, {2, 2}) == "entry 'double_twice', input 'x': the array has rank 2; expected is 1");
}

TEST_CASE("multiples, unbounded dims and repeated dims") {
  ProgramDescription description = sample_program();
  auto& entry = description.entries[0];
  entry.dims[0] = {"batch", 4, INT64_MAX, 4};
  entry.inputs[0].shape = {0, 0, 2};
  entry.buffers[0].size = 2;
  const ProgramPointer program = open(description);
  CHECK(prepare(*program, {4, 4, 4}) == "");
  CHECK(prepare(*program, {6, 6, 4}) ==
        "entry 'double_twice', input 'x', axis 0: dim 'batch' is 6; allowed is 4 or more in multiples of 4");
  CHECK(prepare(*program, {4, 8, 4}) ==
        "entry 'double_twice', input 'x', axis 1: dim 'batch' is 8 here and 4 in an axis before");
  CHECK(prepare(*program, {4, 4, 5}) == "entry 'double_twice', input 'x', axis 2: the size is 5; expected is 4");
  // Larger than planned: refused, and the dim named.
  CHECK(prepare(*program, {12, 12, 4}) ==
        "entry 'double_twice': no memory is planned for 'batch' = 12, without a max: buffer 1 needs 48 bytes and has 32; "
        "let the session grow, or compile with a larger plan_at");
  CHECK(prepare(*program, {int64_t{1} << 62, int64_t{1} << 62, 4}).find("overflows") != std::string::npos);
}

TEST_CASE("equalities hold for each call") {
  ProgramDescription description = sample_program();
  description.entries[0].equalities = {{0, 2, 1}};
  const ProgramPointer program = open(description);
  CHECK(prepare(*program, {4}) == "");
  CHECK(prepare(*program, {3}) == "entry 'double_twice': the model needs batch (3) and another (4) to be equal");
}

TEST_CASE("operands must stay inside their buffers and tile counts must not be negative") {
  ProgramDescription description = sample_program();
  auto& entry = description.entries[0];
  entry.expressions.push_back({ExpressionKind::kSubtract, 1, 0, 0});  // 4: -batch
  entry.blocks[0].instructions[1].operands[0].offset = 4;
  CHECK(prepare(*open(description), {2}).find("the offset of an operand of instruction 1 is -2") != std::string::npos);
  entry.blocks[0].instructions[1].operands[0].offset = 1;
  entry.blocks[0].instructions[1].tiles = 4;
  CHECK(prepare(*open(description), {2}).find("the tile count of instruction 1 is -2") != std::string::npos);
}

TEST_CASE("each kind of expression, and what overflows") {
  ProgramDescription description = sample_program();
  auto& entry = description.entries[0];
  entry.expressions = {{ExpressionKind::kDim, 0, 0, 0},         {ExpressionKind::kConstant, 0, 0, 3},
                       {ExpressionKind::kConstant, 0, 0, 4},    {ExpressionKind::kMultiply, 0, 2, 0},
                       {ExpressionKind::kAdd, 0, 1, 0},         {ExpressionKind::kSubtract, 0, 1, 0},
                       {ExpressionKind::kFloorDivide, 0, 1, 0}, {ExpressionKind::kModulo, 5, 1, 0},
                       {ExpressionKind::kMinimum, 0, 1, 0},     {ExpressionKind::kMaximum, 0, 1, 0},
                       {ExpressionKind::kConstant, 0, 0, 0},    {ExpressionKind::kFloorDivide, 5, 1, 0}};
  for (auto& instruction : entry.blocks[0].instructions) {
    for (auto& operand : instruction.operands) operand.offset = 10;
  }
  ProgramPointer program = open(description);
  const schema::Entry* table = program->metadata()->entries()->Get(0);
  int64_t batch = 2;
  std::vector<int64_t> values(12);
  REQUIRE(evaluate_expressions(*table, program->entry_map(0), &batch, values.data()).ok());
  CHECK(values == std::vector<int64_t>({2, 3, 4, 8, 5, -1, 0, 2, 2, 3, 0, -1}));

  entry.expressions.push_back({ExpressionKind::kModulo, 0, 10, 0});  // by zero
  program = open(description);
  values.resize(13);
  table = program->metadata()->entries()->Get(0);
  CHECK(std::string(evaluate_expressions(*table, program->entry_map(0), &batch, values.data()).message()) ==
        "entry 'double_twice': expression 12 overflows or divides by zero for these dims (operands 2 and 0)");
}

}  // namespace ferrule::runtime
