#include "runtime/testing/test_program.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/testing/entry_builder.h"
#include "serialize/writer/writer.h"

namespace ferrule::runtime::testing {
namespace {

using namespace serialize;

constexpr uint32_t kVariableW = 0;

EntryDescription describe_predict() {
  EntryBuilder b("predict");
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t y = b.output("y", kFloat32, {batch, b.constant(kColumns)}, b.times(batch, 16), 16 * kMaxBatch);
  const uint32_t w = b.variable(kVariableW, 16);
  InstructionDescription& call = b.call(TestKernel::kAffine, {y, x, w}, batch, batch);
  call.location = 1;
  call.flops = b.times(batch, 8) + 1;
  call.read_bytes = b.times(batch, 16) + 1;
  call.written_bytes = call.read_bytes;
  return b.entry;
}

// loss = sum of (2 x + w), by way of the arena; returns the buffers of x and w.
struct LossBuffers {
  uint32_t x, w;
};
LossBuffers add_loss(EntryBuilder& b, uint32_t batch) {
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t loss = b.output("loss", kFloat32, {}, b.constant(4), 4);
  const uint32_t w = b.variable(kVariableW, 16);
  const uint32_t y = b.buffer(Storage::kArena, 0, b.times(batch, 16), 16 * kMaxBatch);
  b.call(TestKernel::kAffine, {y, x, w}, batch, batch);
  b.call(TestKernel::kSum, {loss, y}, batch, b.constant(1));
  b.entry.buffers[y].begin = 0;
  b.entry.buffers[y].end = 1;
  b.entry.peak_bytes = b.entry.lower_bound_bytes = b.entry.naive_bytes = 16 * kMaxBatch;
  return {x, w};
}

EntryDescription describe_train() {
  EntryBuilder b("train");
  const uint32_t batch = b.dim("batch");
  const LossBuffers buffers = add_loss(b, batch);
  b.call(TestKernel::kAccumulate, {buffers.w, buffers.x, buffers.w}, batch, b.constant(1));
  b.entry.assigned_variables = {kVariableW};
  return b.entry;
}

EntryDescription describe_evaluate() {
  EntryBuilder b("evaluate");
  const uint32_t batch = b.dim("batch");
  const LossBuffers buffers = add_loss(b, batch);
  const uint32_t correct = b.output("correct", kInt32, {}, b.constant(4), 4);
  b.call(TestKernel::kCountPositive, {correct, buffers.x}, batch, b.constant(1));
  return b.entry;
}

void add_check(EntryBuilder& b, uint32_t checked, uint32_t index, uint32_t batch) {
  InstructionDescription& call = b.call(TestKernel::kCheckIndex, {checked, index}, batch, batch);
  const int64_t limit = 10;
  call.params.resize(sizeof(limit));
  std::memcpy(call.params.data(), &limit, sizeof(limit));
  call.location = 1;
}

EntryDescription describe_fail() {
  EntryBuilder b("fail");
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t index = b.column_input("index", batch);
  const uint32_t checked = b.output("checked", kInt32, {batch}, b.times(batch, 4), 4 * kMaxBatch);
  const uint32_t w = b.variable(kVariableW, 16);
  b.call(TestKernel::kAccumulate, {w, x, w}, batch, b.constant(1));
  add_check(b, checked, index, batch);
  b.entry.assigned_variables = {kVariableW};
  return b.entry;
}

EntryDescription describe_check() {
  EntryBuilder b("check");
  const uint32_t batch = b.dim("batch");
  const uint32_t index = b.column_input("index", batch);
  const uint32_t checked = b.output("checked", kInt32, {batch}, b.times(batch, 4), 4 * kMaxBatch);
  add_check(b, checked, index, batch);
  return b.entry;
}

EntryDescription describe_halve() {
  EntryBuilder b("halve");
  const uint32_t batch = b.dim("batch");
  const uint32_t x = b.rows_input("x", batch);
  const uint32_t half = b.output("half", kFloat32, {batch}, b.times(batch, 4), 4 * kMaxBatch);
  b.call(TestKernel::kHalve, {half, x}, batch, batch);
  return b.entry;
}

EntryDescription describe_threads() {
  EntryBuilder b("threads");
  const uint32_t batch = b.dim("batch");
  b.rows_input("x", batch);
  const uint32_t thread = b.output("thread", kInt32, {batch}, b.times(batch, 4), 4 * kMaxBatch);
  b.call(TestKernel::kThreadOfRow, {thread}, batch, batch);
  return b.entry;
}

EntryDescription describe_pair() {
  EntryBuilder b("pair");
  const uint32_t batch = b.dim("batch"), other = b.dim("other");
  b.rows_input("a", batch);
  const uint32_t second = b.rows_input("b", other);
  const uint32_t copy = b.output("copy", kFloat32, {other, b.constant(kColumns)}, b.times(other, 16), 16 * kMaxBatch);
  InstructionDescription instruction;
  instruction.kind = InstructionDescription::Kind::kCopy;
  const uint32_t zero = b.constant(0);
  instruction.operands = {{copy, zero}, {second, zero}};
  instruction.byte_size = b.times(other, 16);
  b.entry.blocks[0].instructions.push_back(instruction);
  b.entry.equalities.push_back({batch, other, 1});
  return b.entry;
}

template <typename T>
std::vector<uint8_t> to_bytes(std::initializer_list<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

void describe_variables(ProgramDescription& program) {
  VariableDescription w;
  w.name = "w";
  w.dtype = kFloat32;
  w.shape = {kColumns};
  w.initial_value = to_bytes<float>({1, 2, 3, 4});
  program.variables.push_back(w);

  // Logical [3, 2] = {10, 11}, {12, 13}, {14, 15} as [K = 2][16 lanes].
  LayoutDescription panels;
  panels.kind = "panel";
  panels.n_axes = {0};
  panels.k_axes = {1};
  program.layouts.push_back(panels);
  VariableDescription table;
  table.name = "table";
  table.aliases = {"weights"};
  table.dtype = kFloat32;
  table.shape = {3, 2};
  table.layout = 1;
  float packed[2][16] = {{10, 12, 14}, {11, 13, 15}};
  table.initial_value.resize(sizeof(packed));
  std::memcpy(table.initial_value.data(), packed, sizeof(packed));
  program.variables.push_back(table);

  VariableDescription counter;
  counter.name = "counter";
  counter.dtype = kInt32;
  counter.role = "buffer";
  counter.trainable = false;
  counter.initial_value = to_bytes<int32_t>({7});
  program.variables.push_back(counter);
}

[[noreturn]] void give_up(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

void describe_kernels(ProgramDescription& program, const char* kernels) {
  struct Shape {
    const char* name;
    uint32_t operands, outputs, scratch_bytes;
  };
  constexpr Shape kShapes[] = {{"affine", 3, 1, 0},         {"accumulate", 3, 1, 0}, {"sum", 2, 1, 16},
                               {"check_index", 2, 1, 0},    {"halve", 2, 1, 0},      {"thread_of_row", 1, 1, 0},
                               {"count_positive", 2, 1, 0}, {"is_below", 3, 1, 0},   {"increment", 1, 1, 0},
                               {"select_positive", 3, 2, 0}, {"write_beyond", 3, 1, 0}, {"read_elsewhere", 2, 1, 0}};
  const std::vector<uint8_t> image = read_file(kernels);
  for (size_t k = 0; k < static_cast<size_t>(TestKernel::kCount); ++k) {
    KernelDescription kernel;
    kernel.name = kShapes[k].name;
    kernel.operand_count = kShapes[k].operands;
    kernel.output_count = kShapes[k].outputs;
    kernel.dim_count = 1;
    kernel.scratch_bytes = kShapes[k].scratch_bytes;
    uint64_t offset;
    std::memcpy(&offset, image.data() + k * sizeof(offset), sizeof(offset));
    kernel.offsets = {offset};
    program.kernels.push_back(kernel);
  }
  TargetDescription target;
  target.name = kTestTarget;
  target.code = image;
  program.targets.push_back(target);
}

}  // namespace

ProgramDescription describe_test_program(const char* kernels) {
  ProgramDescription program;
  program.producer = "runtime tests";
  describe_variables(program);
  describe_kernels(program, kernels);
  program.arenas.push_back({0, 16 * kMaxBatch, 64});
  program.scratch_bytes = 16;
  program.locations = {"model.py:12"};
  program.entries = {describe_predict(), describe_train(), describe_evaluate(), describe_fail(),
                     describe_check(),   describe_halve(), describe_threads(),  describe_pair()};
  add_control_flow_entries(program);
  return program;
}

ProgramDescription describe_growing_program() {
  ProgramDescription program = describe_test_program();
  for (EntryDescription& entry : program.entries)
    for (DimDescription& dim : entry.dims) dim.max = INT64_MAX;
  return program;
}

std::vector<uint8_t> to_artifact(const ProgramDescription& program) {
  std::string error;
  std::vector<uint8_t> bytes = write_program(program, &error);
  if (bytes.empty()) give_up("the test program cannot be written: " + error);
  return bytes;
}

std::vector<uint8_t> test_artifact() { return to_artifact(describe_test_program()); }

std::string temporary_path(const std::string& name) {
  const char* folder = std::getenv("TEST_TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

void write_file(const std::string& path, const std::vector<uint8_t>& bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) give_up("cannot open " + path);
  const bool written = bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) give_up("cannot write " + path);
}

std::vector<uint8_t> read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) give_up("cannot open " + path);
  std::vector<uint8_t> bytes;
  uint8_t block[4096];
  for (size_t count; (count = std::fread(block, 1, sizeof(block), file)) > 0;)
    bytes.insert(bytes.end(), block, block + count);
  std::fclose(file);
  return bytes;
}

}  // namespace ferrule::runtime::testing
