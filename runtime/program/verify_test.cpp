// One wrong program a rule: the verifier refuses each and its sentence names the part.
#include <algorithm>
#include <functional>
#include <random>

#include "catch2/catch.hpp"
#include "runtime/program/refusal.h"

namespace ferrule::runtime {
namespace {

using serialize::BufferDescription;
using serialize::ExpressionKind;
using serialize::ProgramDescription;
using serialize::sample_program;
using serialize::Storage;

// The same for the entry double_twice.
std::string entry_refusal(const std::function<void(serialize::EntryDescription&)>& spoil) {
  return refusal([&](ProgramDescription& program) { spoil(program.entries[0]); });
}

}  // namespace

TEST_CASE("names") {
  CHECK(refusal([](auto& p) { p.entries[1].name = "double_twice"; }) == "there are two of entry 'double_twice'");
  CHECK(refusal([](auto& p) { p.variables[1].aliases = {"layer.weight"}; }) ==
        "there are two of variable 'layer.weight'");
  CHECK(refusal([](auto& p) { p.variables[1].name = ""; }) == "a variable has no name");
  CHECK(refusal([](auto& p) { p.entries[0].name = "\xff"; }) == "an entry is not plain UTF-8 text at byte 0");
  CHECK(refusal([](auto& p) { p.kernels[0].name = "a\nb"; }) == "a kernel is not plain UTF-8 text at byte 1");
  CHECK(refusal([](auto& p) { p.targets[2].name = "x86-64"; }).find("occurs twice") != std::string::npos);
}

TEST_CASE("devices, arenas, dtypes") {
  CHECK(refusal([](auto& p) { p.devices = {"toaster"}; }) ==
        "the artifact in memory needs a device of kind 'toaster'; this runtime has: cpu");
  CHECK(refusal([](auto& p) { p.arenas[0].device = 1; }) == "the device of an arena has index 1 and there are 1");
  CHECK(refusal([](auto& p) { p.arenas[0].alignment = 96; }).find("an arena of 128 bytes has alignment 96") == 0);
  CHECK(refusal([](auto& p) { p.variables[0].dtype = {3, 32, 1}; }).find("'layer.weight' has the dtype (code 3") == 0);
  CHECK(refusal([](auto& p) { p.entries[0].inputs[0].dtype = {2, 32, 4}; }).find("'x' has the dtype") == 0);
}

TEST_CASE("encrypted weights") {
  CHECK(refusal([](auto& p) {
          p.weights_key_name = "product";
          p.weights_cipher = 1;
        }) == "the weights are encrypted with cipher 1, which this runtime does not know");
  CHECK(refusal([](auto& p) { p.weights_key_name = "a\nb"; }) == "the key of the weights is not plain UTF-8 text at byte 1");
}

TEST_CASE("variables and constants") {
  CHECK(refusal([](auto& p) { p.variables[0].shape = {3, 3}; }) ==
        "variable 'layer.weight' says 128 bytes and its shape and layout take 192");
  CHECK(refusal([](auto& p) { p.variables[0].shape = {INT64_MAX, INT64_MAX}; }) ==
        "variable 'layer.weight': a shape of rank 2 has a negative dim or overflows");
  CHECK(refusal([](auto& p) { p.variables[0].shape.assign(17, 1); }) ==
        "variable 'layer.weight': a shape of rank 17 has a negative dim or overflows");
  CHECK(refusal([](auto& p) { p.variables[0].layout = 2; }) == "the layout of a variable has index 2 and there are 2");
  CHECK(refusal([](auto& p) { p.layouts[1].kind = "spiral"; }) ==
        "variable 'layer.weight': layout 'spiral' is not known to this runtime");
}

TEST_CASE("kernels and targets") {
  CHECK(refusal([](auto& p) { p.kernels[0].offsets[1] = 46; }) ==
        "kernel 'double' starts at byte 46 of the code for x86-64, which has 46 bytes");
  CHECK(refusal([](auto& p) { p.kernels[0].offsets.pop_back(); }).find("2 entry points for 3 targets") !=
        std::string::npos);
  CHECK(refusal([](auto& p) { p.kernels[0].scratch_bytes = 257; }).find("257 scratch bytes of 256") !=
        std::string::npos);
  CHECK(refusal([](auto& p) { p.kernels[0].output_count = 3; }).find("kernel 'double' is inconsistent") == 0);
}

TEST_CASE("kernels of the product") {
  const auto external = [](auto& p) -> serialize::KernelDescription& {
    p.kernels[0].symbol = "product.double";
    return p.kernels[0];
  };
  // Sound, but nobody has registered it.
  CHECK(refusal([&](auto& p) { external(p); }) ==
        "the artifact in memory calls kernels that are not registered: product.double");
  CHECK(refusal([&](auto& p) { external(p).symbol = "a\nb"; }).find("the symbol of a kernel") == 0);
  CHECK(refusal([&](auto& p) { external(p).scratch_bytes = 257; }).find("257 scratch bytes of 256") !=
        std::string::npos);
  CHECK(refusal([&](auto& p) { external(p).output_count = 3; }) ==
        "kernel 'double' is inconsistent: 2 operands, 3 outputs, 256 scratch bytes of 256");
}

TEST_CASE("dims and expressions") {
  CHECK(entry_refusal([](auto& e) { e.dims[0].max = 0; }) ==
        "entry 'double_twice': dim 'batch' has the range 1 to 0 and multiple_of 1");
  CHECK(entry_refusal([](auto& e) { e.dims[0].multiple_of = 0; }).find("multiple_of 0") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.dims.push_back({"unbound"}); }) ==
        "entry 'double_twice': no input has the dim 'unbound'");
  CHECK(entry_refusal([](auto& e) { e.expressions[3].left = 3; }) ==
        "entry 'double_twice': the left operand of an expression at position 3 is 3; it must be below 3");
  CHECK(entry_refusal([](auto& e) { e.expressions[3].right = 4; }).find("the right operand of an expression") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.expressions[0].value = -1; }).find("the dim of an expression") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.expressions[3].kind = static_cast<ExpressionKind>(9); }) ==
        "entry 'double_twice': the kind of an expression at position 3 is 9; it must be below 9");
  CHECK(entry_refusal([](auto& e) { e.equalities[0].right = 99; }).find("the right side of an equality") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.equalities[0].location = 3; }) ==
        "entry 'double_twice': the location at position 0 is 2; it must be below 2");
  CHECK(entry_refusal([](auto& e) { e.inputs[0].shape.assign(17, 0); }).find("the rank of an input or output") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.outputs[0].shape = {4}; }).find("a dim of an input or output") !=
        std::string::npos);
}

TEST_CASE("buffers") {
  CHECK(entry_refusal([](auto& e) { e.buffers[1].index = 1; }) ==
        "entry 'double_twice': the arena of a buffer at position 1 is 1; it must be below 1");
  CHECK(entry_refusal([](auto& e) { e.buffers[0].index = 1; }).find("the input of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[2].index = 1; }).find("the output of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[3].index = 1; }).find("the constant of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) {
          e.buffers[3].storage = static_cast<Storage>(5);
        }).find("the storage of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[3].planned_size = 5; }) ==
        "entry 'double_twice': buffer 3 takes 5 bytes at offset 0; what holds it has 4 bytes and no offsets");
  CHECK(
      entry_refusal([](auto& e) { e.buffers[1].offset = 128; }) ==
      "entry 'double_twice': buffer 1 takes 32 bytes at offset 128; what holds it has 128 bytes and 64-byte alignment");
  CHECK(entry_refusal([](auto& e) { e.buffers[1].offset = UINT64_MAX - 63; }).find("buffer 1 takes 32 bytes") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[1].offset = 8; }).find("buffer 1 takes 32 bytes at offset 8") !=
        std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[1].kind = static_cast<serialize::BufferKind>(7); }) ==
        "entry 'double_twice': the kind of a buffer at position 1 is 7; it must be below 7");
  CHECK(entry_refusal([](auto& e) { e.buffers[1].size = 4; }).find("the size of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[1].begin = 2; }).find("the begin of a buffer") != std::string::npos);
  CHECK(entry_refusal([](auto& e) { e.buffers[1].end = 2; }).find("the end of a buffer") != std::string::npos);
}

TEST_CASE("what a buffer holds") {
  CHECK(entry_refusal([](auto& e) { e.buffers[1].dtype = {2, 12, 1}; }).find("'doubled' has the dtype (code 2, 12 bits") ==
        0);
}

TEST_CASE("instructions") {
  const auto spoil_call = [](const std::function<void(serialize::InstructionDescription&)>& spoil) {
    return entry_refusal([&](auto& e) { spoil(e.blocks[0].instructions[1]); });
  };
  CHECK(spoil_call([](auto& i) { i.kernel = 1; }).find("the kernel of a call at position 1 is 1") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.operands.pop_back(); }) ==
        "entry 'double_twice': instruction 1 gives kernel 'double' 1 operands, 1 outputs and 1 dims; it takes 2, 1 and "
        "1");
  CHECK(spoil_call([](auto& i) { i.dims.clear(); }).find("0 dims") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.output_count = 2; }).find("2 outputs") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.operands[0].buffer = 4; }).find("the buffer of an operand") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.operands[0].offset = 4; }).find("the offset of an operand") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.tiles = 4; }).find("the tile count of a call") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.flops = 5; }).find("a cost of a call at position 1 is 4") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.read_bytes = 5; }).find("a cost of a call") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.written_bytes = UINT32_MAX; }).find("a cost of a call") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.output_sizes = {3, 3}; }).find("the number of output sizes of a call") !=
        std::string::npos);
  CHECK(spoil_call([](auto& i) { i.output_sizes = {9}; }).find("the size of an output") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.device = 1; }).find("the device of a call") != std::string::npos);
  CHECK(spoil_call([](auto& i) { i.location = 3; }).find("the location at position 1 is 2") != std::string::npos);
  CHECK(refusal([](auto& p) { p.entries[1].blocks[0].instructions[0].byte_size = 9; }).find("the size of a copy") !=
        std::string::npos);
}

TEST_CASE("nothing is written but arenas, outputs and assigned variables") {
  CHECK(entry_refusal([](auto& e) { e.blocks[0].instructions[1].operands[0].buffer = 0; }) ==
        "entry 'double_twice': instruction 1 writes buffer 0, which is an input");
  CHECK(entry_refusal([](auto& e) { e.blocks[0].instructions[1].operands[0].buffer = 3; }) ==
        "entry 'double_twice': instruction 1 writes buffer 3, which is a constant");
  CHECK(refusal([](auto& p) { p.entries[1].assigned_variables = {0}; }) ==
        "entry 'store': instruction 0 writes buffer 1, which is a variable that the entry does not assign");
  CHECK(refusal([](auto& p) { p.entries[1].assigned_variables = {1, 1}; }) ==
        "entry 'store': its assigned variables are not in order");
  CHECK(refusal([](auto& p) { p.entries[1].assigned_variables = {2}; }).find("an assigned variable") !=
        std::string::npos);
}

TEST_CASE("uses lie in the live interval, after a write") {
  CHECK(entry_refusal([](auto& e) { e.buffers[1].end = 0; }) ==
        "entry 'double_twice': instruction 1 uses buffer 1 (live from 0 to 0) outside its live interval");
  CHECK(entry_refusal([](auto& e) { e.blocks[0].instructions[0].operands[0].buffer = 2; }) ==
        "entry 'double_twice': instruction 1 uses buffer 1 (live from 0 to 1) before anything was written to it");
}

TEST_CASE("two buffers that live at once share no byte, unless they name the same alias group") {
  const BufferDescription second = {Storage::kArena, 0, 64, 3, 32, 1, 1, 0, "second"};
  CHECK(
      entry_refusal([&](auto& e) { e.buffers.push_back(second); }) ==
      "entry 'double_twice': buffers 1 (bytes 64 to 96, live 0 to 1) and 4 (bytes 64 to 96, live 1 to 1) share memory "
      "while both are live");
  CHECK(entry_refusal([&](auto& e) {
          e.buffers.push_back(second);
          e.buffers[1].alias_group = 1;
          e.buffers[4].alias_group = 2;
        }).find("share memory") != std::string::npos);
  const auto opens = [&](const std::function<void(serialize::EntryDescription&)>& change) {
    ProgramDescription description = sample_program();
    description.entries[0].buffers.push_back(second);
    change(description.entries[0]);
    std::string error;
    return open_description(description, &error) != nullptr;
  };
  CHECK(opens([](auto& e) { e.buffers[1].alias_group = e.buffers[4].alias_group = 1; }));
  CHECK(opens([](auto& e) { e.buffers[4].offset = 0; }));
  CHECK(opens([](auto& e) { e.buffers[4].planned_size = 0; }));
  CHECK(opens([](auto& e) {  // apart in time
    e.buffers[1].end = 0;
    e.blocks[0].instructions[1].operands[1].buffer = 0;
  }));
}

TEST_CASE("the judge of plans agrees with comparing every pair") {
  std::mt19937 random(3);
  int sound = 0, unsound = 0;
  for (int round = 0; round < 3000; ++round) {
    ProgramDescription description = sample_program();
    auto& entry = description.entries[0];
    description.arenas[0].byte_size = 64 * 200;
    description.arenas.push_back(description.arenas[0]);
    entry.blocks[0].instructions.resize(1);
    entry.blocks[0].instructions[0].operands = {{2, 1}, {0, 1}};
    entry.blocks[0].instructions.resize(40, entry.blocks[0].instructions[0]);
    entry.buffers[1].planned_size = 0;
    // Few buffers in much room, or many in a wide arena: about half of the plans are sound.
    const uint32_t count = 2 + random() % (round % 10 == 0 ? 90 : 9);
    const uint32_t places = round % 10 == 0 ? 190 : 12;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t begin = random() % 40, end = std::min<uint32_t>(39, begin + random() % (round % 10 == 0 ? 2 : 8));
      entry.buffers.push_back({Storage::kArena, random() % 8 == 0 ? 1u : 0u, 64 * (random() % places), 3,
                               1 + random() % 300, begin, end, static_cast<uint32_t>(random() % 3), ""});
    }
    bool overlaps = false;
    for (size_t i = 4; i < entry.buffers.size(); ++i) {
      for (size_t j = 4; j < i; ++j) {
        const auto &a = entry.buffers[i], &b = entry.buffers[j];
        overlaps = overlaps || (a.index == b.index && a.begin <= b.end && b.begin <= a.end &&
                                a.offset < b.offset + b.planned_size && b.offset < a.offset + a.planned_size &&
                                (a.alias_group == 0 || a.alias_group != b.alias_group));
      }
    }
    std::string error;
    const bool opened = open_description(description, &error) != nullptr;
    INFO("round " << round << ": " << error);
    REQUIRE(opened == !overlaps);
    if (!opened) REQUIRE(error.find("share memory while both are live") != std::string::npos);
    ++(opened ? sound : unsound);
  }
  CHECK(sound > 500);
  CHECK(unsound > 500);
}

TEST_CASE("a plan that would take too long to check is refused") {
  const std::string error = entry_refusal([](auto& e) {
    // Those of the first half begin late and are each compared with all of the second.
    for (int i = 0; i < 20000; ++i)
      e.buffers.push_back({Storage::kArena, 0, 64, 3, 32, i < 10000 ? 1u : 0u, 1, 5, ""});
    e.buffers[1].alias_group = 5;
  });
  CHECK(error == "entry 'double_twice': its memory plan takes too long to verify");
}

}  // namespace ferrule::runtime
