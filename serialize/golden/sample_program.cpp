#include "serialize/golden/sample_program.h"

#include <cstring>
#include <utility>

namespace ferrule::serialize {
namespace {

// int32_t f(const FerruleKernelArgs*): for tile in [tile_begin, tile_end): buffers[0][tile] = 2 * buffers[1][tile].
const std::vector<uint8_t> kDoubleX86 = {
    0x48, 0x8b, 0x47, 0x10,        //    mov    rax, [rdi+0x10]      buffers
    0x48, 0x8b, 0x48, 0x08,        //    mov    rcx, [rax+8]
    0x48, 0x8b, 0x00,              //    mov    rax, [rax]
    0x48, 0x8b, 0x57, 0x20,        //    mov    rdx, [rdi+0x20]      tile_begin
    0x48, 0x8b, 0x77, 0x28,        //    mov    rsi, [rdi+0x28]      tile_end
    0x48, 0x39, 0xf2,              // 1: cmp    rdx, rsi
    0x7d, 0x13,                    //    jge    2f
    0xf3, 0x0f, 0x10, 0x04, 0x91,  //    movss  xmm0, [rcx+rdx*4]
    0xf3, 0x0f, 0x58, 0xc0,        //    addss  xmm0, xmm0
    0xf3, 0x0f, 0x11, 0x04, 0x90,  //    movss  [rax+rdx*4], xmm0
    0x48, 0xff, 0xc2,              //    inc    rdx
    0xeb, 0xe8,                    //    jmp    1b
    0x31, 0xc0,                    // 2: xor    eax, eax
    0xc3,                          //    ret
};

const std::vector<uint8_t> kReturnZeroAarch64 = {
    0x00, 0x00, 0x80, 0x52,  // mov w0, #0
    0xc0, 0x03, 0x5f, 0xd6,  // ret
};

std::vector<uint8_t> float_bytes(const std::vector<float>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Logical [3, 2] = {1 2; 3 4; 5 6} in panels of 16 over axis 0: [1][2][16], lanes 3 to 15 zero.
std::vector<uint8_t> packed_weight() {
  std::vector<float> panel(32, 0.0f);
  for (int n = 0; n < 3; ++n) {
    for (int k = 0; k < 2; ++k) panel[k * 16 + n] = static_cast<float>(n * 2 + k + 1);
  }
  return float_bytes(panel);
}

ExpressionDescription constant(int64_t value) { return {ExpressionKind::kConstant, 0, 0, value}; }

InstructionDescription call_double(uint32_t to, uint32_t from, uint32_t location) {
  InstructionDescription call;
  call.kernel = 0;
  call.operands = {{to, 1}, {from, 1}};
  call.output_count = 1;
  call.dims = {0};
  call.tiles = 0;
  call.params = {7};
  call.location = location;
  call.flops = 1;
  call.read_bytes = call.written_bytes = 4;
  return call;
}

InstructionDescription copy(OperandDescription target, OperandDescription source, uint32_t byte_size) {
  InstructionDescription copy;
  copy.kind = InstructionDescription::Kind::kCopy;
  copy.operands = {target, source};
  copy.byte_size = byte_size;
  return copy;
}

InstructionDescription control(InstructionDescription::Kind kind, std::vector<OperandDescription> operands,
                               std::vector<uint32_t> blocks, uint32_t count = 0, uint32_t dim = 0) {
  InstructionDescription instruction;
  instruction.kind = kind;
  instruction.operands = std::move(operands);
  instruction.blocks = std::move(blocks);
  instruction.count = count;
  instruction.dim = dim;
  instruction.location = 2;
  return instruction;
}

EntryDescription double_twice() {
  EntryDescription entry;
  entry.name = "double_twice";
  entry.inputs = {{"x", {}, {0}}};
  entry.outputs = {{"out.0", {}, {0}}};
  entry.dims = {{"batch", 1, 8, 1}};
  entry.expressions = {{ExpressionKind::kDim, 0, 0, 0},       // 0: batch
                       constant(0),                           // 1: offsets
                       constant(4),                           // 2
                       {ExpressionKind::kMultiply, 0, 2, 0}};  // 3: bytes of a buffer
  entry.equalities = {{0, 0, 1}};
  entry.buffers = {{Storage::kInput, 0, 0, 3, 32, 0, 0, 0, "x"},
                   {Storage::kArena, 0, 64, 3, 32, 0, 1, 0, "doubled", 0, BufferKind::kActivation},
                   {Storage::kOutput, 0, 0, 3, 32, 0, 0, 0, "y"},
                   {Storage::kConstant, 0, 0, 2, 4, 0, 0, 0, "unused"}};
  entry.blocks = {{{call_double(1, 0, 1), call_double(2, 1, 2)}}};
  entry.peak_bytes = 96;
  entry.lower_bound_bytes = 32;
  entry.naive_bytes = 32;
  entry.signature = R"({"arguments": ["x"], "results": ["out.0"]})";
  return entry;
}

EntryDescription store() {
  EntryDescription entry;
  entry.name = "store";
  entry.inputs = {{"x", {}, {0, 1}}};
  entry.expressions = {constant(3), constant(2), constant(24), constant(0)};
  entry.buffers = {{Storage::kInput, 0, 0, 2, 24, 0, 0, 0, "x"}, {Storage::kVariable, 1, 0, 2, 24, 0, 0, 0, "position"}};
  entry.blocks = {{{copy({1, 3}, {0, 3}, 2)}}};
  entry.assigned_variables = {1};
  entry.signature = "{}";
  return entry;
}

EntryDescription double_some() {
  using Kind = InstructionDescription::Kind;
  EntryDescription entry;
  entry.name = "double_some";
  entry.inputs = {{"x", {}, {0}}, {"steps", {0, 64, 1}, {}}, {"undo", {6, 8, 1}, {}}};
  entry.outputs = {{"out.0", {}, {7}}};
  entry.dims = {{"batch", 1, 8, 1},
                {"step", 0, 7, 1, DimSource::kIteration},
                {"steps", 0, 8, 1, DimSource::kInstruction, 6}};
  entry.expressions = {{ExpressionKind::kDim, 0, 0, 0},        // 0: batch
                       constant(0),                            // 1
                       constant(4),                            // 2
                       {ExpressionKind::kMultiply, 0, 2, 0},   // 3: bytes of x
                       constant(1),                            // 4
                       constant(8),                            // 5
                       {ExpressionKind::kMinimum, 0, 5, 0},    // 6: the most steps
                       {ExpressionKind::kDim, 0, 0, 2},        // 7: steps
                       {ExpressionKind::kMultiply, 7, 2, 0},   // 8: bytes of y
                       {ExpressionKind::kDim, 0, 0, 1},        // 9: step
                       {ExpressionKind::kMultiply, 9, 2, 0}};  // 10: where element `step` is
  entry.buffers = {{Storage::kInput, 0, 0, 3, 32, 0, 0, 0, "x"},
                   {Storage::kInput, 1, 0, 5, 8, 0, 0, 0, "steps"},
                   {Storage::kInput, 2, 0, 4, 1, 0, 0, 0, "undo"},
                   {Storage::kOutput, 0, 0, 8, 32, 0, 0, 0, "y"},
                   {Storage::kConstant, 0, 0, 2, 4, 0, 0, 0, "zero"},
                   {Storage::kArena, 0, 0, 3, 32, 1, 5, 0, "total"},
                   {Storage::kArena, 0, 64, 4, 1, 4, 4, 0, "again", 0, BufferKind::kWorkspace},
                   {Storage::kArena, 0, 64, 2, 4, 0, 1, 0, "once", 1}};
  InstructionDescription once = call_double(7, 5, 1);
  once.operands[1].offset = 10;
  once.dims = {4};
  once.tiles = 4;
  once.flops = 5;
  once.read_bytes = once.written_bytes = 3;
  entry.blocks = {{{control(Kind::kBindDim, {{1, 1}}, {}, 0, 2), copy({5, 1}, {0, 1}, 3),
                    control(Kind::kLoop, {}, {1}, 7, 1), control(Kind::kIf, {{2, 1}}, {2, 3}),
                    control(Kind::kWhile, {{6, 1}}, {4, 5}), copy({3, 1}, {5, 1}, 8)}},
                  {{once, copy({5, 10}, {7, 1}, 2)}},
                  {{copy({5, 1}, {0, 1}, 3)}},
                  {},
                  {{copy({6, 1}, {4, 1}, 4)}},
                  {{call_double(5, 5, 1)}}};
  entry.peak_bytes = 96;
  entry.lower_bound_bytes = 36;
  entry.naive_bytes = 37;
  entry.signature = "{}";
  return entry;
}

}  // namespace

ProgramDescription sample_program() {
  ProgramDescription program;
  program.producer = "ferrule golden sample";
  program.targets = {{"aarch64", {"neon"}, kReturnZeroAarch64}, {"x86-64", {}, kDoubleX86},
                     {"x86-64-v2", {"ssse3"}, kDoubleX86}};
  program.layouts = {{}, {"panel", {0}, {1}, 1, 16}};
  program.variables = {{"layer.weight", {"alias.weight"}, {}, {3, 2}, 1, "parameter", true, packed_weight()},
                       {"position", {}, {}, {3, 2}, 0, "buffer", false, float_bytes({9, 8, 7, 6, 5, 4})}};
  program.constants = {{float_bytes({0.5f})}};
  program.arenas = {{0, 128, 64}};
  program.kernels = {{"double", 2, 1, 1, {0, 0, 0}, 256}};
  program.entries = {double_twice(), store(), double_some()};
  program.scratch_bytes = 256;
  program.locations = {"model.py:3", "model.py:4"};
  return program;
}

}  // namespace ferrule::serialize
