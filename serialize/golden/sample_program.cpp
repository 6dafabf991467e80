#include "serialize/golden/sample_program.h"

#include <cstring>

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
  return call;
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
                   {Storage::kArena, 0, 64, 3, 32, 0, 1, 0, "doubled"},
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
  InstructionDescription copy;
  copy.kind = InstructionDescription::Kind::kCopy;
  copy.operands = {{1, 3}, {0, 3}};
  copy.byte_size = 2;
  entry.blocks = {{{copy}}};
  entry.assigned_variables = {1};
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
  program.entries = {double_twice(), store()};
  program.scratch_bytes = 256;
  program.locations = {"model.py:3", "model.py:4"};
  return program;
}

}  // namespace ferrule::serialize
