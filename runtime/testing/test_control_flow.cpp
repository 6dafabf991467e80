// The entries of the test program whose blocks nest.
#include "runtime/testing/entry_builder.h"

namespace ferrule::runtime::testing {
namespace {

using Kind = InstructionDescription::Kind;

constexpr uint32_t kVariableW = 0;
constexpr DataTypeDescription kInt64{0, 64, 1};
constexpr DataTypeDescription kBool{6, 8, 1};

uint32_t scalar_input(EntryBuilder& b, const char* name, DataTypeDescription dtype) {
  const uint32_t bytes = dtype.bits / 8;
  b.entry.inputs.push_back({name, dtype, {}});
  return b.buffer(Storage::kInput, static_cast<uint32_t>(b.entry.inputs.size() - 1), b.constant(bytes), bytes);
}

uint32_t rows_output(EntryBuilder& b, const char* name, uint32_t rows) {
  return b.output(name, kFloat32, {rows, b.constant(kColumns)}, b.times(rows, 4 * kColumns), 4 * kColumns * kMaxBatch);
}

// A counter as an output that starts at the constant 0.
uint32_t counter_output(EntryBuilder& b, const char* name) {
  const uint32_t four = b.constant(4), zero = b.constant(0);
  const uint32_t counter = b.output(name, kInt32, {}, four, 4);
  const uint32_t nothing = b.buffer(Storage::kConstant, 0, four, 4);
  b.copy({counter, zero}, {nothing, zero}, four);
  return counter;
}

EntryDescription describe_repeat() {
  EntryBuilder b("repeat");
  const uint32_t batch = b.dim("batch"), one = b.constant(1), zero = b.constant(0);
  const uint32_t x = b.rows_input("x", batch), n = scalar_input(b, "n", kInt32);
  const uint32_t y = rows_output(b, "y", batch), w = b.variable(kVariableW, 16);
  const uint32_t steps = counter_output(b, "steps");
  b.copy({y, zero}, {x, zero}, b.times(batch, 16));
  const uint32_t more = b.arena(one, 1, 0, 2, 2);
  const uint32_t condition = b.block(), body = b.block();
  InstructionDescription& loop = b.add(Kind::kWhile);
  loop.operands = {{more, zero}};
  loop.blocks = {condition, body};
  b.current = condition;
  b.call(TestKernel::kIsBelow, {more, steps, n}, one, one);
  b.current = body;
  b.call(TestKernel::kAffine, {y, y, w}, batch, batch);
  b.call(TestKernel::kIncrement, {steps}, one, one);
  return b.entry;
}

// The results in between lie at the same bytes: only one of the branches runs.
EntryDescription describe_choose() {
  EntryBuilder b("choose");
  const uint32_t batch = b.dim("batch"), zero = b.constant(0);
  const uint32_t x = b.rows_input("x", batch), flag = scalar_input(b, "flag", kBool);
  const uint32_t y = rows_output(b, "y", batch), w = b.variable(kVariableW, 16);
  const uint32_t bytes = b.times(batch, 16);
  const uint32_t then_block = b.block(), else_block = b.block();
  InstructionDescription& branch = b.add(Kind::kIf);
  branch.operands = {{flag, zero}};
  branch.blocks = {then_block, else_block};
  b.current = then_block;
  const uint32_t once = b.arena(bytes, 16 * kMaxBatch, 0, 0, 1, then_block);
  b.call(TestKernel::kAffine, {once, x, w}, batch, batch);
  b.call(TestKernel::kAffine, {y, once, w}, batch, batch);
  b.current = else_block;
  const uint32_t same = b.arena(bytes, 16 * kMaxBatch, 0, 0, 1, else_block);
  b.copy({same, zero}, {x, zero}, bytes);
  b.copy({y, zero}, {same, zero}, bytes);
  return b.entry;
}

EntryDescription describe_scan() {
  EntryBuilder b("scan");
  const uint32_t batch = b.dim("batch"), one = b.constant(1), zero = b.constant(0), row_bytes = b.constant(16);
  const uint32_t step = b.iteration("step", kMaxBatch - 1);
  const uint32_t x = b.rows_input("x", batch), y = rows_output(b, "y", batch);
  const uint32_t last = b.node(ExpressionKind::kSubtract, batch, one);
  const uint32_t row = b.times(b.node(ExpressionKind::kSubtract, last, step), 16);
  const uint32_t nothing = b.buffer(Storage::kConstant, 0, row_bytes, 16);
  const uint32_t carry = b.arena(row_bytes, 16, 0, 0, 1);
  b.copy({carry, zero}, {nothing, zero}, row_bytes);
  b.loop(batch, step);
  InstructionDescription& affine = b.call(TestKernel::kAffine, {y, x, carry}, one, one);
  affine.operands[0].offset = affine.operands[1].offset = row;
  b.copy({carry, zero}, {y, row}, row_bytes);
  return b.entry;
}

// `count` indices, which are to be below 10, from byte `at` on.
void check_indices(EntryBuilder& b, uint32_t checked, uint32_t index, uint32_t at, uint32_t count) {
  InstructionDescription& call = b.call(TestKernel::kCheckIndex, {checked, index}, count, count);
  call.operands[0].offset = call.operands[1].offset = at;
  call.params = {10, 0, 0, 0, 0, 0, 0, 0};
  call.location = 1;
}

EntryDescription describe_check_each() {
  EntryBuilder b("check_each");
  const uint32_t batch = b.dim("batch"), one = b.constant(1);
  const uint32_t step = b.iteration("step", kMaxBatch - 1), at = b.times(step, 4);
  const uint32_t index = b.column_input("index", batch);
  const uint32_t checked = b.output("checked", kInt32, {batch}, b.times(batch, 4), 4 * kMaxBatch);
  b.loop(batch, step);
  check_indices(b, checked, index, at, one);
  return b.entry;
}

EntryDescription describe_check_halves() {
  EntryBuilder b("check_halves");
  const uint32_t two = b.constant(2), four = b.constant(4), eight = b.constant(8), bytes = b.constant(32);
  const uint32_t step = b.iteration("step", 1), at = b.times(step, 16);
  b.entry.inputs.push_back({"index", kInt32, {eight}});
  const uint32_t index = b.buffer(Storage::kInput, 0, bytes, 32);
  const uint32_t checked = b.output("checked", kInt32, {eight}, bytes, 32);
  b.loop(two, step);
  check_indices(b, checked, index, at, four);
  return b.entry;
}

EntryDescription describe_triangle() {
  EntryBuilder b("triangle");
  const uint32_t one = b.constant(1), two = b.constant(2), zero = b.constant(0);
  const uint32_t limit = b.constant(9);
  const uint32_t i = b.iteration("i", 7), j = b.iteration("j", 7);
  const uint32_t m = b.dim({"m", 1, 100, 1, serialize::DimSource::kInstruction, limit});
  const uint32_t rows = b.node(ExpressionKind::kSubtract, m, two), columns = b.node(ExpressionKind::kAdd, i, one);
  const uint32_t given = scalar_input(b, "m", kInt64);
  const uint32_t counter = counter_output(b, "counter");
  b.bind(m, {given, zero});
  b.loop(rows, i);
  b.loop(columns, j);
  b.call(TestKernel::kIncrement, {counter}, one, one);
  return b.entry;
}

EntryDescription describe_positive() {
  EntryBuilder b("positive");
  const uint32_t batch = b.dim("batch"), one = b.constant(1), zero = b.constant(0), eight = b.constant(8);
  const uint32_t count = b.dim({"count", 0, kMaxBatch, 1, serialize::DimSource::kInstruction, batch});
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t rows = rows_output(b, "rows", count), total = b.output("count", kInt64, {}, eight, 8);
  const uint32_t w = b.variable(kVariableW, 16);
  const uint32_t selected = b.arena(b.times(count, 16), 16 * kMaxBatch, 0, 0, 2);
  b.call(TestKernel::kSelectPositive, {selected, total, x}, batch, one).output_count = 2;
  b.bind(count, {total, zero});
  b.call(TestKernel::kAffine, {rows, selected, w}, count, count);
  return b.entry;
}

}  // namespace

void add_control_flow_entries(serialize::ProgramDescription& program) {
  program.constants.push_back({std::vector<uint8_t>(16)});
  for (EntryDescription entry : {describe_repeat(), describe_choose(), describe_scan(), describe_check_each(),
                                 describe_check_halves(), describe_triangle(), describe_positive()}) {
    program.entries.push_back(std::move(entry));
  }
}

}  // namespace ferrule::runtime::testing
