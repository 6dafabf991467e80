#include "runtime/testing/faulty_program.h"

#include <cstring>

#include "runtime/testing/entry_builder.h"

namespace ferrule::runtime::testing {
namespace {

constexpr uint64_t kRowsBytes = 16 * kMaxBatch;
constexpr uint64_t kArenaBytes = 2 * kRowsBytes;

void set_params(InstructionDescription& call, int64_t value) {
  call.params.resize(sizeof(value));
  std::memcpy(call.params.data(), &value, sizeof(value));
  call.location = 1;
}

// first = 2 x + w at `first_offset`; 4 + `beyond` floats go to a buffer of `faulty_bytes` at `offset`; y = 2 first + w.
EntryDescription describe_writer(const char* name, uint64_t first_offset, uint64_t offset, int64_t faulty_bytes,
                                 int64_t beyond) {
  EntryBuilder b(name);
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t y = b.output("y", kFloat32, {batch, b.constant(kColumns)}, b.times(batch, 16), kRowsBytes);
  const uint32_t w = b.variable(0, 16);
  const uint32_t first = b.arena(b.times(batch, 16), kRowsBytes, first_offset, 0, 2);
  const uint32_t faulty = b.arena(b.constant(faulty_bytes), static_cast<uint64_t>(faulty_bytes), offset, 1, 1);
  b.entry.buffers[first].debug_name = "first";
  b.call(TestKernel::kAffine, {first, x, w}, batch, batch);
  set_params(b.call(TestKernel::kWriteBeyond, {faulty, x, w}, batch, b.constant(1)), beyond);
  b.call(TestKernel::kAffine, {y, first, w}, batch, batch);
  b.entry.peak_bytes = b.entry.lower_bound_bytes = b.entry.naive_bytes = kArenaBytes;
  return b.entry;
}

EntryDescription describe_into_variable() {
  EntryBuilder b("into_variable");
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t y = b.output("y", kFloat32, {batch, b.constant(kColumns)}, b.times(batch, 16), kRowsBytes);
  const uint32_t w = b.variable(0, 16);
  b.call(TestKernel::kAffine, {y, x, w}, batch, batch);
  set_params(b.call(TestKernel::kWriteBeyond, {w, x, w}, batch, b.constant(1)), 16);
  b.entry.assigned_variables = {0};
  return b.entry;
}

// z is read `distance` floats away from `second`, at offset 128, or from x.
EntryDescription describe_reader(const char* name, bool from_input, int64_t distance) {
  EntryBuilder b(name);
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t z = b.output("z", kFloat32, {}, b.constant(4), 4);
  const uint32_t w = b.variable(0, 16);
  const uint32_t first = b.arena(b.times(batch, 16), kRowsBytes, 0, 0, 1);
  const uint32_t second = b.arena(b.times(batch, 16), kRowsBytes, kRowsBytes, 1, 2);
  b.call(TestKernel::kAffine, {first, x, w}, batch, batch);
  b.call(TestKernel::kAffine, {second, first, w}, batch, batch);
  set_params(b.call(TestKernel::kReadElsewhere, {z, from_input ? x : second}, batch, b.constant(1)), distance);
  return b.entry;
}

}  // namespace

serialize::ProgramDescription describe_faulty_program(const char* kernels) {
  serialize::ProgramDescription program = describe_test_program(kernels);
  program.arenas[0].byte_size = kArenaBytes;
  program.entries.push_back(describe_writer("into_live", kRowsBytes, kRowsBytes - 64, 64, 16));
  program.entries.push_back(describe_writer("into_gap", kRowsBytes, 0, 16, 4));
  program.entries.push_back(describe_writer("past_arena", 0, kArenaBytes - 64, 64, 16));
  program.entries.push_back(describe_into_variable());
  program.entries.push_back(describe_reader("reads_freed", false, -32));
  program.entries.push_back(describe_reader("reads_past", true, 4 * kColumns * kMaxBatch));
  return program;
}

}  // namespace ferrule::runtime::testing
